#include "planner/problem/instance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "support/errors.hpp"
#include "tests/planner/references/small_platform.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::planner::instance_test {
namespace {

using espalier::testing::instance_of;
using espalier::testing::refusal;
using espalier::testing::small_platform;
using ::testing::DoubleEq;
using ::testing::ElementsAre;

std::string infeasibility(const platforms::Platform& platform, std::string_view source) {
  return espalier::testing::refusal<InfeasibleError>([&] { instance_of(platform, source); });
}

//    a ---> sw ---> b
TEST(Instance, RefusesARelayAsSource) {
  const auto platform = small_platform({"a", "b", "sw"}, {{"a", "sw", 1}, {"sw", "b", 1}});
  EXPECT_EQ(refusal([&] { return instance_of(platform, "sw"); }),
            "small: 'sw' is a relay and cannot be the source");
}

TEST(Instance, RefusesASingleHost) {
  const std::string line = "small: has a single host; a broadcast needs at least two";
  const auto lone = small_platform({"a"}, {});
  EXPECT_EQ(refusal([&] { return instance_of(lone, "a"); }), line);
  const auto with_relay = small_platform({"a", "sw"}, {{"a", "sw", 1}, {"sw", "a", 1}});
  EXPECT_EQ(refusal([&] { return instance_of(with_relay, "a"); }), line);
}

//    a ---> b <--- c     d
TEST(Instance, NamesAHostThatCannotBeReached) {
  const auto platform = small_platform({"a", "b", "c", "d"}, {{"a", "b", 1}, {"c", "b", 1}});
  EXPECT_EQ(infeasibility(platform, "a"), "small: 'c' cannot be reached from 'a' (and 1 more)");
  EXPECT_EQ(infeasibility(platform, "d"), "small: 'a' cannot be reached from 'd' (and 2 more)");
}

//    a ---> b ---> sw     c ---> a
TEST(Instance, CountsHostsOnlyAmongTheUnreached) {
  const auto platform =
      small_platform({"a", "b", "c", "sw", "sw2"}, {{"a", "b", 1}, {"b", "sw", 1}, {"c", "a", 1}});
  EXPECT_EQ(infeasibility(platform, "a"), "small: 'c' cannot be reached from 'a'");
  EXPECT_EQ(infeasibility(platform, "c"), "(not refused)");
}

TEST(SourceNamed, OffersTheNearestName) {
  const auto platform = small_platform({"lyon", "paris"}, {{"lyon", "paris", 1}});
  EXPECT_EQ(source_named(platform, "paris"), platforms::NodeId{1});
  EXPECT_EQ(refusal([&] { return source_named(platform, "pariss"); }),
            "small: unknown source 'pariss'; did you mean 'paris'? one of: lyon, paris");
  EXPECT_EQ(refusal([&] { return source_named(platform, "grenoble"); }),
            "small: unknown source 'grenoble'; one of: lyon, paris");
}

//    s1 ---> sw ---> s2
TEST(SourceNamed, OffersNoRelay) {
  const auto platform = small_platform({"s1", "sw", "s2"}, {{"s1", "sw", 1}, {"sw", "s2", 1}});
  EXPECT_EQ(refusal([&] { return source_named(platform, "s"); }),
            "small: unknown source 's'; did you mean 's1'? one of: s1, s2");
}

//        2        4
//    a ----> b ----> c       the chain occupies the out-port of b for 4, and the in-port of c
TEST(Instance, ComputesTheLoadOfATree) {
  const auto platform = small_platform({"a", "b", "c"}, {{"a", "b", 2}, {"b", "c", 4}});
  const Instance instance = instance_of(platform, "a");
  const lp::RoutedTree chain{{0, 1}, {}};
  EXPECT_THAT(instance.arc_seconds_per_byte(), ElementsAre(DoubleEq(2), DoubleEq(4)));
  EXPECT_THAT(instance.load_seconds_per_byte(chain),
              ::testing::UnorderedElementsAre(2.0, 2.0, 4.0, 4.0));
  EXPECT_DOUBLE_EQ(instance.throughput(chain).value, 0.25);
  EXPECT_EQ(instance.throughput({}).value, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace espalier::planner::instance_test
