// Whole probes of simulated racks.
#include <gmock/gmock.h>

#include "runtime/measure/analysis.hpp"
#include "runtime/measure/model_fit.hpp"
#include "runtime/measure/probe.hpp"
#include "tests/runtime/measure/calculated_network.hpp"
#include "tests/runtime/measure/expect_links.hpp"

namespace espalier::runtime::probe::probe_racks_test {
namespace {

using namespace espalier::testing;
using namespace ::testing;

constexpr std::size_t kRacks = 8;

// 64 hosts, with ranks in rack order or alternating among racks.
class EightRacks : public ::testing::TestWithParam<bool> {
 protected:
  static std::size_t rack_of(std::size_t host) {
    return GetParam() ? host / (64 / kRacks) : host % kRacks;
  }
  static std::vector<std::size_t> hosts(auto is_one) {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < 64; ++host) {
      if (is_one(rack_of(host))) hosts.push_back(host);
    }
    return hosts;
  }
  static std::vector<std::size_t> hosts_in(std::size_t rack) {
    return hosts([&](std::size_t its) { return its == rack; });
  }
  static std::vector<std::size_t> hosts_outside(std::size_t rack) {
    return hosts([&](std::size_t its) { return its != rack; });
  }
};

INSTANTIATE_TEST_SUITE_P(InOrder, EightRacks, ::testing::Values(true, false));

// Most arcs run beside others in all rounds, and there is no time to measure each alone.
void expect_all_links_as_fast_as_hosts(const Estimate& estimate, double host_Bps) {
  EXPECT_EQ(estimate.doubtful, 0U);
  ASSERT_EQ(estimate.links.size(), 64U * 63U);
  for (const Link& link : estimate.links) {
    ASSERT_NEAR(link.bandwidth_Bps / host_Bps, 1, 0.05) << link.ends.from << " to " << link.ends.to;
  }
}

// Racks on a core that is never saturated: 56 classes of arcs, which share 16 cables.
TEST_P(EightRacks, TheirCablesAreFound) {
  Truth truth = Truth::star(std::vector<double>(64, 100 * kMbit));
  for (std::size_t i = 0; i < kRacks; ++i) {
    truth.join(hosts_in(i), hosts_outside(i), 200 * kMbit);
    truth.join(hosts_outside(i), hosts_in(i), 200 * kMbit);
  }
  CalculatedNetwork network(truth, 0.01, 1);
  const Estimate estimate = analyse(measure(network, unmeasured(64), {}));
  EXPECT_LT(network.seconds, 900);
  expect_all_links_as_fast_as_hosts(estimate, 100 * kMbit);
  EXPECT_EQ(estimate.shared_links.size(), 2 * kRacks);
  const auto about_200 = AllOf(Ge(195 * kMbit), Le(205 * kMbit));
  for (std::size_t i = 0; i < kRacks; ++i) {
    expect_shared_link(estimate, hosts_in(i), hosts_outside(i), about_200);
    expect_shared_link(estimate, hosts_outside(i), hosts_in(i), about_200);
  }
}

TEST_P(EightRacks, SeparateLinksBetweenAllPairsAreFound) {
  Truth truth = Truth::star(std::vector<double>(64, 1000 * kMbit));
  for (std::size_t from = 0; from < kRacks; ++from) {
    for (std::size_t to = 0; to < kRacks; ++to) {
      if (from != to) truth.join(hosts_in(from), hosts_in(to), 1500 * kMbit);
    }
  }
  CalculatedNetwork network(truth, 0.01, 1);
  const Estimate estimate = analyse(measure(network, unmeasured(64), {}));
  EXPECT_LT(network.seconds, 360);
  expect_all_links_as_fast_as_hosts(estimate, 1000 * kMbit);
  EXPECT_EQ(estimate.shared_links.size(), kRacks * (kRacks - 1));
  for (std::size_t from = 0; from < kRacks; ++from) {
    for (std::size_t to = 0; to < kRacks; ++to) {
      if (from == to) continue;
      expect_shared_link(estimate, hosts_in(from), hosts_in(to),
                         AllOf(Ge(1450 * kMbit), Le(1550 * kMbit)));
    }
  }
}

}  // namespace
}  // namespace espalier::runtime::probe::probe_racks_test
