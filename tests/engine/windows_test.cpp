#include "engine/windows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::engine::windows_test {
namespace {

using Counts = std::vector<std::uint64_t>;

// A rank with a high-latency edge in, a low-latency edge out and a high-latency edge out: 10 and 25
// segments of 1 kB are in flight.
std::vector<TreeRole> far_and_near() {
  TreeRole role;
  role.in = {{3, 10e3}};
  role.out = {{4, 0}, {5, 25e3}};
  return {role};
}

// The same tree in the opposite direction.
std::vector<TreeRole> reversed(std::vector<TreeRole> roles) {
  for (TreeRole& role : roles) {
    std::swap(role.in, role.out);
    role.combines = true;
  }
  return roles;
}

constexpr Bytes kSegment{1000};
constexpr std::uint64_t kFar = planner::kHighLatencySends;

TEST(Windows, GrowByTheBytesInFlight) {
  const std::vector<TreeWindows> windows = windows_of(far_and_near(), 4, 2, kSegment, false);
  EXPECT_EQ(windows[0].in, Counts({4 + 10 + kFar}));
  EXPECT_EQ(windows[0].out, Counts({2, 2 + 25 + kFar}));
}

TEST(Windows, GrowByTheRoundTripWithARendezvous) {
  const std::vector<TreeWindows> windows = windows_of(far_and_near(), 4, 2, kSegment, true);
  EXPECT_EQ(windows[0].in, Counts({4 + 20 + kFar}));
  EXPECT_EQ(windows[0].out, Counts({2, 2 + 50 + kFar}));
}

TEST(Windows, OfReductionsAreOfTheReversedEdges) {
  const auto windows = windows_of(reversed(far_and_near()), 4, 2, kSegment, true);
  EXPECT_EQ(windows[0].out, Counts({2 + 20 + kFar}));
  EXPECT_EQ(windows[0].in, Counts({4, 4 + 50 + kFar}));
}

// For each send of one end the other end must have posted a receive.
TEST(Windows, BothEndsOfAnEdgeAgree) {
  std::vector<TreeRole> below(1);
  below[0].in = {{7, far_and_near()[0].out[1].bytes_in_flight}};
  EXPECT_EQ(windows_of(far_and_near(), 4, 2, kSegment, true)[0].out[1] - 2,
            windows_of(below, 4, 2, kSegment, true)[0].in[0] - 4);
}

TEST(Windows, OfRingsAreEqualHoweverFarTheRank) {
  std::vector<TreeRole> roles = far_and_near();
  roles[0].in[0].ring = roles[0].out[1].ring = 0;
  const std::vector<TreeWindows> windows = windows_of(roles, 4, 2, kSegment, true);
  EXPECT_EQ(windows[0].in[0], windows[0].out[1]);
}

TEST(Buffers, HoldWhatIsCombinedUntilItIsSent) {
  EXPECT_EQ(combining_buffers({{4, 5}, {3}}, false), Counts({7, 5}));
  EXPECT_EQ(combining_buffers({{4, 5}, {3}}, true), Counts({4, 5}));
  EXPECT_EQ(combining_buffers({{}, {3}}, false), Counts({}));
}

// The lookahead of a root with trees that have these windows.
std::uint64_t lookahead(const std::vector<Counts>& sends) {
  std::vector<TreeRole> roles;
  std::vector<TreeWindows> windows;
  for (const Counts& of_tree : sends) {
    roles.emplace_back().out.resize(of_tree.size());
    windows.push_back({{}, of_tree});
  }
  const std::uint64_t down = lookahead_over(roles, windows, 2);
  for (TreeWindows& tree : windows) std::swap(tree.in, tree.out);
  EXPECT_EQ(lookahead_over(reversed(roles), windows, 2), down);
  return down;
}

TEST(Lookahead, OfASingleLowLatencyTreeIsUnlimited) {
  EXPECT_EQ(lookahead({{2, 2}}), UINT64_MAX);
  EXPECT_EQ(lookahead({}), planner::source_lookahead(0, 0, false));
}

// Otherwise it would wait indefinitely.
TEST(Lookahead, OfARankWithoutNeighboursIsUnlimited) {
  EXPECT_EQ(lookahead({{}, {}}), UINT64_MAX);
}

TEST(Lookahead, OfASingleTreeIsLimitedWithAHighLatencyChild) {
  EXPECT_EQ(lookahead({{2, 30}}), 4 * 30U);
}

TEST(Lookahead, OfSeveralTreesCoversTheLargestWindowOfEach) {
  EXPECT_EQ(lookahead({{2, 2}, {2}, {}}), 4 * 4U);
  EXPECT_EQ(lookahead({{2, 30}, {2}}), 4 * 32U);
}

// A ring is emptied whatever else its readers wait for.
TEST(Lookahead, IgnoresRings) {
  std::vector<TreeRole> roles(2);
  for (TreeRole& role : roles) role.out = {{.ring = 0}, {.peer = 1}};
  const std::vector<TreeWindows> windows{{{}, {8, 2}}, {{}, {8, 2}}};
  EXPECT_EQ(lookahead_over(roles, windows, 2), 4 * 4U);
}

}  // namespace
}  // namespace espalier::engine::windows_test
