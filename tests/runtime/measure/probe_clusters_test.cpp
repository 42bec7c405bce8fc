// Whole probes of simulated networks of many ranks, of which few pairs are measured.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <set>

#include "runtime/measure/analysis.hpp"
#include "runtime/measure/probe.hpp"
#include "tests/runtime/measure/calculated_network.hpp"
#include "tests/runtime/measure/expect_links.hpp"
#include "tests/runtime/measure/many_ranks.hpp"

namespace espalier::runtime::probe::probe_clusters_test {
namespace {

using ::testing::AllOf;
using testing::CalculatedNetwork;
using testing::expect_shared_link;
using ::testing::Ge;
using testing::kMbit;
using ::testing::Le;
using testing::Numbering;
using testing::Racks;
using testing::Truth;
using testing::unmeasured;

struct Probed {
  Measurements measured;
  Estimate estimate;
  double seconds;  // of the network
};

Probed probed(const Truth& truth, double noise = 0.01, std::uint64_t seed = 1) {
  CalculatedNetwork network(truth, noise, seed);
  Measurements measured = measure(network, unmeasured(truth.ranks()), {});
  Estimate estimate = analyse(measured);
  return {std::move(measured), std::move(estimate), network.seconds};
}

auto about(double figure) {
  return AllOf(Ge(0.97 * figure), Le(1.03 * figure));
}

void expect_links(const Estimate& estimate, const Truth& truth) {
  const std::size_t all = truth.ranks() * (truth.ranks() - 1);
  EXPECT_EQ(estimate.doubtful, 0U);
  EXPECT_LT(estimate.measured, all / 2);
  ASSERT_EQ(estimate.links.size(), all);
  for (const Link& link : estimate.links) {
    ASSERT_THAT(link.bandwidth_Bps, about(truth.rate[link.ends.from][link.ends.to]))
        << link.ends.from << " to " << link.ends.to;
  }
}

void expect_caps(const Estimate& estimate, const Truth& truth) {
  for (std::size_t rank = 0; rank < truth.ranks(); ++rank) {
    ASSERT_TRUE(estimate.send_Bps[rank] && estimate.receive_Bps[rank]) << rank;
    EXPECT_THAT(*estimate.send_Bps[rank], about(*truth.send[rank])) << rank;
    EXPECT_THAT(*estimate.receive_Bps[rank], about(*truth.receive[rank])) << rank;
  }
}

void expect_uplinks(const Estimate& estimate, const Racks& racks, double bandwidth_Bps) {
  EXPECT_EQ(estimate.shared_links.size(), racks.count > 2 ? 2 * racks.count : 2);
  for (std::size_t i = 0; i < racks.count; ++i) {
    expect_shared_link(estimate, racks.members()[i], racks.outside(i), about(bandwidth_Bps));
    expect_shared_link(estimate, racks.outside(i), racks.members()[i], about(bandwidth_Bps));
  }
}

// Of n ranks. All pairs would be n (n - 1).
void expect_n_log_n(const Measurements& measured, std::size_t factor = 1) {
  const std::size_t ranks = measured.hosts.size();
  const std::size_t doublings = static_cast<std::size_t>(std::bit_width(ranks)) - 1;
  EXPECT_LT(measured.experiments.size(), factor * ranks * doublings) << ranks;
  EXPECT_LT(measured.timings.size(), 2 * ranks * doublings) << ranks;
}

// Hosts of four rates, which are mixed.
std::vector<double> unlike_cables(std::size_t ranks) {
  std::mt19937_64 random(3);
  std::vector<double> cables;
  for (std::size_t i = 0; i < ranks; ++i) {
    cables.push_back(kMbit * static_cast<double>(50 << random() % 4));
  }
  return cables;
}

class Clusters64 : public ::testing::TestWithParam<Numbering> {};

INSTANTIATE_TEST_SUITE_P(Numberings, Clusters64,
                         ::testing::Values(Numbering::kInOrder, Numbering::kCyclic,
                                           Numbering::kShuffled));

// 56 classes of arcs, which share 16 cables.
TEST_P(Clusters64, CablesOfRacksAreFound) {
  const Racks racks{8, 8, GetParam()};
  const Truth truth = racks.behind_uplinks(100 * kMbit, 200 * kMbit);
  const Probed found = probed(truth);
  EXPECT_LT(found.seconds, 180);
  expect_links(found.estimate, truth);
  expect_caps(found.estimate, truth);
  expect_uplinks(found.estimate, racks, 200 * kMbit);
}

// Random flows among other ranks load none of the 56 links much: only a probe of all pairs shows
// them, in rounds in which neighbours send to neighbours.
TEST_P(Clusters64, SeparateLinksBetweenAllPairsOfRacksAreFoundByAThoroughProbe) {
  if (GetParam() == Numbering::kShuffled) return;

  const Racks racks{8, 8, GetParam()};
  Truth truth = Truth::star(std::vector<double>(64, 1000 * kMbit));
  for (const auto& from : racks.members()) {
    for (const auto& to : racks.members()) {
      if (from != to) truth.join(from, to, 1500 * kMbit);
    }
  }
  CalculatedNetwork network(truth, 0.01, 1);
  const Estimate estimate = analyse(measure(network, unmeasured(64), {kThorough, {}}));
  EXPECT_EQ(estimate.measured, 64U * 63U);
  EXPECT_EQ(estimate.shared_links.size(), 56U);
  for (const auto& from : racks.members()) {
    for (const auto& to : racks.members()) {
      if (from != to) expect_shared_link(estimate, from, to, about(1500 * kMbit));
    }
  }
}

// The link between the clusters is slower than some hosts. The probe waits until buffers drain,
// which takes longest there.
TEST_P(Clusters64, ASlowLinkBetweenTwoIsFound) {
  const Racks clusters{2, 32, GetParam()};
  std::vector<double> cables(64, 30 * kMbit);
  for (std::size_t host = 0; host < 64; host += 4) cables[host] = 15 * kMbit;
  const Truth truth = clusters.behind_uplinks(cables, 20 * kMbit);
  const Probed found = probed(truth);
  EXPECT_LT(found.seconds, 150);
  expect_links(found.estimate, truth);
  expect_caps(found.estimate, truth);
  expect_uplinks(found.estimate, clusters, 20 * kMbit);
  EXPECT_EQ(found.estimate.fits[found.estimate.best].model, "bounded-multi-port");
}

// The link is four times as fast as a host.
TEST_P(Clusters64, AFastLinkBetweenTwoIsFound) {
  const Racks clusters{2, 32, GetParam()};
  const Truth truth = clusters.behind_uplinks(1000 * kMbit, 4000 * kMbit);
  const Probed found = probed(truth);
  EXPECT_LT(found.seconds, 30);
  expect_links(found.estimate, truth);
  expect_uplinks(found.estimate, clusters, 4000 * kMbit);
}

TEST(Clusters256, CablesOfRacksAreFound) {
  const Racks racks{16, 16, Numbering::kCyclic};
  const Truth truth = racks.behind_uplinks(1000 * kMbit, 4000 * kMbit);
  const Probed found = probed(truth);
  EXPECT_LT(found.seconds, 60);
  expect_links(found.estimate, truth);
  expect_uplinks(found.estimate, racks, 4000 * kMbit);
  expect_n_log_n(found.measured);
}

class OneCluster : public ::testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Ranks, OneCluster, ::testing::Values(17, 64, 101));

TEST_P(OneCluster, OfEqualHostsHasOneValue) {
  const Truth truth = Truth::star(std::vector<double>(GetParam(), 400 * kMbit));
  const Estimate estimate = probed(truth).estimate;
  expect_links(estimate, truth);
  std::set<double> values;
  for (const Link& link : estimate.links) values.insert(link.bandwidth_Bps);
  EXPECT_EQ(values.size(), 1U);
  EXPECT_TRUE(estimate.shared_links.empty());
  EXPECT_EQ(estimate.fits[estimate.best].model, "one-port");
}

// Slow senders receive fast, and the reverse.
TEST_P(OneCluster, OfUnlikePortsHasTheRateOfTheSlowerEndOnEachLink) {
  const std::vector<double> up = unlike_cables(GetParam());
  const Truth truth = Truth::star(up, {up.rbegin(), up.rend()});
  const Estimate estimate = probed(truth, 0.02).estimate;
  expect_links(estimate, truth);
  expect_caps(estimate, truth);
  EXPECT_TRUE(estimate.shared_links.empty());
  EXPECT_EQ(estimate.fits[estimate.best].model, "bounded-multi-port");
}

// Nothing disturbs anything, so only round trips tell the sites apart.
TEST(Sites, GiveUnmeasuredLinksTheirLatencies) {
  const Racks sites{4, 16, Numbering::kCyclic};
  Truth truth = Truth::star(std::vector<double>(64, 100 * kMbit));
  truth.between_sites_s = 0.01;
  for (std::size_t rank = 0; rank < 64; ++rank) truth.site.push_back(rank % sites.count);
  const Estimate estimate = probed(truth).estimate;
  expect_links(estimate, truth);
  for (const Link& link : estimate.links) {
    const bool is_far = link.ends.from % sites.count != link.ends.to % sites.count;
    const double round_trip_s = truth.round_trip_s + (is_far ? truth.between_sites_s : 0);
    ASSERT_THAT(link.latency_s, about(round_trip_s / 2 - CalculatedNetwork::kGap_s))
        << link.ends.from << " to " << link.ends.to;
  }
}

TEST(Measurements, GrowLikeNLogN) {
  for (const std::size_t ranks : {32, 64, 128}) {
    expect_n_log_n(probed(Truth::star(std::vector<double>(ranks, 1000 * kMbit))).measured);
    expect_n_log_n(
        probed(Racks{ranks / 16, 16}.behind_uplinks(1000 * kMbit, 3000 * kMbit)).measured);
  }
}

// All pairs differ: ranks have nothing in common, and most rounds are in vain.
TEST(Measurements, GrowLikeNLogNWithoutClusters) {
  std::mt19937_64 random(1);
  Truth truth = Truth::star(std::vector<double>(64, 1000 * kMbit));
  for (auto& row : truth.rate) {
    for (double& rate : row) rate = kMbit * static_cast<double>(50 << random() % 4);
  }
  expect_n_log_n(probed(truth).measured, 2);
}

TEST(InterruptedProbe, OfClustersContinuesFromItsMeasurements) {
  const Racks racks{3, 8, Numbering::kCyclic};
  const Truth truth = racks.behind_uplinks(400 * kMbit, 600 * kMbit);
  std::vector<Measurements> seen;
  Progress last;
  CalculatedNetwork network(truth, 0, 1);
  const Measurements whole = measure(network, unmeasured(racks.ranks()),
                                     {kNormal,
                                      [&](const Progress& now) {
                                        EXPECT_LE(now.done, now.planned);
                                        last = now;
                                      },
                                      [&](const Measurements& so_far) { seen.push_back(so_far); }});
  EXPECT_EQ(last.done, last.planned);
  ASSERT_GT(seen.size(), 40U);
  for (std::size_t i = 0; i < seen.size(); i += 5) {
    CalculatedNetwork again(truth, 0, 1);
    EXPECT_EQ(measurements_json(measure(again, seen[i], {})), measurements_json(whole)) << i;
  }
  CalculatedNetwork again(truth, 0, 1);
  measure(again, whole, {});
  EXPECT_EQ(again.transfers, 0U);
}

}  // namespace
}  // namespace espalier::runtime::probe::probe_clusters_test
