// Clusters by bandwidth, and the groups of hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "planner/problem/bandwidth_clusters.hpp"
#include "planner/problem/host_groups.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::clusters_test {
namespace {

using namespace espalier::testing;
using platforms::NodeId;
using platforms::Platform;
using namespace ::testing;

//   a == b -- thin -- c == d        d sends to c only, e to no host
//                      \== e
TEST(BandwidthClusters, AreSeparatedAtTheThinLink) {
  const Platform platform = small_platform({"a", "c", "b", "d", "e"}, {{"a", "b", 1},
                                                                       {"b", "a", 2},
                                                                       {"b", "c", 10},
                                                                       {"d", "c", 1},
                                                                       {"c", "d", 30},
                                                                       {"c", "e", 1.5}});
  EXPECT_THAT(bandwidth_clusters(platform), ElementsAre(0, 1, 0, 1, 1));
}

TEST(BandwidthClusters, AreSeparatedAtTheWidestOfSeveralGaps) {
  // Merges at 1, 1/4 and 1/24 B/s: ratios 4 and 6.
  const Platform wider_last =
      small_platform({"a", "b", "c", "d"}, {{"a", "b", 1}, {"b", "c", 4}, {"c", "d", 24}});
  EXPECT_THAT(bandwidth_clusters(wider_last), ElementsAre(0, 0, 0, 1));
  // 1, 1/8, 1/16: ratios 8 and 2.
  const Platform wider_first =
      small_platform({"a", "b", "c", "d"}, {{"a", "b", 1}, {"b", "c", 8}, {"c", "d", 16}});
  EXPECT_THAT(bandwidth_clusters(wider_first), ElementsAre(0, 0, 1, 2));
  // 1, 1/4, 1/16: a tie leaves the fewer clusters.
  const Platform tie =
      small_platform({"a", "b", "c", "d"}, {{"a", "b", 1}, {"b", "c", 4}, {"c", "d", 16}});
  EXPECT_THAT(bandwidth_clusters(tie), ElementsAre(0, 0, 0, 1));
}

TEST(BandwidthClusters, ARatioBelowTwoSeparatesNothing) {
  const auto with_link = [](double seconds_per_byte) {
    return small_platform({"a", "b", "c"}, {{"a", "b", 1}, {"b", "c", seconds_per_byte}});
  };
  EXPECT_THAT(bandwidth_clusters(with_link(1.99)), ElementsAre(0, 0, 0));
  EXPECT_THAT(bandwidth_clusters(with_link(2)), ElementsAre(0, 0, 1));
  EXPECT_THAT(bandwidth_clusters(complete_platform(5, 1e8)), Each(0U));
  EXPECT_THAT(bandwidth_clusters(small_platform({"a", "b"}, {{"a", "b", 1}})), ElementsAre(0, 0));
}

//   a   b         c   d
//    \ /           \ /        the switches have no data, and the one in the middle no hosts
//    sw1 -- sw3 -- sw2
TEST(BandwidthClusters, SwitchesConnectHostsAndAreNotMembers) {
  const Platform platform =
      small_platform({"a", "sw1", "b", "sw2", "c", "d", "sw3"}, {{"a", "sw1", 1},
                                                                 {"sw1", "b", 1},
                                                                 {"sw2", "c", 1},
                                                                 {"sw2", "d", 1},
                                                                 {"sw1", "sw3", 1},
                                                                 {"sw3", "sw2", 5}});
  EXPECT_THAT(bandwidth_clusters(platform), ElementsAre(0, 0, 1, 1));
}

TEST(BandwidthClusters, ASharedLinkNarrowsItsLinks) {
  platforms::PlatformBuilder builder("shared");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  builder.add_arc({a, b, {9}, {}, {}});
  builder.add_arc({b, c, {9}, {}, {}});
  builder.add_shared_link("thin", {3}, {{b, c}});
  EXPECT_THAT(bandwidth_clusters(std::move(builder).build()), ElementsAre(0, 0, 1));
}

TEST(BandwidthClusters, FindsLyonAndNancyFromBandwidthsAlone) {
  EXPECT_THAT(bandwidth_clusters(sample_platform("two-clusters-thin-link.json")),
              ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
}

std::string provider_of(const std::string& region) {
  return region.substr(0, region.find(':'));
}

// In the measured data every region has a link to another that is hardly slower than the next
// faster one.
TEST(BandwidthClusters, TheCloudRegionsAreOneCluster) {
  EXPECT_THAT(bandwidth_clusters(sample_platform("cloud-71-regions.json")), Each(0U));
}

// With a hundredth of the bandwidth from one provider to another, the clusters are aws, azure, gcp.
TEST(BandwidthClusters, CloudRegionsWithThinLinksBetweenProvidersAreGroupedByProvider) {
  const Platform measured = sample_platform("cloud-71-regions.json");
  platforms::PlatformBuilder builder("far apart");
  for (const platforms::Node& node : measured.nodes()) builder.add_node(node);
  for (platforms::Arc arc : measured.arcs()) {
    const bool apart =
        provider_of(measured.node(arc.from).name) != provider_of(measured.node(arc.to).name);
    if (apart) arc.bandwidth.value /= 100;
    builder.add_arc(arc);
  }
  const Platform platform = std::move(builder).build();
  const std::vector<std::uint32_t> cluster = bandwidth_clusters(platform);
  EXPECT_EQ(*std::max_element(cluster.begin(), cluster.end()), 2U);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_EQ(cluster[i] == cluster[j],
                provider_of(platform.nodes()[i].name) == provider_of(platform.nodes()[j].name));
    }
  }
}

