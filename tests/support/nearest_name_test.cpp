#include "support/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace espalier::nearest_name_test {
namespace {

constexpr std::array<std::string_view, 4> kChoices{"grow", "prune-simple", "optimal", "flat"};

TEST(NearestName, FindsTypingErrors) {
  EXPECT_EQ(nearest_name("gorw", kChoices), "grow") << "two letters swapped";
  EXPECT_EQ(nearest_name("optiml", kChoices), "optimal") << "one left out";
  EXPECT_EQ(nearest_name("flaat", kChoices), "flat") << "one too many";
  EXPECT_EQ(nearest_name("prune_simpel", kChoices), "prune-simple");
}

TEST(NearestName, SuggestsNothingForDistantNames) {
  EXPECT_EQ(nearest_name("dijkstra", kChoices), "");
  EXPECT_EQ(nearest_name("", kChoices), "");
  EXPECT_EQ(nearest_name("grow", {}), "");
}

TEST(NearestName, IsQuickOnALongName) {
  EXPECT_EQ(nearest_name(std::string(std::size_t{100} << 20U, 'x'), kChoices), "");
}

TEST(UnknownName, SuggestsTheNearestAndListsFewChoices) {
  EXPECT_EQ(unknown_name("algorithm", "gorw", kChoices),
            "unknown algorithm 'gorw'; did you mean 'grow'? one of: grow, prune-simple, optimal, "
            "flat");
  EXPECT_EQ(unknown_name("algorithm", "dijkstra", kChoices),
            "unknown algorithm 'dijkstra'; one of: grow, prune-simple, optimal, flat");
}

TEST(UnknownName, DoesNotListManyChoices) {
  const std::vector<std::string_view> many(13, "node");
  EXPECT_EQ(unknown_name("node", "ndoe", many), "unknown node 'ndoe'; did you mean 'node'?");
}

}  // namespace
}  // namespace espalier::nearest_name_test
