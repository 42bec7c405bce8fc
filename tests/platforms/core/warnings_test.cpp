// Warnings about suspicious values, and platforms without warnings.
#include "platforms/core/warnings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"

namespace espalier::platforms::warnings_test {
namespace {

using namespace ::testing;

constexpr double kGigabit = 125e6;

struct Link {
  std::string from;
  std::string to;
  double bandwidth = kGigabit;
  double latency_s = 0;
  bool both_ways = true;
};

Platform platform_of(const std::vector<Link>& links) {
  PlatformBuilder builder("p");
  for (const Link& link : links) {
    const NodeId from = builder.node_named(link.from);
    const NodeId to = builder.node_named(link.to);
    builder.add_arc({from, to, {link.bandwidth}, {link.latency_s}, {}});
    if (link.both_ways) builder.add_arc({to, from, {link.bandwidth}, {link.latency_s}, {}});
  }
  return std::move(builder).build();
}

//    a---b       d has a single link, 1000 times slower than the others
//     \ /
//      c...d
TEST(Warnings, AHostBehindOneThinLink) {
  const std::vector<Link> triangle{{"a", "b"}, {"b", "c"}, {"a", "c"}};
  std::vector<Link> links = triangle;
  links.push_back({"c", "d", kGigabit / 1000});
  EXPECT_THAT(warnings(platform_of(links)),
              ElementsAre("a link over 500 times slower than the median link is the only link to "
                          "its hosts: 'c' -> 'd' (1.0000 Mbit/s, to 1 host)"));
  links.back().bandwidth = kGigabit / 500;
  EXPECT_THAT(warnings(platform_of(links)), IsEmpty()) << "at the limit";
  links.back().bandwidth = kGigabit / 1000;
  links.push_back({"a", "d", kGigabit / 1000});
  EXPECT_THAT(warnings(platform_of(links)), IsEmpty()) << "two links";
}

//    a---b            e---f      a thin link from b to e, with two hosts behind it
//     \ /                /
//      c        (e-f only)
TEST(Warnings, SeveralHostsBehindOneThinLink) {
  const std::vector<Link> links{
      {"a", "b"}, {"b", "c"}, {"a", "c"}, {"e", "f"}, {"b", "e", kGigabit / 1000}};
  EXPECT_THAT(warnings(platform_of(links)),
              ElementsAre(HasSubstr("'b' -> 'e' (1.0000 Mbit/s, to 2 hosts)")));
}

TEST(Warnings, ThreeExamplesAndHowManyMore) {
  std::vector<Link> links;
  for (int i = 0; i < 40; ++i) links.push_back({fmt::format("a{}", i), fmt::format("a{}", i + 1)});
  for (int i = 0; i < 15; ++i) links.push_back({"a0", fmt::format("b{}", i), 1e5});
  const auto lines = warnings(platform_of(links));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("each of several links over 500 times slower"));
  EXPECT_THAT(lines[0], HasSubstr("'a0' -> 'b2' (800.0000 kbit/s, to 1 host) and 12 more"));
}

TEST(Warnings, OneWayLinksAmongOthers) {
  EXPECT_THAT(warnings(platform_of({{"a", "b"}, {"b", "c", kGigabit, 0, false}})),
              ElementsAre("1 link has one direction only: 'b' -> 'c'"));
  EXPECT_THAT(warnings(platform_of(
                  {{"a", "b"}, {"b", "c", kGigabit, 0, false}, {"a", "c", kGigabit, 0, false}})),
              IsEmpty())
      << "taken as intended";
}

//        b
//  1 ms / \ 1 ms      a to c directly takes 45 ms
//      a---c
TEST(Warnings, LatenciesLongerThanThoseOfADetour) {
  const auto lines = [](double latency_s) {
    return warnings(platform_of(
        {{"a", "b", kGigabit, 1e-3}, {"b", "c", kGigabit, 1e-3}, {"a", "c", kGigabit, latency_s}}));
  };
  EXPECT_THAT(lines(45e-3),
              ElementsAre("2 links have over 20 times the latency of a detour: 'a' -> 'c' (45.0 "
                          "ms, via 'b' 2.0 ms), 'c' -> 'a' (45.0 ms, via 'b' 2.0 ms)"));
  EXPECT_THAT(lines(40e-3), IsEmpty()) << "at the limit";
  EXPECT_THAT(warnings(platform_of({{"a", "b"}, {"b", "c"}, {"a", "c", kGigabit, 1}})), IsEmpty())
      << "unknown latencies";
}

TEST(Warnings, ALargePlatformIsSampledWithANote) {
  PlatformBuilder builder("complete");
  constexpr std::uint32_t kNodes = 150;  // 22,350 links of 298 steps each: 6.7 million
  for (std::uint32_t i = 0; i < kNodes; ++i) builder.node_named(fmt::format("n{}", i));
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    for (std::uint32_t j = 0; j < kNodes; ++j) {
      if (i != j)
        builder.add_arc({NodeId{i}, NodeId{j}, {kGigabit}, {i < 75 && j < 75 ? 1.0 : 1e-3}, {}});
    }
  }
  EXPECT_THAT(warnings(std::move(builder).build()),
              ElementsAre(HasSubstr("(checked every 4-th link): 'n0' -> ")));
}

