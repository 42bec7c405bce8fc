#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/platforms/figures.hpp"
#include "tests/platforms/formats/simgrid_text.hpp"

namespace espalier::platforms::simgrid_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

const std::string kData = ESPALIER_SOURCE_DIR "/platforms/data/simgrid/";

const SharedLink* shared_link(const Platform& platform, std::string_view name) {
  const auto found = std::ranges::find(platform.shared_links(), name, &SharedLink::name);
  return found == platform.shared_links().end() ? nullptr : &*found;
}

// The number of hosts that `start` reaches through relays only.
std::size_t reached(const Platform& platform, NodeId start) {
  std::vector<bool> seen(platform.nodes().size());
  std::deque<NodeId> open{start};
  seen[index_of(start)] = true;
  std::size_t hosts = 0;
  while (!open.empty()) {
    const NodeId node = open.front();
    open.pop_front();
    if (!platform.node(node).relay) ++hosts;
    if (!platform.node(node).relay && node != start) continue;
    const auto [first, last] = platform.arcs_out_of(node);
    for (std::uint32_t e = first; e < last; ++e) {
      const NodeId to = platform.arcs()[e].to;
      if (seen[index_of(to)]) continue;
      seen[index_of(to)] = true;
      open.push_back(to);
    }
  }
  return hosts;
}

TEST(Simgrid, ARouteIsTheLeastBandwidthAndTheSumOfLatencies) {
  const ReadResult result = read_platform(kData + "small_platform.xml");
  EXPECT_EQ(result.format, "simgrid");
  EXPECT_THAT(result.notes, IsEmpty());
  const Platform& platform = result.platform;
  for (const auto& [from, to] : {std::pair{"Tremblay", "Fafard"}, {"Fafard", "Tremblay"}}) {
    EXPECT_DOUBLE_EQ(arc(platform, from, to).bandwidth.value, 8.158e6);
    EXPECT_NEAR(arc(platform, from, to).latency.value,
                (479.78 + 514.433 + 136.931 + 59.904 + 514.433 + 270.544) * 1e-6, 1e-12);
  }
  // Link 145 is the only link to Jacquelin, from and to all six others.
  EXPECT_EQ(shared_link(platform, "145")->arcs.size(), 12U);
  EXPECT_DOUBLE_EQ(shared_link(platform, "145")->bandwidth.value, 2.583375e6);
}

TEST(Simgrid, Groups) {
  const Platform platform = read_platform(kData + "griffon.xml").platform;
  EXPECT_EQ(platform.node(*platform.find_node("griffon-58.nancy.grid5000.fr")).group,
            "griffon_cluster_cabinet1");
  EXPECT_EQ(reached(platform, *platform.find_node("griffon-1.nancy.grid5000.fr")), 92U);
  EXPECT_EQ(shared_link(platform, "backbone")->arcs.size(), 6U);
}

TEST(Simgrid, SharingPolicies) {
  const auto pair = [](const std::string& link, const std::string& route) {
    return read_simgrid(kPair + link + route + "</zone>");
  };
  const std::string route = R"(<route src="a" dst="b"><link_ctn id="l"/></route>)";
  const Platform shared = pair(R"(<link id="l" bandwidth="1MBps" latency="1ms"/>)", route).platform;
  EXPECT_THAT(counts(shared), ElementsAre(2, 0, 2, 1));
  EXPECT_EQ(shared_link(shared, "l")->arcs.size(), 2U) << "one capacity for both directions";
  const ReadResult fat =
      pair(R"(<link id="l" bandwidth="1MBps" sharing_policy="FATPIPE"/>)", route);
  EXPECT_THAT(counts(fat.platform), ElementsAre(2, 0, 2, 0));
  EXPECT_THAT(fat.notes, IsEmpty());
  const std::string split = R"(<link id="l" bandwidth="1MBps" sharing_policy="SPLITDUPLEX"/>)";
  const Platform duplex =
      pair(split, R"(<route src="a" dst="b"><link_ctn id="l" direction="UP"/></route>)").platform;
  EXPECT_THAT(counts(duplex), ElementsAre(2, 0, 2, 0)) << "up in one direction, down in the other";
  EXPECT_EQ(refusal([&] { return pair(split, route); }),
            "s.xml: line 2: link 'l' is SPLITDUPLEX: its direction must be UP or DOWN");
}

