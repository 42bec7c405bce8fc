#include "planner/solve/walk_tree.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "planner/problem/instance.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::walk_tree_test {
namespace {

using namespace espalier::testing;
using platforms::Platform;

std::string walk_text(const Platform& platform, std::string_view source) {
  const auto tree = walk_tree(instance_of(platform, source));
  return tree ? text_of(*tree, platform) : "(no walk)";
}

//   s --- sw1 --- a       sw1 also links to b, by a thinner link, and to sw3, which has no host
//          |
//   c --- sw2 --- d
TEST(WalkTree, IsAChainWhereSwitchesConnectTheHosts) {
  std::vector<Link> links;
  const auto both_ways = [&](const std::string& a, const std::string& b, double seconds) {
    links.push_back({a, b, seconds});
    links.push_back({b, a, seconds});
  };
  both_ways("s", "sw1", 1);
  both_ways("sw1", "a", 1);
  both_ways("sw1", "b", 2);
  both_ways("sw1", "sw2", 1);
  both_ways("sw1", "sw3", 1);
  both_ways("sw2", "c", 1);
  both_ways("sw2", "d", 1);
  const Platform platform = small_platform({"s", "a", "b", "sw3", "c", "d", "sw1", "sw2"}, links);
  EXPECT_EQ(walk_text(platform, "s"), "s>sw1>a a>sw1>sw2>c c>sw2>d d>sw2>sw1>b");
}

//   s ---> a ---> b      c hangs below a, where the walk returns to
//          `----> c
TEST(WalkTree, BranchesAtHosts) {
  const Platform platform =
      small_platform({"s", "a", "b", "c"}, {{"s", "a", 1}, {"a", "b", 1}, {"a", "c", 1}});
  EXPECT_EQ(walk_text(platform, "s"), "s>a a>b a>c");
}

//   s ---> a thick, a ---> b thin; s ---> b thinner yet
TEST(WalkTree, LeavesOutLinksThinnerThanNeeded) {
  const Platform platform =
      small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"a", "b", 3}, {"s", "b", 5}});
  EXPECT_EQ(walk_text(platform, "s"), "s>a a>b");
}

TEST(WalkTree, IsMissingWhereARelayHasOneDirectionOnly) {
  const Platform platform = small_platform({"s", "sw", "a"}, {{"s", "sw", 1}, {"sw", "a", 1}});
  EXPECT_EQ(walk_text(platform, "s"), "(no walk)");
}

}  // namespace
}  // namespace espalier::planner::walk_tree_test
