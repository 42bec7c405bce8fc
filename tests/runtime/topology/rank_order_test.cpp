#include "runtime/topology/rank_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "runtime/topology/host_groups.hpp"
#include "runtime/topology/topology_platform.hpp"
#include "support/errors.hpp"
#include "support/json.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::runtime::rank_order_test {
namespace {

using espalier::testing::refusal;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Hosts = std::vector<int>;
using Names = std::vector<std::string>;

// TAC 1.1.4: nodes 1, 3, 2, 4, 1, 3, 2, 4, of which 1 and 2 are a group, and 3 and 4.
TEST(ContiguousOrder, IsThePapersExample) {
  const Hosts hosts{0, 1, 2, 3, 0, 1, 2, 3};
  const Names groups{"g", "h", "g", "h", "g", "h", "g", "h"};
  EXPECT_THAT(contiguous_order(hosts, groups), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_EQ(host_changes(Hosts{0, 1, 2, 3, 4, 5, 6, 7}, hosts), 7U);
  EXPECT_EQ(host_changes(Hosts{0, 4, 2, 6, 1, 5, 3, 7}, hosts), 3U);
}

TEST(ContiguousOrder, ChangesNothingThatIsContiguous) {
  EXPECT_THAT(contiguous_order(Hosts{0, 0, 2, 2, 2, 5}, {}), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(contiguous_order(Hosts{0}, {}), ElementsAre(0));
  EXPECT_THAT(contiguous_order({}, {}), IsEmpty());
}

TEST(ContiguousOrder, KeepsHostsTogetherWithoutGroups) {
  EXPECT_THAT(contiguous_order(Hosts{0, 1, 0, 1, 4, 1}, {}), ElementsAre(0, 2, 1, 3, 5, 4));
}

// Host 2 is in no rack of its site; hosts without a group are not a group.
TEST(ContiguousOrder, HasGroupsInGroups) {
  const Hosts hosts{0, 1, 2, 3, 4};
  EXPECT_THAT(contiguous_order(hosts, Names{"a/1", "b/1", "a", "a/2", "a/1"}),
              ElementsAre(0, 4, 2, 3, 1));
  EXPECT_THAT(contiguous_order(hosts, Names{"", "a", "", "a", ""}), ElementsAre(0, 1, 3, 2, 4));
}

// Ranks 0 and 2 share a host. Names of ranks are those of their hosts only where these differ.
TEST(TopologyPlatform, HasARelayForEachHostAndGroup) {
  const Json platform = Json::parse(
      topology_platform(Names{"a", "b", "a"}, Hosts{0, 1, 0}, Names{"x/1", "x/2", "x/1"}));
  std::map<std::string, std::string> groups;
  std::vector<std::string> relays;
  for (const Json& node : platform.at("nodes")) {
    if (node.contains("relay")) {
      relays.push_back(node.at("name"));
    } else {
      groups.emplace(node.at("name"), node.at("group"));
    }
  }
  EXPECT_THAT(groups, ElementsAre(Pair("rank0", "x/1/host0"), Pair("rank1", "x/2/host1"),
                                  Pair("rank2", "x/1/host0")));
  EXPECT_THAT(relays,
              ElementsAre("(between all)", "(x)", "(x/1)", "(x/1/host0)", "(x/2)", "(x/2/host1)"));
  const std::size_t relay_links = relays.size() - 1;
  EXPECT_EQ(platform.at("links").size(), relay_links + groups.size());
  for (const Json& link : platform.at("links")) {
    if (link.at("from") != "(x/1/host0)") continue;
    EXPECT_EQ(link.at("bandwidth_Bps"), kAssumedOfHost_Bps);
  }
}

TEST(HostGroups, AreLines) {
  EXPECT_THAT(parse_host_groups("# racks\n a  r1\r\nb\tr2 # two\n\na r1", "f"),
              ElementsAre(Pair("a", "r1"), Pair("b", "r2")));
}

TEST(HostGroups, RefusalsNameTheLine) {
  EXPECT_EQ(refusal([] { return parse_host_groups("a r\nb\n", "f"); }),
            "f: line 2: has 1 word; a line is HOST GROUP");
  EXPECT_EQ(refusal([] { return parse_host_groups("a r s\n", "f"); }),
            "f: line 1: has 3 words; a line is HOST GROUP");
  EXPECT_EQ(refusal([] { return parse_host_groups("a r\na s\n", "f"); }),
            "f: line 2: host 'a' has two groups, 'r' and 's'");
  EXPECT_EQ(refusal([] { return parse_host_groups("# none\n", "f"); }),
            "f: names no host; a line is HOST GROUP");
}

TEST(HostGroups, AreFoundByWholeNamesFirst) {
  const HostGroups groups{{"n1.lyon", "l"}, {"n1.paris", "p"}, {"n2", "q"}};
  EXPECT_THAT(groups_of_hosts(groups, Names{"n1.paris", "n2.paris", "n1"}, "f"),
              ElementsAre("p", "q", "l"));
  EXPECT_EQ(refusal([&] {
              return groups_of_hosts(groups, Names{"n2", "n3.lyon"}, "f");
            }),
            "f: does not say the group of host 'n3.lyon', on which ranks run");
}

}  // namespace
}  // namespace espalier::runtime::rank_order_test