TEST(Simgrid, OneWayRoutesAndBypasses) {
  const Platform platform =
      read_simgrid(kPair + R"(<link id="l" bandwidth="8Mbps"/><link id="m" bandwidth="3"/>
<route src="a" dst="b" symmetrical="no"><link_ctn id="l"/></route>
<route src="b" dst="a" symmetrical="NO"><link_ctn id="l"/></route>
<bypassRoute src="b" dst="a"><link_ctn id="m"/></bypassRoute></zone>)")
          .platform;
  EXPECT_THAT(counts(platform), ElementsAre(2, 0, 2, 0));
  EXPECT_EQ(arc(platform, "a", "b").bandwidth.value, 1e6);
  EXPECT_EQ(arc(platform, "b", "a").bandwidth.value, 3);
}

TEST(Simgrid, Units) {
  const auto bandwidth = [](const std::string& text) {
    return arc(read_simgrid(kPair + R"(<link id="l" bandwidth=")" + text +
                            R"("/><route src="a" dst="b"><link_ctn id="l"/></route></zone>)")
                   .platform,
               "a", "b")
        .bandwidth.value;
  };
  EXPECT_EQ(bandwidth("125000000"), 125e6) << "bare: bytes";
  EXPECT_EQ(bandwidth("1.25e9"), 1.25e9);
  EXPECT_DOUBLE_EQ(bandwidth("41.25MBps"), 41.25e6);
  EXPECT_EQ(bandwidth("10Gbps"), 1.25e9);
  EXPECT_EQ(bandwidth("1kBps"), 1e3);
  EXPECT_EQ(bandwidth("1KiBps"), 1024);
  EXPECT_EQ(bandwidth("8Gibps"), 1073741824);
  EXPECT_EQ(bandwidth("1EBps"), 1e18) << "no exponent";
  const auto latency = [](const std::string& text) {
    return arc(read_simgrid(kPair + R"(<link id="l" bandwidth="1" latency=")" + text +
                            R"("/><route src="a" dst="b"><link_ctn id="l"/></route></zone>)")
                   .platform,
               "a", "b")
        .latency.value;
  };
  EXPECT_EQ(latency("2"), 2);
  EXPECT_DOUBLE_EQ(latency("59.9us"), 59.9e-6);
  EXPECT_DOUBLE_EQ(latency("3ps"), 3e-12);
  EXPECT_EQ(latency("2m"), 120) << "minutes";
  EXPECT_EQ(latency("1w"), 7 * 86400);
}

// Routes between zones lead from gateway to gateway, and gateways forward; a host that is a gateway
// forwards as a host.
TEST(Simgrid, NestedZones) {
  const ReadResult result = read_simgrid(R"(<zone id="top" routing="Floyd">
<zone id="A" routing="Full"><zone id="A1" routing="Full"><host id="a"/><router id="ga"/>
<link id="la" bandwidth="5MBps"/><route src="a" dst="ga"><link_ctn id="la"/></route></zone></zone>
<zone id="B" routing="None"><host id="b"/></zone>
<link id="ab" bandwidth="2MBps" latency="1ms"/>
<zoneRoute src="A" dst="B" gw_src="ga" gw_dst="b"><link_ctn id="ab"/></zoneRoute></zone>)");
  EXPECT_THAT(counts(result.platform), ElementsAre(2, 1, 4, 2));
  EXPECT_EQ(result.platform.nodes()[0].group, "A/A1");
  EXPECT_EQ(reached(result.platform, NodeId{0}), 2U);
  EXPECT_THAT(result.notes,
              ElementsAre("1 zones of routing None: no routes inside",
                          "hosts as gateways: they forward as hosts, not as switches"));
}

