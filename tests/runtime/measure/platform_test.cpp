// The platform that a probe writes is read by the planner with the same meaning.
#include <gmock/gmock.h>

#include "planner/solve/make_plan.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/formats/formats.hpp"
#include "runtime/measure/model_fit.hpp"
#include "runtime/measure/platform_file.hpp"
#include "runtime/measure/probe.hpp"
#include "tests/runtime/measure/calculated_network.hpp"
#include "tests/runtime/measure/many_ranks.hpp"

namespace espalier::runtime::probe::platform_test {
namespace {

using testing::CalculatedNetwork;
using testing::Racks;
using testing::Truth;
using testing::unmeasured;

// Two clusters of three different hosts each, and a link between them.
Estimate some_estimate() {
  Truth truth = Truth::star({4e7, 4e7, 2e7, 4e7, 2e7, 1e7});
  truth.join({0, 1, 2}, {3, 4, 5}, 8e6);
  truth.join({3, 4, 5}, {0, 1, 2}, 8e6);
  CalculatedNetwork network(truth, 0, 1);
  Measurements none;
  none.hosts = {"a.x", "b.x", "c.x", "d.x", "e.x", "f.x"};
  return analyse(measure(network, none, {}));
}

platforms::Platform read(const Estimate& estimate) {
  return platforms::parse_platform(platform_json(estimate, "probe"), "probe.json").platform;
}

TEST(ProbedPlatform, IsReadWithItsMeaning) {
  const Estimate estimate = some_estimate();
  const platforms::Platform platform = read(estimate);
  EXPECT_EQ(platform.name(), "probe");
  ASSERT_EQ(platform.hosts().size(), 6U);
  ASSERT_EQ(platform.arcs().size(), 30U);
  for (std::size_t i = 0; i < 30; ++i) {
    const auto& arc = platform.arcs()[i];
    EXPECT_EQ(index_of(arc.from), estimate.links[i].ends.from);
    EXPECT_EQ(index_of(arc.to), estimate.links[i].ends.to);
    EXPECT_EQ(arc.bandwidth.value, estimate.links[i].bandwidth_Bps);
    EXPECT_EQ(arc.latency.value, estimate.links[i].latency_s);
    EXPECT_EQ(arc.overhead.value, estimate.links[i].overhead_s);
  }
  for (std::size_t rank = 0; rank < 6; ++rank) {
    const auto& node = platform.nodes()[rank];
    EXPECT_EQ(node.name, estimate.nodes[rank]);
    EXPECT_EQ(node.send.has_value(), estimate.send_Bps[rank].has_value());
    if (node.send) {
      EXPECT_EQ(node.send->value, *estimate.send_Bps[rank]);
    }
    EXPECT_EQ(node.receive.has_value(), estimate.receive_Bps[rank].has_value());
  }
  ASSERT_EQ(platform.shared_links().size(), 2U);
  EXPECT_EQ(platform.shared_links()[0].bandwidth.value, estimate.shared_links[0].bandwidth_Bps);
  EXPECT_EQ(platform.shared_links()[0].arcs.size(), 9U);
}

// The probe's loads agree with the planner's matrix A.
TEST(ProbedPlatform, LoadsResourcesAsInThePlanner) {
  const Estimate estimate = some_estimate();
  const platforms::Platform platform = read(estimate);
  ASSERT_EQ(estimate.fits.size(), 4U);
  std::vector<Flow> flows;
  std::vector<double> rates;
  for (std::size_t i = 0; i < estimate.links.size(); i += 2) {
    flows.push_back(estimate.links[i].ends);
    rates.push_back(1e5 * static_cast<double>(1 + i * i % 17));
  }
  for (const ModelFit& fit : estimate.fits) {
    const auto occupation = platforms::occupation(platform, platforms::parse_model(fit.model));
    Eigen::VectorXd carried = Eigen::VectorXd::Zero(30);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      carried[static_cast<Eigen::Index>(2 * i)] = rates[i];
    }
    const Eigen::VectorXd loads = occupation.seconds_per_byte * carried;
    const std::vector<double> ours = fullest_loads(estimate, fit.model, flows, rates);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      double most = 0;
      for (Eigen::SparseMatrix<double>::InnerIterator entry(occupation.seconds_per_byte,
                                                            static_cast<Eigen::Index>(2 * i));
           entry; ++entry) {
        most = std::max(most, loads[entry.row()]);
      }
      EXPECT_NEAR(ours[i], most, 1e-12) << fit.model << ", flow " << i;
    }
  }
}

// Of a broadcast from the first host.
double optimum_bps(const platforms::Platform& platform) {
  planner::AlgorithmOptions options;
  options.gap = 1e-2;
  const planner::Instance broadcast(platform, platform.hosts()[0],
                                    platforms::Model::kBoundedMultiPort);
  return planner::prove_optimum(broadcast, options).bound->value;
}

platforms::Platform platform_of(const Truth& truth) {
  Estimate exact;
  exact.nodes = node_names(unmeasured(truth.ranks()).hosts);
  exact.groups.resize(truth.ranks());
  exact.send_Bps = truth.send;
  exact.receive_Bps = truth.receive;
  for (std::size_t from = 0; from < truth.ranks(); ++from) {
    for (std::size_t to = 0; to < truth.ranks(); ++to) {
      if (from != to) exact.links.push_back({{from, to}, truth.rate[from][to], 0, 0});
    }
  }
  for (const Truth::SharedLink& link : truth.shared_links) {
    exact.shared_links.push_back({{link.arcs.begin(), link.arcs.end()}, link.rate});
  }
  return read(exact);
}

// Few of 64 ranks' pairs are measured.
TEST(ProbedPlatform, HasTheOptimumOfTheNetwork) {
  std::vector<double> cables(64, 4e6);
  for (std::size_t host = 1; host < 64; host += 4) cables[host] = 2e6;
  const Racks racks{8, 8, testing::Numbering::kCyclic};
  const Racks clusters{2, 32, testing::Numbering::kShuffled};
  for (const Truth& truth : {racks.behind_uplinks(cables, 3e6), racks.behind_uplinks(4e6, 8e6),
                             clusters.behind_uplinks(cables, 1.5e6)}) {
    CalculatedNetwork network(truth, 0.01, 1);
    const double optimum = optimum_bps(platform_of(truth));
    EXPECT_NEAR(optimum_bps(read(analyse(measure(network, unmeasured(64), {})))) / optimum, 1,
                0.05);
  }
}

}  // namespace
}  // namespace espalier::runtime::probe::platform_test
