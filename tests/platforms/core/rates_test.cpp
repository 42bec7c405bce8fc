#include "platforms/core/rates.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "platforms/formats/formats.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::rates_test {
namespace {

using namespace espalier::testing;

//   a ---> b ---> c     a -> b and a -> c at these rates, b -> c at 1
//   `------------^
Platform three(double fast_Bps, double slow_Bps, std::optional<BytesPerSecond> receive = {}) {
  PlatformBuilder builder("three");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId last = builder.node_named("c");
  builder.nodes()[2].receive = receive;
  builder.add_arc({a, b, {fast_Bps}, {}, {}});
  builder.add_arc({b, last, {1}, {}, {}});
  builder.add_arc({a, last, {slow_Bps}, {}, {}});
  return std::move(builder).build();
}

Platform of_one_rate(double rate_Bps) {
  PlatformBuilder builder("pair");
  const NodeId a = builder.node_named("a");
  builder.add_arc({a, builder.node_named("b"), {rate_Bps}, {}, {}});
  return std::move(builder).build();
}

TEST(Rates, AreRefusedWhereTheyAreTooFarApart) {
  EXPECT_EQ(three(1e15, 1).arcs().size(), 3U);
  EXPECT_EQ(three(1e7, 1e-8).arcs().size(), 3U);
  EXPECT_EQ(
      refusal([] { return three(1e8, 9e-8); }),
      "'a' -> 'b' (100000000 B/s) is over 1e+15 times faster than 'a' -> 'c' (9e-08 B/s), too "
      "far apart to compute with; check the units");
  EXPECT_EQ(refusal([] { return three(1e300, 1e-300); }),
            "'a' -> 'b' (1e+300 B/s) is over 1e+15 times faster than 'a' -> 'c' (1e-300 B/s), too "
            "far apart to compute with; check the units");
}

// Whose inverses, or products of a few of them, a double does not hold.
TEST(Rates, AreRefusedWhereTheyAreTooLargeOrTooSmall) {
  EXPECT_EQ(of_one_rate(1e100).arcs().size(), 1U);
  EXPECT_EQ(of_one_rate(1e-100).arcs().size(), 1U);
  EXPECT_EQ(refusal([] { return of_one_rate(1.5e308); }),
            "'a' -> 'b' has 1.5e+308 B/s, not within 1e-100 to 1e+100; check the units");
  EXPECT_EQ(refusal([] { return of_one_rate(1e-101); }),
            "'a' -> 'b' has 1e-101 B/s, not within 1e-100 to 1e+100; check the units");
}

TEST(Rates, IncludeCapsAndSharedLinks) {
  EXPECT_EQ(refusal([] { return three(1, 1, BytesPerSecond{1e16}); }),
            "a cap of 'c' (1e+16 B/s) is over 1e+15 times faster than 'a' -> 'b' (1 B/s), too far "
            "apart to compute with; check the units");
  PlatformBuilder builder("shared");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  builder.add_arc({a, b, {1e9}, {}, {}});
  builder.add_shared_link("trunk", {1e-9}, {{a, b}});
  EXPECT_EQ(
      refusal([&] { return std::move(builder).build(); }),
      "'a' -> 'b' (1000000000 B/s) is over 1e+15 times faster than shared link 'trunk' (1e-09 "
      "B/s), too far apart to compute with; check the units");
}

TEST(Rates, AreRefusedWithTheNameOfTheFile) {
  const std::string why =
      "'a' -> 'b' (1e+300 B/s) is over 1e+15 times faster than 'b' -> 'a' (1e-300 B/s), too far "
      "apart to compute with; check the units";
  const auto read = [](std::string_view text) {
    return refusal([&] { return parse_platform(text, "f"); });
  };
  EXPECT_EQ(read("from,to,bandwidth_Bps\na,b,1e300\nb,a,1e-300\n"), "f: line 3: " + why);
  EXPECT_EQ(read("bandwidth_Bps,a,b\na,,1e300\nb,1e-300,\n"), "f: " + why);
  EXPECT_EQ(read(R"({"format": "espalier-platform", "version": 1,
                     "nodes": [{"name": "a"}, {"name": "b"}],
                     "links": [{"from": "a", "to": "b", "bandwidth_Bps": 1e300},
                               {"from": "b", "to": "a", "bandwidth_Bps": 1e-300}]})"),
            "f: /links: " + why);
}

}  // namespace
}  // namespace espalier::platforms::rates_test