TEST(Simgrid, OldNamesAndElementsOutsideTheNetwork) {
  const ReadResult result = parse_platform(
      R"(<?xml version='1.0'?><!DOCTYPE platform SYSTEM "simgrid.dtd">
<platform version="3"><AS id="t" routing="Full"><AS id="x" routing="None"><host id="a" power="1"/>
</AS><AS id="y" routing="None"><host id="b" power="1"><prop id="k" value="v"/></host></AS>
<link id="l" bandwidth="125000000" latency="0.00005" bandwidth_file="p.txt"/>
<ASroute src="x" dst="y" gw_src="a" gw_dst="b"><link_ctn id="l"/></ASroute>
</AS></platform>)",
      "old.xml");
  EXPECT_THAT(counts(result.platform), ElementsAre(2, 0, 2, 1));
  EXPECT_THAT(result.notes, Contains("left out 1 profiles: links keep their declared figures"));
}

//   n1 -up-> c_router -backbone-> c_router (leaving) -down-> n2
TEST(Simgrid, AClustersBackboneIsCrossedOnce) {
  const Platform platform =
      read_simgrid(cluster(R"(radical="1-2,7" bb_bw="1GBps" bb_lat="500us")")).platform;
  EXPECT_THAT(counts(platform), ElementsAre(3, 2, 7, 0));
  EXPECT_DOUBLE_EQ(arc(platform, "n7", "nc_router").latency.value, 50e-6);
  EXPECT_EQ(arc(platform, "nc_router", "nc_router (leaving)").bandwidth.value, 1e9);
  EXPECT_DOUBLE_EQ(arc(platform, "nc_router", "nc_router (leaving)").latency.value, 500e-6);
  EXPECT_EQ(arc(platform, "nc_router (leaving)", "n1").bandwidth.value, 100e6);
  EXPECT_EQ(reached(platform, NodeId{0}), 3U);
}

TEST(Simgrid, AClusterWithoutBackbone) {
  const Platform split = read_simgrid(cluster(R"(radical="0-9" router_id="r")")).platform;
  EXPECT_THAT(counts(split), ElementsAre(10, 1, 20, 0));
  EXPECT_TRUE(split.find_node("r"));
  const Platform shared =
      read_simgrid(cluster(R"(radical="0-9" sharing_policy="SHARED")")).platform;
  EXPECT_THAT(counts(shared), ElementsAre(10, 1, 20, 10));
  EXPECT_EQ(shared_link(shared, "c_link_3")->arcs.size(), 2U);
  const Platform limited = read_simgrid(cluster(R"(radical="0-9" limiter_link="60MBps")")).platform;
  EXPECT_THAT(counts(limited), ElementsAre(10, 1, 20, 10));
  EXPECT_EQ(arc(limited, "n4", "nc_router").bandwidth.value, 60e6);
  const ReadResult fat = read_simgrid(cluster(R"(radical="0-9" sharing_policy="FATPIPE")"));
  EXPECT_THAT(fat.notes,
              ElementsAre("10 FATPIPE links at switches: taken as shared by all routes over them"));
}

TEST(Simgrid, FatTrees) {
  const Platform real = read_platform(kData + "cluster_fat_tree.xml").platform;
  EXPECT_EQ(arc(real, "node-0.simgrid.org", "bob_cluster_level1_0").bandwidth.value, 125e6);
  EXPECT_EQ(arc(real, "bob_cluster_level1_3", "bob_cluster_level2_1").bandwidth.value, 250e6)
      << "two cables";
  EXPECT_TRUE(real.find_arc(*real.find_node("node-3.simgrid.org"),
                            *real.find_node("bob_cluster_level1_0")));
  EXPECT_FALSE(real.find_arc(*real.find_node("node-4.simgrid.org"),
                             *real.find_node("bob_cluster_level1_0")));
  EXPECT_EQ(reached(real, NodeId{0}), 16U);
  // 8 hosts, 4 + 4 + 4 switches, 8 links between any two levels.
  const Platform three =
      read_simgrid(
          cluster(R"(radical="0-7" topology="FAT_TREE" topo_parameters="3;2,2,2;1,2,2;1,1,1")"))
          .platform;
  EXPECT_THAT(counts(three), ElementsAre(8, 12, 48, 0));
  EXPECT_EQ(reached(three, NodeId{0}), 8U);
}

