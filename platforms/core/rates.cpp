#include "platforms/core/rates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace espalier::platforms {

namespace {

// What has this rate.
std::string owner_of(const Platform& platform, BytesPerSecond wanted) {
  std::string owner;
  for_each_rate(platform, [&](BytesPerSecond rate, const auto& what) {
    if (owner.empty() && rate == wanted) owner = what();
  });
  return owner;
}

}  // namespace

std::string name_of(const Platform& platform, const Arc& arc) {
  return fmt::format("{} -> {}", in_quotes(platform.node(arc.from).name),
                     in_quotes(platform.node(arc.to).name));
}

void require_spread(const Platform& platform) {
  if (platform.arcs().empty()) return;
  BytesPerSecond least = platform.arcs().front().bandwidth;
  BytesPerSecond most = least;
  for_each_rate(platform, [&](BytesPerSecond rate, const auto&) {
    least = std::min(least, rate);
    most = std::max(most, rate);
  });
  if (most.value / kMostSpread > least.value) {
    throw SpreadError(fmt::format(
        "{} ({} B/s) is over {:g} times faster than {} ({} B/s), too far apart to compute "
        "with; check the units",
        owner_of(platform, most), most.value, kMostSpread, owner_of(platform, least), least.value));
  }
  if (most > kMostRate || least < kLeastRate) {
    const BytesPerSecond rate = most > kMostRate ? most : least;
    throw SpreadError(fmt::format("{} has {} B/s, not within {:g} to {:g}; check the units",
                                  owner_of(platform, rate), rate.value, kLeastRate.value,
                                  kMostRate.value));
  }
}

}  // namespace espalier::platforms
