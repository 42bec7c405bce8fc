// Generated platforms whose optima can be worked out by hand.
#include <gtest/gtest.h>

#include <string>

#include "platforms/generators/generators.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::generated_test {
namespace {

using platforms::Platform;

// From h0, in bytes per second.
double optimum(const Platform& platform, std::string_view model = "one-port") {
  const Instance instance = testing::instance_of(platform, "h0", model);
  return 1 / testing::period(testing::run("optimal", instance));
}

void expect_optimum(double expected, const Platform& platform,
                    std::string_view model = "one-port") {
  EXPECT_NEAR(optimum(platform, model) / expected, 1, 1e-5) << platform.name() << ", " << model;
}

TEST(Generated, AStarOfEqualLinksCarriesOneLink) {
  platforms::StarFamily family;  // the chain loads each host's two links once
  for (family.hosts = 2; family.hosts <= 9; ++family.hosts) {
    expect_optimum(125e6, platforms::generate_star(family));
    expect_optimum(125e6, platforms::generate_star(family), "bounded-multi-port");
  }
}

TEST(Generated, AStarNeedsSeveralTreesWhereUploadsAreThin) {
  platforms::StarFamily family;
  family.hosts = 4;
  family.bandwidth = {{400}};
  family.upload = {{300}, {100}};
  // The sum of all hosts' uploads, 600, carries everything to each of three.
  expect_optimum(200, platforms::generate_star(family), "bounded-multi-port");
}

TEST(Generated, AMasterSendsToEachWorkerDirectly) {
  platforms::StarFamily family;
  family.hosts = 4;
  family.bandwidth = {{60}, {30}, {20}};
  family.master = true;
  expect_optimum(1 / (1.0 / 60 + 1.0 / 30 + 1.0 / 20), platforms::generate_star(family));
  expect_optimum(20, platforms::generate_star(family), "bounded-multi-port");
}

TEST(Generated, AThinLinkLimitsTwoClusters) {
  for (const auto form : {platforms::TwoClustersFamily::Form::kSwitches,
                          platforms::TwoClustersFamily::Form::kSharedLink}) {
    platforms::TwoClustersFamily family;
    family.hosts = {3, 4};
    family.form = form;
    for (const bool interleaved : {false, true}) {
      family.interleaved = interleaved;
      expect_optimum(12.5e6, platforms::generate_two_clusters(family));
    }
  }
}

// h0 sends over the thin link and to h1, which forwards within the cluster.
TEST(Generated, TheGatewaySendsOverTheThinLinkAndIntoItsCluster) {
  platforms::TwoClustersFamily family;
  family.hosts = {3, 3};
  family.form = platforms::TwoClustersFamily::Form::kGateways;
  expect_optimum(1 / (1 / 125e6 + 1 / 12.5e6), platforms::generate_two_clusters(family));
}

TEST(Generated, AnOversubscribedLeafIsLimitedByItsUplinks) {
  platforms::FatTreeFamily family;
  family.shape = platforms::parse_fat_tree_shape("2;3,3;1,2;1,1");
  family.bandwidth = {60};
  family.oversubscription = {1};
  expect_optimum(60, platforms::generate_fat_tree(family));
  family.oversubscription = {6};  // 3 x 60 over 2 cables of 15
  expect_optimum(30, platforms::generate_fat_tree(family));
  family.oversubscription = {3};
  expect_optimum(60, platforms::generate_fat_tree(family));
}

// A Hamiltonian path loads each host's ports once, and no host sends more than its port carries.
TEST(Generated, ATorusCarriesOneLink) {
  platforms::TorusFamily family;
  family.dimensions = {3, 3, 2};
  family.bandwidth = {100};
  expect_optimum(100, platforms::generate_torus(family));
  family.injection = BytesPerSecond{40};
  expect_optimum(40, platforms::generate_torus(family));
}

TEST(Generated, ADragonflyOfTwoGroupsIsLimitedByItsGlobalLink) {
  platforms::DragonflyFamily family;
  family.shape.groups = 2;
  family.bandwidth = family.local_bandwidth = {100};
  family.global_bandwidth = {25};
  expect_optimum(25, platforms::generate_dragonfly(family));
}

TEST(Generated, ARegionIsReachedThroughAllOthers) {
  platforms::MultiRegionFamily family;
  family.hosts = 2;
  family.bandwidth = {1000};
  family.least_wan = family.most_wan = {10};
  for (family.regions = 2; family.regions <= 4; ++family.regions) {
    // Directly, and through each other region.
    expect_optimum(10 * static_cast<double>(family.regions - 1),
                   platforms::generate_multi_region(family));
  }
  family.regions = 3;
  family.ingress = {{8}};
  expect_optimum(8, platforms::generate_multi_region(family));
}

}  // namespace
}  // namespace espalier::planner::generated_test
