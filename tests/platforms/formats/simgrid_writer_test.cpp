// The paths that SimGrid chooses in the platforms written for it: those with the fewest links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <pugixml.hpp>
#include <vector>

#include "platforms/formats/formats.hpp"
#include "tests/platforms/random_platform.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::simgrid_writer_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

constexpr std::size_t kNoPath = std::numeric_limits<std::size_t>::max() / 4;
using Costs = std::vector<std::vector<std::size_t>>;

// The number of links of each route in `text`, by its ends.
Costs route_costs(const Platform& platform, const std::string& text) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(text.c_str()));
  const std::size_t nodes = platform.nodes().size();
  Costs costs(nodes, std::vector<std::size_t>(nodes, kNoPath));
  for (const pugi::xml_node route : document.child("platform").child("zone").children("route")) {
    const auto from = platform.find_node(route.attribute("src").value()).value();
    const auto to = platform.find_node(route.attribute("dst").value()).value();
    const auto links = route.children("link_ctn");
    costs[index_of(from)][index_of(to)] =
        static_cast<std::size_t>(std::distance(links.begin(), links.end()));
  }
  return costs;
}

// The minimum number of links between each pair of nodes, through relays only or through any node.
Costs fewest(const Platform& platform, Costs costs, bool through_hosts) {
  const std::size_t nodes = costs.size();
  for (std::size_t via = 0; via < nodes; ++via) {
    if (!through_hosts && !platform.nodes()[via].relay) continue;
    for (std::size_t from = 0; from < nodes; ++from) {
      for (std::size_t to = 0; to < nodes; ++to) {
        costs[from][to] = std::min(costs[from][to], costs[from][via] + costs[via][to]);
      }
    }
  }
  return costs;
}

void expect_preferred_paths(const Platform& platform) {
  const Costs routes = route_costs(platform, write_platform(platform, "simgrid"));
  const Costs all = fewest(platform, routes, true);
  const Costs relays = fewest(platform, routes, false);
  for (const NodeId from : platform.hosts()) {
    for (const NodeId to : platform.hosts()) {
      if (from == to) continue;
      const std::size_t i = index_of(from);
      const std::size_t j = index_of(to);
      if (routes[i][j] < kNoPath) {
        EXPECT_EQ(all[i][j], routes[i][j]) << "an arc is the shortest path";
      }
      for (const NodeId via : platform.hosts()) {
        if (via == from || via == to || relays[i][j] >= kNoPath) continue;
        EXPECT_LT(relays[i][j], all[i][index_of(via)] + all[index_of(via)][j])
            << "through relays, not through " << platform.node(via).name;
      }
      for (std::size_t via = 0; via < all.size(); ++via) {
        if (via == i || via == j || routes[i][j] >= kNoPath) continue;
        EXPECT_LT(routes[i][j], all[i][via] + all[via][j]) << "no other path is as short";
      }
    }
  }
}

TEST(SimgridWriter, ArcsArePreferredToRelaysAndRelaysToHosts) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_preferred_paths(testing::random_platform(seed));
  }
}

//   a - r0 - r1 - ... - r5 - b    and    a - h - b
TEST(SimgridWriter, ALongPathThroughRelaysIsPreferredToAShortOneThroughAHost) {
  PlatformBuilder builder("x");
  const auto join = [&](std::string_view one, std::string_view other) {
    const NodeId from = builder.node_named(one);
    const NodeId to = builder.node_named(other);
    builder.add_arc({from, to, {1}, {}, {}});
    builder.add_arc({to, from, {1}, {}, {}});
  };
  join("a", "h");
  join("h", "b");
  join("a", "r0");
  for (int i = 0; i < 5; ++i) join("r" + std::to_string(i), "r" + std::to_string(i + 1));
  join("r5", "b");
  for (Node& node : builder.nodes()) node.relay = node.name.starts_with('r');
  expect_preferred_paths(std::move(builder).build());
}

//   a -> b, c -> b: a shared link, a's send cap, b's receive cap
TEST(SimgridWriter, SharedLinksAndCapsAreOnTheRoutes) {
  PlatformBuilder builder("x");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  builder.nodes()[0].send = BytesPerSecond{7};
  builder.nodes()[1].receive = BytesPerSecond{9};
  builder.add_arc({a, b, {10}, {0.5}, {}});
  builder.add_arc({c, b, {20}, {}, {0.25}});
  builder.add_shared_link("w", {15}, {{a, b}, {c, b}});
  const std::string text = write_platform(std::move(builder).build(), "simgrid");
  EXPECT_THAT(text, HasSubstr(R"(<link id="link:0" bandwidth="10Bps" latency="0.5s" )"
                              R"(sharing_policy="SHARED"/>)"));
  EXPECT_THAT(text, HasSubstr(R"(<link id="shared:w" bandwidth="15Bps" latency="0s" )"
                              R"(sharing_policy="SHARED"/>)"));
  EXPECT_THAT(text, HasSubstr(R"(<link id="pad:0" bandwidth="20Bps" latency="0s" )"
                              R"(sharing_policy="FATPIPE"/>)"));
  EXPECT_THAT(text, HasSubstr(R"(<route src="a" dst="b" symmetrical="NO"><link_ctn id="link:0"/>)"
                              R"(<link_ctn id="shared:w"/><link_ctn id="send:a"/>)"
                              R"(<link_ctn id="receive:b"/></route>)"));
  EXPECT_THAT(text, HasSubstr(R"(<route src="c" dst="b" symmetrical="NO"><link_ctn id="link:1"/>)"
                              R"(<link_ctn id="shared:w"/><link_ctn id="receive:b"/>)"
                              R"(<link_ctn id="pad:0"/></route>)"));
}

// 1,001 arcs, one of them over 1,000 shared links: all routes would be padded to that length.
TEST(SimgridWriter, RefusesWhatWouldGrowWithoutBound) {
  PlatformBuilder builder("x");
  const NodeId hub = builder.node_named("hub");
  for (int i = 0; i <= 1000; ++i) {
    const NodeId leaf = builder.node_named("n" + std::to_string(i));
    builder.add_arc({hub, leaf, {1}, {}, {}});
    if (i > 0) builder.add_shared_link("w" + std::to_string(i), {1}, {{hub, NodeId{1}}});
  }
  const Platform platform = std::move(builder).build();
  EXPECT_EQ(refusal([&] { return write_platform(platform, "simgrid"); }),
            "routes of up to 1001 links for 1001 arcs: more than 1000000 to write for SimGrid");
}

// The same platform, read back: shared links and caps are shared links of its routes.
TEST(SimgridWriter, HostsRelaysAndArcsAreReadBack) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const Platform platform = testing::random_platform(seed);
    const Platform again = parse_platform(write_platform(platform, "simgrid"), "s.xml").platform;
    EXPECT_EQ(again.hosts().size(), platform.hosts().size());
    ASSERT_EQ(again.arcs().size(), platform.arcs().size());
    for (const Arc& arc : platform.arcs()) {
      const auto found = again.find_arc(*again.find_node(platform.node(arc.from).name),
                                        *again.find_node(platform.node(arc.to).name));
      ASSERT_TRUE(found);
      EXPECT_LE(again.arc(*found).bandwidth.value, arc.bandwidth.value) << "within all caps";
      EXPECT_EQ(again.arc(*found).latency.value, arc.latency.value);
    }
  }
}

}  // namespace
}  // namespace espalier::platforms::simgrid_writer_test
