#include "platforms/generators/link_drawer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/text.hpp"

namespace espalier::platforms {

namespace {

constexpr double kMostDeviation = 1000;
constexpr double kMostSlowness = 1e6;

void require_slow(const Spread::SlowHosts& slow) {
  if (!(slow.share > 0 && slow.share <= 1)) {
    throw InputError(
        fmt::format("a share of slow hosts must be over 0 and at most 1, not {}", slow.share));
  }
  if (!(slow.factor >= 1 && slow.factor <= kMostSlowness)) {
    throw InputError(
        fmt::format("slow hosts must be 1 to {} times slower, not {}", kMostSlowness, slow.factor));
  }
}

// How many times slower each host is: shares are rounded to whole hosts, and the hosts are drawn.
std::vector<double> draw_slowness(const Spread& spread, std::size_t hosts) {
  double shares = 0;
  for (const Spread::SlowHosts& slow : spread.slow) {
    require_slow(slow);
    shares += slow.share;
  }
  constexpr double kSlack = 1e-9;  // allows ten times 0.1
  if (shares > 1 + kSlack) {
    throw InputError(fmt::format("the shares of slow hosts must sum to at most 1, not {}", shares));
  }
  std::vector<double> slowness;
  if (spread.slow.empty()) return slowness;
  for (const Spread::SlowHosts& slow : spread.slow) {
    const auto count =
        static_cast<std::size_t>(std::llround(slow.share * static_cast<double>(hosts)));
    slowness.resize(std::min(hosts, slowness.size() + count), slow.factor);
  }
  slowness.resize(hosts, 1);
  Sampler(spread.seed ^ kOtherDraws).shuffle(slowness);
  return slowness;
}

}  // namespace

void require_mean(BytesPerSecond rate, std::string_view what) {
  require_rate(rate, what);
  constexpr double kMostDrawn = 1e15;  // far above any draw, relative to the mean
  if (std::isfinite(rate.value * kMostDrawn)) return;
  throw InputError(fmt::format("{} is out of range: {} B/s", what, rate.value));
}

void require_deviation(double relative, std::string_view what) {
  if (relative >= 0 && relative <= kMostDeviation) return;
  throw InputError(fmt::format("{} must be 0 to {}, not {}", what, kMostDeviation, relative));
}

void require_hosts(std::size_t count, std::size_t least) {
  if (count >= least && count <= kMostFabricNodes) return;
  throw InputError(fmt::format("hosts must be {} to {}, not {}", least, kMostFabricNodes, count));
}

Spread::SlowHosts parse_slow_hosts(std::string_view text) {
  const auto parts = split(text, '/');  // infinite values are refused below
  const auto share = parse_whole<double>(parts.front());
  const auto factor = parse_whole<double>(parts.back());
  if (parts.size() != 2 || !share || !factor) {
    throw InputError(
        fmt::format("{}: expected SHARE/FACTOR, such as 0.25/4 for a quarter of the "
                    "hosts, 4 times slower",
                    in_quotes(text)));
  }
  const Spread::SlowHosts slow{*share, *factor};
  require_slow(slow);
  return slow;
}

LinkDrawer::LinkDrawer(PlatformBuilder& builder, const Spread& spread, std::size_t hosts)
    : builder_(builder),
      heterogeneity_(spread.heterogeneity),
      sampler_(spread.seed),
      slowness_(draw_slowness(spread, hosts)) {
  require_deviation(heterogeneity_, "the heterogeneity");
}

NodeId LinkDrawer::add_host(std::string group) {
  return builder_.add_node(
      {.name = fmt::format("h{}", builder_.nodes().size()), .group = std::move(group)});
}

NodeId LinkDrawer::add_relay(std::string name) {
  return builder_.add_node({.name = std::move(name), .relay = true});
}

void LinkDrawer::link(NodeId one, NodeId other, BytesPerSecond mean, Seconds latency) {
  link(one, other, mean, mean, latency);
}

void LinkDrawer::link(NodeId one, NodeId other, BytesPerSecond there, BytesPerSecond back,
                      Seconds latency) {
  const double factor = draw({1}).value / std::max(slowness(one), slowness(other));
  add_both_ways(one, other, {there.value * factor}, {back.value * factor}, latency);
}

BytesPerSecond LinkDrawer::trunk(NodeId one, NodeId other, BytesPerSecond mean, Seconds latency) {
  const BytesPerSecond drawn = draw(mean);
  add_both_ways(one, other, drawn, drawn, latency);
  return drawn;
}

BytesPerSecond LinkDrawer::draw(BytesPerSecond mean) {
  return heterogeneity_ > 0 ? sampler_.bandwidth(mean, heterogeneity_) : mean;
}

void LinkDrawer::add_both_ways(NodeId one, NodeId other, BytesPerSecond there, BytesPerSecond back,
                               Seconds latency) {
  builder_.add_arc({one, other, there, latency, {}});
  builder_.add_arc({other, one, back, latency, {}});
}

double LinkDrawer::slowness(NodeId node) const {
  return index_of(node) < slowness_.size() ? slowness_[index_of(node)] : 1;
}

}  // namespace espalier::platforms