TEST(Warnings, ImplausibleUnits) {
  const auto lines = warnings(platform_of({{"a", "b", 100}, {"b", "c", 100}}));
  EXPECT_THAT(lines, ElementsAre("4 rates are under 8.0000 kbit/s; is the unit right? 'a' -> 'b' "
                                 "(800.0000 bit/s), 'b' -> 'a' (800.0000 bit/s), 'b' -> 'c' "
                                 "(800.0000 bit/s) and 1 more"));
  EXPECT_THAT(warnings(platform_of({{"a", "b", 2e14, 0, false}})),
              ElementsAre("1 rate is over 800.0000 Tbit/s; is the unit right? 'a' -> 'b' "
                          "(1600.0000 Tbit/s)"));
  EXPECT_THAT(warnings(platform_of({{"a", "b", 1e9, 11, false}})),
              ElementsAre("1 latency is over 10.000 s; is the unit right? 'a' -> 'b' (11.000 s)"));
  EXPECT_THAT(
      warnings(platform_of({{"a", "b", 1e11}, {"b", "c", 2e11}, {"a", "c", 1e4}})),
      ElementsAre("rates go from 80.0000 kbit/s to 1.6000 Tbit/s, a factor of 2e+07; are the units "
                  "right?"));
}

TEST(Warnings, CapsAndSharedLinksAreChecked) {
  PlatformBuilder builder("p");
  Node node;
  node.name = "a";
  node.send = BytesPerSecond{10};
  const NodeId a = builder.add_node(node);
  const NodeId b = builder.node_named("b");
  builder.add_arc({a, b, {kGigabit}, {}, {}});
  builder.add_shared_link("w", {20}, {{a, b}});
  EXPECT_THAT(warnings(std::move(builder).build()),
              ElementsAre("2 rates are under 8.0000 kbit/s; is the unit right? a cap of 'a' "
                          "(80.0000 bit/s), shared link 'w' (160.0000 bit/s)",
                          HasSubstr("rates go from 80.0000 bit/s to 1.0000 Gbit/s")));
}

TEST(Warnings, NothingToWarnAbout) {
  PlatformBuilder builder("p");
  builder.node_named("a");
  EXPECT_THAT(warnings(std::move(builder).build()), IsEmpty());
  EXPECT_THAT(warnings(generate_random({})), IsEmpty());
  EXPECT_THAT(warnings(generate_two_clusters({})), IsEmpty());
  EXPECT_THAT(warnings(generate_multi_region({})), IsEmpty());
  TiersFamily tiers;
  tiers.shape = tiers_preset("hbt-65");
  EXPECT_THAT(warnings(generate_tiers(tiers)), IsEmpty());
}

}  // namespace
}  // namespace espalier::platforms::warnings_test
