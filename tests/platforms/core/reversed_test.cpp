#include "platforms/core/reversed.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "platforms/core/contention.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/platforms/random_platform.hpp"

namespace espalier::platforms {
namespace {

using espalier::testing::random_platform;

constexpr std::uint64_t kSeeds = 40;

TEST(Reversed, TwiceIsTheOriginal) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Platform platform = random_platform(seed);
    const ReversedPlatform once = reversed(platform);
    const ReversedPlatform twice = reversed(once.platform);
    espalier::testing::expect_same(twice.platform, platform);
    for (std::size_t arc = 0; arc < platform.arcs().size(); ++arc) {
      EXPECT_EQ(index_of(once.original[index_of(twice.original[arc])]), arc);
    }
  }
}

TEST(Reversed, TurnsArcsCapsAndSharedWires) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Platform platform = random_platform(seed);
    const auto [turned, original] = reversed(platform);
    EXPECT_EQ(turned.name(), platform.name());
    ASSERT_EQ(turned.nodes().size(), platform.nodes().size());
    for (std::size_t i = 0; i < platform.nodes().size(); ++i) {
      EXPECT_EQ(turned.nodes()[i].name, platform.nodes()[i].name);
      EXPECT_EQ(turned.nodes()[i].relay, platform.nodes()[i].relay);
      EXPECT_EQ(turned.nodes()[i].send, platform.nodes()[i].receive);
      EXPECT_EQ(turned.nodes()[i].receive, platform.nodes()[i].send);
    }
    ASSERT_EQ(turned.arcs().size(), platform.arcs().size());
    for (std::size_t i = 0; i < original.size(); ++i) {
      const Arc& before = platform.arc(original[i]);
      EXPECT_EQ(turned.arcs()[i].from, before.to);
      EXPECT_EQ(turned.arcs()[i].to, before.from);
      EXPECT_EQ(turned.arcs()[i].bandwidth, before.bandwidth);
      EXPECT_EQ(turned.arcs()[i].latency, before.latency);
      EXPECT_EQ(turned.arcs()[i].overhead, before.overhead);
    }
    ASSERT_EQ(turned.shared_wires().size(), platform.shared_wires().size());
    for (std::size_t i = 0; i < platform.shared_wires().size(); ++i) {
      EXPECT_EQ(turned.shared_wires()[i].arcs.size(), platform.shared_wires()[i].arcs.size());
      EXPECT_EQ(turned.shared_wires()[i].bandwidth, platform.shared_wires()[i].bandwidth);
    }
  }
}

std::string name_of_row(const Resource& resource, const Platform& platform,
                        const std::vector<ArcId>& original) {
  if (resource.kind != Resource::Kind::kWire) return describe(resource, platform);
  Resource wire = resource;
  if (!original.empty()) wire.index = static_cast<std::uint32_t>(original[wire.index]);
  return describe(wire, platform);
}

// Row names of an arc's column, with what it occupies of them.
std::map<std::string, double> uses(const Occupation& occupation, std::size_t arc,
                                   const Platform& named_by, const std::vector<ArcId>& original) {
  std::map<std::string, double> column;
  for (Eigen::SparseMatrix<double>::InnerIterator it(occupation.seconds_per_byte,
                                                     static_cast<Eigen::Index>(arc));
       it; ++it) {
    const Resource& resource = occupation.resources[static_cast<std::size_t>(it.row())];
    column[name_of_row(resource, named_by, original)] = it.value();
  }
  return column;
}

// Who gathers along an arc occupies just what a byte on that arc occupies anyhow.
TEST(TurnedOccupation, IsTheOriginalsUnderEveryModel) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Platform platform = random_platform(seed);
    const ReversedPlatform turned = reversed(platform);
    for (const ModelEntry& entry : models()) {
      SCOPED_TRACE(std::string(entry.name) + ", seed " + std::to_string(seed));
      const Occupation before = occupation(platform, entry.model, {.slice = Bytes{4096}});
      const Occupation after =
          occupation(turned.platform, entry.model, {.slice = Bytes{4096}, .turned = true});
      EXPECT_EQ(after.resources.size(), before.resources.size());
      for (std::size_t arc = 0; arc < turned.original.size(); ++arc) {
        EXPECT_EQ(uses(after, arc, platform, turned.original),
                  uses(before, index_of(turned.original[arc]), platform, {}));
      }
    }
  }
}

}  // namespace
}  // namespace espalier::platforms