// One link of a host's own, for all its cables: here two, to either switch.
TEST(Simgrid, LimitersInFabrics) {
  const ReadResult fat = read_simgrid(
      cluster(R"(radical="0-1" topology="FAT_TREE" topo_parameters="1;2;2;1" limiter_link="60MBps"
                 bb_bw="1MBps" bb_lat="1s")"));
  EXPECT_THAT(counts(fat.platform), ElementsAre(2, 2, 8, 2));
  EXPECT_EQ(shared_link(fat.platform, "c_link_0_2_limiter")->arcs.size(), 4U);
  EXPECT_THAT(fat.notes,
              ElementsAre("left out 1 backbone of clusters that are not FLAT, as SimGrid does"));
  const Platform fly =
      read_simgrid(
          cluster(
              R"(radical="0-7" topology="DRAGONFLY" topo_parameters="2,1;1,1;2,1;2" limiter_link="60MBps")"))
          .platform;
  EXPECT_THAT(counts(fly), ElementsAre(8, 4, 22, 8));
  EXPECT_EQ(arc(fly, "n5", "c_router_2").bandwidth.value, 60e6);
  EXPECT_EQ(arc(fly, "c_router_2", "c_router_3").bandwidth.value, 100e6);
}

TEST(Simgrid, Tori) {
  // Rings of 3: 12 links; pairs in each of the other dimensions: 6.
  const ReadResult torus =
      read_simgrid(cluster(R"(radical="0-11" topology="TORUS" topo_parameters="3,2,2")"));
  EXPECT_THAT(counts(torus.platform), ElementsAre(12, 0, 48, 0));
  EXPECT_EQ(torus.notes.size(), 1U);
  for (const char* const neighbour : {"n1", "n2", "n3", "n6"}) {
    EXPECT_EQ(arc(torus.platform, "n0", neighbour).bandwidth.value, 100e6) << neighbour;
  }
}

TEST(Simgrid, Dragonflies) {
  // 60 routers; 120 links to hosts, 12 chassis * 10, 3 groups * 5 positions * 6, 3 between groups.
  const Platform platform =
      read_simgrid(
          cluster(R"(radical="0-119" topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2")"))
          .platform;
  EXPECT_THAT(counts(platform), ElementsAre(120, 60, 2 * (120 + 120 + 90 + 3), 0));
  EXPECT_EQ(arc(platform, "c_router_1", "c_router_20").bandwidth.value, 400e6)
      << "router 1 of group 0 to router 0 of group 1, 4 links";
  EXPECT_EQ(arc(platform, "c_router_0", "c_router_5").bandwidth.value, 300e6) << "next chassis";
  EXPECT_EQ(arc(platform, "c_router_0", "c_router_4").bandwidth.value, 100e6) << "same chassis";
  EXPECT_EQ(reached(platform, NodeId{0}), 120U);
}

TEST(Simgrid, HostLinks) {
  const Platform platform =
      read_simgrid(R"(<zone id="z" routing="Cluster"><host id="a"/><host id="b"/>
<link id="l" bandwidth="1MBps" sharing_policy="SPLITDUPLEX"/><link id="m" bandwidth="2MBps"/>
<host_link id="a" up="l_UP" down="l_DOWN"/><host_link id="b" up="m" down="m"/><router id="r"/>
<backbone id="bb" bandwidth="9MBps" latency="1ms"/></zone>)")
          .platform;
  EXPECT_THAT(counts(platform), ElementsAre(2, 2, 5, 1));
  EXPECT_EQ(arc(platform, "a", "r").bandwidth.value, 1e6);
  EXPECT_EQ(shared_link(platform, "m")->arcs.size(), 2U);
}

// The number of arcs grows with the number of hosts, not of pairs.
TEST(Simgrid, AClusterOf1500Hosts) {
  EXPECT_THAT(counts(read_simgrid(cluster(R"(radical="0-1499" bb_bw="2GBps")")).platform),
              ElementsAre(1500, 2, 3001, 0));
}

}  // namespace
}  // namespace espalier::platforms::simgrid_test
