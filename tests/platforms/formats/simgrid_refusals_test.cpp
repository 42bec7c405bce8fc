// SimGrid files that are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platforms/formats/formats.hpp"
#include "tests/platforms/formats/simgrid_text.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::platforms::simgrid_refusals_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

std::string refused(const std::string& inside) {
  return refusal([&] { return read_simgrid(inside); });
}

TEST(SimgridRefusals, OfTheWhole) {
  const auto whole = [](const std::string& text) {
    ReadOptions options;
    options.format = "simgrid";
    return refusal([&] { return parse_platform(text, "s.xml", options); });
  };
  EXPECT_EQ(whole(""), "s.xml: line 1: No document element found");
  EXPECT_THAT(whole("<platform version='4.1'>\n<zone"), HasSubstr("s.xml: line 2: Error parsing"));
  EXPECT_EQ(whole("<graph/>"), "s.xml: there is no element <platform>");
  EXPECT_EQ(whole("<platform version='4.1'/>"), "s.xml: there is no zone and no cluster");
  EXPECT_EQ(whole("<platform/>"), "s.xml: line 1: <platform> has no attribute 'version'");
  EXPECT_EQ(whole("<platform version='2'/>"),
            "s.xml: line 1: version '2' is not supported, only 3 to 4.1; upgrade the file with "
            "simgrid_update_xml");
}

TEST(SimgridRefusals, OfElements) {
  const std::string end = "</zone>";
  EXPECT_EQ(refused("<host id='a'/>"), "s.xml: line 2: <host> must be in a zone");
  EXPECT_EQ(refused("<zone id='z'/>"), "s.xml: line 2: <zone> has no attribute 'routing'");
  EXPECT_THAT(refused("<zone id='z' routing='Ful'/>"),
              HasSubstr("line 2: unknown routing 'Ful'; did you mean 'Full'?"));
  EXPECT_EQ(refused(kPair + "<host id='a'/>" + end), "s.xml: line 2: two nodes are named 'a'");
  EXPECT_EQ(refused(kPair + "<hots id='a'/>" + end),
            "s.xml: line 2: element <hots> is not supported");
  EXPECT_EQ(refused(kPair + "<peer id='a'/>" + end),
            "s.xml: line 2: <peer> belongs to Vivaldi zones, which are not supported");
  EXPECT_EQ(refused(kPair + "<link id='l' bandwidth='fast'/>" + end),
            "s.xml: line 2: a bandwidth must start with a number: 'fast'");
  EXPECT_EQ(refused(kPair + "<link id='l' bandwidth='1Mb'/>" + end),
            "s.xml: line 2: unknown unit in bandwidth '1Mb'");
  EXPECT_EQ(refused(kPair + "<link id='l' bandwidth='0'/>" + end),
            "s.xml: line 2: bandwidth '0' must be finite and positive, not 0 B/s");
  EXPECT_EQ(refused(kPair + "<link id='l' bandwidth='1' latency='1min'/>" + end),
            "s.xml: line 2: unknown unit in latency '1min'");
  EXPECT_EQ(refused(kPair + "<link id='l' bandwidth='1' sharing_policy='WIFI'/>" + end),
            "s.xml: line 2: Wi-Fi links are not supported");
  EXPECT_EQ(refused(kPair + "<link id='l' bandwidth='1'/><link id='l' bandwidth='1'/>" + end),
            "s.xml: line 2: two links are named 'l'");
  EXPECT_EQ(refused(kPair + end + "<zone id='y' routing='None'/>"),
            "s.xml: line 2: a second top-level zone");
  EXPECT_EQ(refused(kPair + "<backbone id='x' bandwidth='1' latency='0'/>" + end),
            "s.xml: line 2: a backbone must be in a zone whose routing is Cluster");
}

TEST(SimgridRefusals, OfRoutes) {
  const auto route = [](const std::string& text) {
    return refused(kPair + "<link id='l' bandwidth='1'/>\n" + text + "</zone>");
  };
  const std::string good = "<route src='a' dst='b'><link_ctn id='l'/></route>";
  EXPECT_EQ(route("<route src='a' dst='c'/>"), "s.xml: line 3: there is no host or router 'c'");
  EXPECT_EQ(route("<route src='a' dst='b'/>"),
            "s.xml: line 3: the route 'a' -> 'b' has no links, so no bandwidth");
  EXPECT_EQ(route("<route src='a' dst='b'><link_ctn id='m'/></route>"),
            "s.xml: line 3: there is no link 'm'");
  EXPECT_EQ(route("<route src='a' dst='b'><link_ctn id='l'/><link_ctn id='l'/></route>"),
            "s.xml: line 3: the route 'a' -> 'b' crosses a link twice");
  EXPECT_EQ(route(good + "\n<route src='b' dst='a'><link_ctn id='l'/></route>"),
            "s.xml: line 4: the route 'b' -> 'a' is given twice");
  EXPECT_EQ(route("<route src='a' dst='b' symmetrical='maybe'><link_ctn id='l'/></route>"),
            "s.xml: line 3: symmetrical is YES or NO, not 'maybe'");
  EXPECT_EQ(route("<route src='a' dst='b'><link_ctn id='l' direction='LEFT'/></route>"),
            "s.xml: line 3: direction is UP, DOWN or NONE, not 'LEFT'");
}

