#include "runtime/engine/windows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "planner/plan/segment_assignment.hpp"
#include "planner/plan/send_windows.hpp"

namespace espalier::runtime::windows_test {
namespace {

using Counts = std::vector<std::uint64_t>;

// A rank with a high-latency parent, a low-latency child and a high-latency child: 10 and 25
// segments of 1 kB are in flight.
std::vector<TreeRole> far_and_near() {
  TreeRole role;
  role.parent = 3;
  role.children = {4, 5};
  role.bytes_from_parent = 10e3;
  role.bytes_to_child = {0, 25e3};
  return {role};
}

constexpr Bytes kSegment{1000};
constexpr std::uint64_t kFar = planner::kHighLatencySends;

TEST(Windows, EvenWindowsAreEqualForAllNeighbours) {
  const std::vector<TreeWindows> windows = even_windows(far_and_near(), 4, 2);
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].parent, 4U);
  EXPECT_EQ(windows[0].children, Counts({2, 2}));
}

TEST(Windows, OfBroadcastsGrowByTheBytesInFlight) {
  const std::vector<TreeWindows> windows = windows_down(far_and_near(), 4, 2, kSegment, false);
  EXPECT_EQ(windows[0].parent, 4 + 10 + kFar);
  EXPECT_EQ(windows[0].children, Counts({2, 2 + 25 + kFar}));
}

TEST(Windows, GrowByTheRoundTripWithARendezvous) {
  const std::vector<TreeWindows> windows = windows_down(far_and_near(), 4, 2, kSegment, true);
  EXPECT_EQ(windows[0].parent, 4 + 20 + kFar);
  EXPECT_EQ(windows[0].children, Counts({2, 2 + 50 + kFar}));
}

TEST(Windows, OfReductionsAlwaysIncludeTheAnswer) {
  const std::vector<TreeWindows> windows = windows_up(far_and_near(), 4, 2, kSegment);
  EXPECT_EQ(windows[0].parent, 2 + 20 + kFar);
  EXPECT_EQ(windows[0].children, Counts({4, 4 + 50 + kFar}));
}

// For each send of one end the other end must have posted a receive.
TEST(Windows, BothEndsOfAnEdgeAgree) {
  std::vector<TreeRole> below(1);
  below[0].parent = 7;
  below[0].bytes_from_parent = far_and_near()[0].bytes_to_child[1];
  EXPECT_EQ(windows_down(far_and_near(), 4, 2, kSegment, true)[0].children[1] - 2,
            windows_down(below, 4, 2, kSegment, true)[0].parent - 4);
  EXPECT_EQ(windows_up(far_and_near(), 4, 2, kSegment)[0].children[1] - 4,
            windows_up(below, 4, 2, kSegment)[0].parent - 2);
}

TEST(Lookahead, OfASingleLowLatencyTreeIsUnlimited) {
  EXPECT_EQ(lookahead_over(std::vector<TreeWindows>{{4, {2, 2}}}, 2), UINT64_MAX);
  EXPECT_EQ(lookahead_over({}, 2), planner::source_lookahead(0, 0, false));
}

// Otherwise it would wait indefinitely.
TEST(Lookahead, OfTheOnlyRankIsUnlimited) {
  EXPECT_EQ(lookahead_over(std::vector<TreeWindows>{{4, {}}, {4, {}}}, 2), UINT64_MAX);
}

TEST(Lookahead, OfASingleTreeIsLimitedWithAHighLatencyChild) {
  EXPECT_EQ(lookahead_over(std::vector<TreeWindows>{{4, {2, 30}}}, 2), 4 * 30U);
}

TEST(Lookahead, OfSeveralTreesCoversTheLargestWindowOfEach) {
  EXPECT_EQ(lookahead_over(std::vector<TreeWindows>{{4, {2, 2}}, {4, {2}}, {4, {}}}, 2), 4 * 4U);
  EXPECT_EQ(lookahead_over(std::vector<TreeWindows>{{4, {2, 30}}, {4, {2}}}, 2), 4 * 32U);
}

TEST(Lookahead, OfARankWithoutChildrenIsUnlimited) {
  EXPECT_EQ(lookahead_over(std::vector<TreeWindows>{{4, {}}, {4, {}}}, 2), UINT64_MAX);
}

}  // namespace
}  // namespace espalier::runtime::windows_test
