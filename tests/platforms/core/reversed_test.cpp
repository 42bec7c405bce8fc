#include "platforms/core/reversed.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "platforms/core/contention.hpp"
#include "tests/platforms/expect_same.hpp"
#include "tests/platforms/random_platform.hpp"

namespace espalier::platforms::reversed_test {
namespace {

using namespace espalier::testing;

constexpr std::uint64_t kSeeds = 40;

TEST(Reversed, TwiceIsTheOriginal) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Platform platform = random_platform(seed, true);
    const ReversedPlatform once = platforms::reversed(platform);
    const ReversedPlatform twice = reversed(once.platform);
    espalier::testing::expect_same(twice.platform, platform);
    for (std::size_t arc = 0; arc < platform.arcs().size(); ++arc) {
      EXPECT_EQ(index_of(once.original[index_of(twice.original[arc])]), arc);
    }
  }
}

TEST(Reversed, ReversesArcsCapsAndSharedLinks) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Platform platform = random_platform(seed, true);
    const auto [result, original] = platforms::reversed(platform);
    EXPECT_EQ(result.name(), platform.name());
    ASSERT_EQ(result.nodes().size(), platform.nodes().size());
    for (std::size_t i = 0; i < platform.nodes().size(); ++i) {
      EXPECT_EQ(result.nodes()[i].name, platform.nodes()[i].name);
      EXPECT_EQ(result.nodes()[i].relay, platform.nodes()[i].relay);
      EXPECT_EQ(result.nodes()[i].send, platform.nodes()[i].receive);
      EXPECT_EQ(result.nodes()[i].receive, platform.nodes()[i].send);
    }
    ASSERT_EQ(result.arcs().size(), platform.arcs().size());
    for (std::size_t i = 0; i < original.size(); ++i) {
      const Arc& before = platform.arc(original[i]);
      EXPECT_EQ(result.arcs()[i].from, before.to);
      EXPECT_EQ(result.arcs()[i].to, before.from);
      EXPECT_EQ(result.arcs()[i].bandwidth, before.bandwidth);
      EXPECT_EQ(result.arcs()[i].latency, before.latency);
      EXPECT_EQ(result.arcs()[i].overhead, before.overhead);
      EXPECT_EQ(result.arcs()[i].send, before.receive);
      EXPECT_EQ(result.arcs()[i].receive, before.send);
    }
    ASSERT_EQ(result.shared_links().size(), platform.shared_links().size());
    for (std::size_t i = 0; i < platform.shared_links().size(); ++i) {
      EXPECT_EQ(result.shared_links()[i].arcs.size(), platform.shared_links()[i].arcs.size());
      EXPECT_EQ(result.shared_links()[i].bandwidth, platform.shared_links()[i].bandwidth);
    }
  }
}

std::string name_of_row(const Resource& resource, const Platform& platform,
                        const std::vector<ArcId>& original) {
  if (resource.kind != Resource::Kind::kLink) return describe(resource, platform);
  Resource link = resource;
  if (!original.empty()) link.index = static_cast<std::uint32_t>(original[link.index]);
  return describe(link, platform);
}

// The column of an arc: occupied time by the name of the row.
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

// With `reversed`, a byte on a reversed arc occupies the same resources as on the original arc.
TEST(ReversedOccupation, EqualsTheOriginalUnderEveryModel) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Platform platform = random_platform(seed, true);
    const ReversedPlatform result = platforms::reversed(platform);
    for (const ModelEntry& entry : models()) {
      SCOPED_TRACE(std::string(entry.name) + ", seed " + std::to_string(seed));
      const Occupation before = occupation(platform, entry.model, {.segment = Bytes{4096}});
      const Occupation after =
          occupation(result.platform, entry.model, {.segment = Bytes{4096}, .reversed = true});
      EXPECT_EQ(after.resources.size(), before.resources.size());
      for (std::size_t arc = 0; arc < result.original.size(); ++arc) {
        EXPECT_EQ(uses(after, arc, platform, result.original),
                  uses(before, index_of(result.original[arc]), platform, {}));
      }
    }
  }
}

}  // namespace
}  // namespace espalier::platforms::reversed_test