TEST(SimgridRefusals, OfRoutesBetweenZones) {
  const auto route = [](const std::string& ends) {
    return refused(
        "<zone id='t' routing='Full'><zone id='x' routing='None'><host id='a'/></zone>"
        "<zone id='y' routing='None'><host id='b'/></zone><link id='l' bandwidth='1'/>\n"
        "<zoneRoute " +
        ends + "><link_ctn id='l'/></zoneRoute></zone>");
  };
  EXPECT_EQ(route("src='x' dst='y' gw_src='a' gw_dst='b'"), "(not refused)");
  EXPECT_EQ(route("src='x' dst='w' gw_src='a' gw_dst='b'"), "s.xml: line 3: there is no zone 'w'");
  EXPECT_EQ(route("src='x' dst='x' gw_src='a' gw_dst='a'"),
            "s.xml: line 3: a route from a zone to itself");
  EXPECT_EQ(route("src='x' dst='t' gw_src='a' gw_dst='b'"),
            "s.xml: line 3: 't' is not in zone 't'");
  EXPECT_EQ(route("src='x' dst='y' gw_src='b' gw_dst='b'"),
            "s.xml: line 3: 'b' is not in zone 'x'");
  EXPECT_EQ(route("src='x' dst='y' gw_src='a'"),
            "s.xml: line 3: <zoneRoute> has no attribute 'gw_dst'");
}

TEST(SimgridRefusals, OfClusters) {
  const auto reason = [](const std::string& attributes) { return refused(cluster(attributes)); };
  EXPECT_EQ(reason("radical='0-'"),
            "s.xml: line 2: a radical is numbers and ranges, such as 1-29,58, not '0-'");
  EXPECT_EQ(reason("radical='3-1'"), "s.xml: line 2: the range 3-1 is empty");
  EXPECT_EQ(reason("radical='1;2'"), "s.xml: line 2: expected a comma in radical '1;2'");
  EXPECT_EQ(reason("radical='1,1'"), "s.xml: line 2: two nodes are named 'n1'");
  EXPECT_THAT(reason("radical='1' topology='RING'"), HasSubstr("unknown topology 'RING'"));
  EXPECT_EQ(reason("radical='0-3' topology='TORUS' topo_parameters='3,2'"),
            "s.xml: line 2: the TORUS needs 6 hosts, but the radical has 4");
  EXPECT_EQ(
      reason("radical='0-3' topology='TORUS' topo_parameters='4,0'"),
      "s.xml: line 2: topo_parameters of a TORUS must be numbers from 1 to 200000, not '4,0'");
  EXPECT_EQ(
      reason("radical='0-3' topology='FAT_TREE' topo_parameters='2;2,2;1,2'"),
      "s.xml: line 2: topo_parameters of a FAT_TREE must be levels;down,...;up,...;cables,... "
      "with a number for each level, not '2;2,2;1,2'");
  EXPECT_EQ(reason("radical='0-3' topology='TORUS' topo_parameters='4' limiter_link='1'"),
            "s.xml: line 2: a TORUS with a limiter_link is not supported");
}

// Small files that would need much memory.
TEST(SimgridRefusals, HostileFiles) {
  EXPECT_EQ(refused(cluster("radical='0-1000000000'")),
            "s.xml: line 2: radical '0-1000000000' has more than 200000 numbers");
  EXPECT_EQ(refused(cluster("radical='0-18446744073709551615'")),
            "s.xml: line 2: radical '0-18446744073709551615' has more than 200000 numbers");
  EXPECT_THAT(refused(cluster("radical='0' topology='FAT_TREE' "
                              "topo_parameters='1;1;200000;1'")),
              HasSubstr("more than 200000 nodes"));
  std::string many = "<zone id='z' routing='Full'>";
  for (int i = 0; i < 3; ++i) {
    many += fmt::format(
        "<cluster id='{0}' prefix='{0}-' suffix='' radical='0-99999' bw='1' "
        "lat='0'/>",
        i);
  }
  EXPECT_EQ(refused(many + "</zone>"), "s.xml: line 2: more than 200000 nodes");
  EXPECT_EQ(refusal([] {
              return parse_platform(
                  "<!DOCTYPE platform [<!ENTITY a 'aa'>]>\n"
                  "<platform version='4'/>",
                  "s.xml");
            }),
            "s.xml: line 1: a DOCTYPE with its own declarations is not supported");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += fmt::format("<zone id='{}' routing='Full'>", i);
  for (int i = 0; i < 100'000; ++i) deep += "</zone>";
  EXPECT_EQ(refused(deep), "s.xml: line 2: zones nested over 32 levels");
  std::string props;
  for (int i = 0; i < 500'000; ++i) props += "<prop>";
  for (int i = 0; i < 500'000; ++i) props += "</prop>";
  EXPECT_EQ(refused(props), "s.xml: there is no zone and no cluster");
}

}  // namespace
}  // namespace espalier::platforms::simgrid_refusals_test