// A second implementation of the definition: widths of the widest paths between all nodes, by Floyd
// and Warshall, and clusters at every width that occurs.
class Widths {
 public:
  explicit Widths(const Platform& platform) : hosts_(platform.hosts()) {
    const std::size_t nodes = platform.nodes().size();
    width_.assign(nodes, std::vector<double>(nodes, 0));
    for (std::size_t i = 0; i < platform.arcs().size(); ++i) {
      const platforms::Arc& arc = platform.arcs()[i];
      double width = arc.bandwidth.value;
      for (const platforms::SharedLink& link : platform.shared_links()) {
        const bool crosses =
            std::ranges::count(link.arcs, platforms::ArcId{static_cast<std::uint32_t>(i)}) > 0;
        if (crosses) width = std::min(width, link.bandwidth.value);
      }
      double& there = width_[index_of(arc.from)][index_of(arc.to)];
      double& back = width_[index_of(arc.to)][index_of(arc.from)];
      there = back = std::max({there, back, width});
    }
    for (std::size_t via = 0; via < nodes; ++via) {
      for (std::size_t i = 0; i < nodes; ++i) {
        for (std::size_t j = 0; j < nodes; ++j) {
          width_[i][j] = std::max(width_[i][j], std::min(width_[i][via], width_[via][j]));
        }
      }
    }
  }
  [[nodiscard]] std::vector<std::uint32_t> clusters_at(double least) const {
    std::vector<std::uint32_t> cluster(hosts_.size());
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      std::size_t j = 0;
      while (j < i && between(i, j) < least) ++j;
      cluster[i] = j < i ? cluster[j] : next++;
    }
    return cluster;
  }
  // Widths at which clusters merge, the widest first.
  [[nodiscard]] std::vector<double> merges() const {
    std::vector<double> widths;
    for (std::size_t i = 1; i < hosts_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) widths.push_back(between(i, j));
    }
    std::sort(widths.begin(), widths.end(), std::greater<>());
    widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
    return widths;
  }

 private:
  [[nodiscard]] double between(std::size_t i, std::size_t j) const {
    return width_[index_of(hosts_[i])][index_of(hosts_[j])];
  }
  std::span<const NodeId> hosts_;
  std::vector<std::vector<double>> width_;
};

TEST(BandwidthClusters, AgreeWithTheWidestPaths) {
  std::size_t split = 0;
  for_each_platform(20, 15, platforms::Model::kOnePort, [&](const auto& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const Widths widths(drawn.platform);
    const std::vector<double> merges = widths.merges();
    double ratio = kLeastClusterRatio;
    double cut = 0;
    for (std::size_t i = 1; i < merges.size(); ++i) {
      if (merges[i - 1] / merges[i] < ratio) continue;
      ratio = merges[i - 1] / merges[i];
      cut = merges[i - 1];
    }
    const std::vector<std::uint32_t> expected = widths.clusters_at(cut);
    EXPECT_EQ(bandwidth_clusters(drawn.platform), expected);
    if (*std::max_element(expected.begin(), expected.end()) > 0) ++split;
  });
  EXPECT_GT(split, 50U);
}

Platform with_groups(const std::vector<std::string>& groups) {
  platforms::PlatformBuilder builder("groups");
  for (const std::string& group : groups) {
    builder.add_node({"n" + std::to_string(builder.nodes().size()), false, {}, {}, group});
  }
  return std::move(builder).build();
}

TEST(HostGroups, FollowThePathsLevelByLevel) {
  const Platform platform =
      with_groups({"lyon/rack1", "nancy/rack1", "lyon/rack2", "", "lyon/rack1", "nancy"});
  EXPECT_THAT(host_groups(platform, GroupLevels::kAll),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(0, 4), IsEmpty(),
                          ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_THAT(host_groups(platform, GroupLevels::kFinest),
              ElementsAre(ElementsAre(1), ElementsAre(3), ElementsAre(4), IsEmpty(), ElementsAre(1),
                          ElementsAre(2)));
  EXPECT_THAT(host_groups(platform, GroupLevels::kCoarsest),
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(0), IsEmpty(), ElementsAre(0),
                          ElementsAre(2)));
}

TEST(HostGroups, EmptyComponentsAreIgnored) {
  EXPECT_THAT(host_groups(with_groups({"a//b", "/a/b/", "a", "/"}), GroupLevels::kAll),
              ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1), ElementsAre(0), IsEmpty()));
}

TEST(HostGroups, WithoutGroupNamesAreTheClusters) {
  const Platform platform =
      small_platform({"a", "sw", "b", "c"}, {{"a", "sw", 1}, {"sw", "b", 1}, {"sw", "c", 9}});
  for (const GroupLevels levels :
       {GroupLevels::kAll, GroupLevels::kFinest, GroupLevels::kCoarsest}) {
    EXPECT_THAT(host_groups(platform, levels),
                ElementsAre(ElementsAre(0), IsEmpty(), ElementsAre(0), ElementsAre(1)));
  }
}

}  // namespace
}  // namespace espalier::planner::clusters_test
