// Whole probes of simulated networks, whose true properties are known.
#include "runtime/measure/probe.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "runtime/measure/analysis.hpp"
#include "runtime/measure/model_fit.hpp"
#include "tests/runtime/measure/calculated_network.hpp"
#include "tests/runtime/measure/expect_links.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::runtime::probe::probe_test {
namespace {

using ::testing::AllOf;
using testing::CalculatedNetwork;
using testing::expect_shared_link;
using ::testing::Ge;
using testing::kMbit;
using ::testing::Le;
using testing::Truth;
using testing::unmeasured;

std::vector<double> of_mbits(std::vector<double> rates) {
  for (double& rate : rates) rate *= kMbit;
  return rates;
}

struct Case {
  double noise;
  std::uint64_t seed;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << "noise " << one.noise << ", seed " << one.seed;
}

class Probing : public ::testing::TestWithParam<Case> {
 protected:
  static Estimate probed(const Truth& truth) {
    CalculatedNetwork network(truth, GetParam().noise, GetParam().seed);
    return analyse(measure(network, unmeasured(truth.ranks()), {}));
  }
  // A median of three or more rarely deviates more; caps are sums of several flows.
  static auto about(double figure) {
    const double off = 0.01 + 1.5 * GetParam().noise;
    return AllOf(Ge(figure * (1 - off)), Le(figure * (1 + off)));
  }
  static void expect_links(const Estimate& estimate, const Truth& truth) {
    ASSERT_EQ(estimate.links.size(), truth.ranks() * (truth.ranks() - 1));
    for (const Link& link : estimate.links) {
      EXPECT_THAT(link.bandwidth_Bps, about(truth.rate[link.ends.from][link.ends.to]))
          << link.ends.from << " to " << link.ends.to;
      EXPECT_THAT(link.overhead_s, about(CalculatedNetwork::kGap_s));
      EXPECT_THAT(link.latency_s,
                  about(CalculatedNetwork::kRoundTrip_s / 2 - CalculatedNetwork::kGap_s));
    }
  }
  static std::string_view model(const Estimate& estimate) {
    return estimate.fits[estimate.best].model;
  }
};

// A forecast counts the steps that a probe plans before it has seen anything.
TEST(ProbeForecast, HasTheStepsOfTheProbe) {
  for (const std::size_t ranks : {2, 5, 6, 64}) {
    CalculatedNetwork network(Truth::star(std::vector<double>(ranks, 100 * kMbit)), 0, 1);
    std::size_t planned = 0;
    ProbeOptions options;
    options.on_progress = [&](const Progress& now) {
      if (planned == 0) planned = now.planned;
    };
    measure(network, unmeasured(ranks), options);
    const Forecast told = forecast(ranks, kNormal);
    EXPECT_EQ(told.steps, planned) << ranks;
    EXPECT_LT(told.least, told.most);
    EXPECT_GT(forecast(ranks, kThorough).least, told.least);
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, Probing,
                         ::testing::Values(Case{0, 1}, Case{0.01, 2}, Case{0.03, 3}, Case{0.03, 4},
                                           Case{0.05, 5}, Case{0.05, 6}));

//   h0 400 --+      +-- 200 h2
//            switch +-- 200 h3
//   h1 400 --+      +-- 100 h4, h5
TEST_P(Probing, DifferentHostsOnASwitchGiveCapsAndNoSharedLinks) {
  const std::vector<double> cables = of_mbits({400, 400, 200, 200, 100, 100});
  const Truth truth = Truth::star(cables);
  const Estimate estimate = probed(truth);
  expect_links(estimate, truth);
  EXPECT_EQ(model(estimate), "bounded-multi-port");
  EXPECT_TRUE(estimate.shared_links.empty());
  EXPECT_EQ(estimate.disturbed, 0U);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    ASSERT_TRUE(estimate.send_Bps[rank] && estimate.receive_Bps[rank]) << rank;
    EXPECT_THAT(*estimate.send_Bps[rank], about(cables[rank]));
    EXPECT_THAT(*estimate.receive_Bps[rank], about(cables[rank]));
  }
}

TEST_P(Probing, SlowSendersMayReceiveFaster) {
  const Truth truth = Truth::star(of_mbits({300, 100, 100, 100}), of_mbits({400, 400, 400, 400}));
  const Estimate estimate = probed(truth);
  expect_links(estimate, truth);
  EXPECT_EQ(model(estimate), "bounded-multi-port");
  EXPECT_FALSE(estimate.receive_Bps[0]);  // the others send 300 in total
  for (std::size_t rank = 1; rank < 4; ++rank) {
    ASSERT_TRUE(estimate.send_Bps[rank] && estimate.receive_Bps[rank]) << rank;
    EXPECT_THAT(*estimate.send_Bps[rank], about(100 * kMbit));
    EXPECT_THAT(*estimate.receive_Bps[rank], about(400 * kMbit));
  }
}

//   h0, h1, h2 -- 400 -- left == 100 == right -- 400 -- h3, h4, h5
TEST_P(Probing, ASlowTrunkIsASharedLinkInEachDirection) {
  for (const auto& [left, right] :
       {std::pair<std::vector<std::size_t>, std::vector<std::size_t>>{{0, 1, 2}, {3, 4, 5}},
        {{0, 2, 4}, {1, 3, 5}}}) {
    Truth truth = Truth::star(of_mbits({400, 400, 400, 400, 400, 400}));
    truth.join(left, right, 100 * kMbit);
    truth.join(right, left, 100 * kMbit);
    const Estimate estimate = probed(truth);
    expect_links(estimate, truth);
    EXPECT_EQ(estimate.shared_links.size(), 2U);
    expect_shared_link(estimate, left, right, about(100 * kMbit));
    expect_shared_link(estimate, right, left, about(100 * kMbit));
    EXPECT_EQ(model(estimate), "bounded-multi-port");
    for (const auto& cap : estimate.send_Bps) {
      ASSERT_TRUE(cap);
      EXPECT_THAT(*cap, about(400 * kMbit));
    }
  }
}

// The trunk is faster than any host, but slower than four of them in total.
TEST_P(Probing, FindsASharedLinkThatNoSinglePairSaturates) {
  const std::vector<std::size_t> left = {0, 1, 2, 3};
  const std::vector<std::size_t> right = {4, 5, 6, 7};
  Truth truth = Truth::star(std::vector<double>(8, 400 * kMbit));
  truth.join(left, right, 900 * kMbit);
  truth.join(right, left, 900 * kMbit);
  const Estimate estimate = probed(truth);
  EXPECT_EQ(estimate.shared_links.size(), 2U);
  expect_shared_link(estimate, left, right, about(900 * kMbit));
  expect_shared_link(estimate, right, left, about(900 * kMbit));
}

TEST_P(Probing, FindsOneLinkSharedByBothDirections) {
  Truth truth = Truth::star(of_mbits({400, 400, 400, 400, 400, 400}));
  const std::vector<std::size_t> left = {0, 1, 2};
  const std::vector<std::size_t> right = {3, 4, 5};
  truth.join(left, right, 100 * kMbit);
  truth.join(right, left, 100 * kMbit);
  truth.shared_links[0].arcs.merge(truth.shared_links[1].arcs);
  truth.shared_links.resize(1);
  const Estimate estimate = probed(truth);
  ASSERT_EQ(estimate.shared_links.size(), 1U);
  EXPECT_EQ(estimate.shared_links[0].arcs.size(), 18U);
  EXPECT_THAT(estimate.shared_links[0].bandwidth_Bps, about(100 * kMbit));
}

// Three racks of four on a core that is never saturated; each rack's cable is, in either direction.
TEST_P(Probing, RacksHaveASharedUplinkAndASharedDownlink) {
  Truth truth = Truth::star(std::vector<double>(12, 400 * kMbit));
  std::vector<std::vector<std::size_t>> rack(3);
  std::vector<std::vector<std::size_t>> others(3);
  for (std::size_t host = 0; host < 12; ++host) {
    for (std::size_t i = 0; i < 3; ++i) (host % 3 == i ? rack[i] : others[i]).push_back(host);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    truth.join(rack[i], others[i], 200 * kMbit);
    truth.join(others[i], rack[i], 200 * kMbit);
  }
  const Estimate estimate = probed(truth);
  expect_links(estimate, truth);
  EXPECT_EQ(estimate.shared_links.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_shared_link(estimate, rack[i], others[i], about(200 * kMbit));
    expect_shared_link(estimate, others[i], rack[i], about(200 * kMbit));
  }
}

// A different rate for each pair, from 50 to 400.
Truth unlike_pairs(std::size_t ranks, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Truth truth;
  truth.rate.assign(ranks, std::vector<double>(ranks));
  for (auto& row : truth.rate) {
    for (double& rate : row) rate = kMbit * static_cast<double>(50 << random() % 4);
  }
  return truth;
}

TEST_P(Probing, DifferentRatesOfPairsAreNotSharedLinks) {
  const Truth truth = unlike_pairs(7, GetParam().seed);
  const Estimate estimate = probed(truth);
  expect_links(estimate, truth);
  EXPECT_TRUE(estimate.shared_links.empty());
  EXPECT_EQ(estimate.doubtful, 0U);
  EXPECT_EQ(std::ranges::count(estimate.send_Bps, std::optional<double>()), 7);
  EXPECT_EQ(std::ranges::count(estimate.receive_Bps, std::optional<double>()), 7);
  // Only the links limit the flows, which is bounded multi-port without bounds.
  EXPECT_EQ(model(estimate), "bounded-multi-port");
}

TEST_P(Probing, PortModelsAreIdentified) {
  Truth truth = unlike_pairs(6, GetParam().seed);
  truth.ports = Truth::Ports::kOnePort;
  Estimate estimate = probed(truth);
  expect_links(estimate, truth);
  EXPECT_EQ(model(estimate), "one-port");
  EXPECT_LT(estimate.fits[0].typical, 1.01 + GetParam().noise);
  EXPECT_GT(estimate.fits[1].typical, 1.1);
  truth.ports = Truth::Ports::kUnidirectional;
  estimate = probed(truth);
  EXPECT_EQ(model(estimate), "one-port-unidirectional");
}

TEST_P(Probing, SenderLimitsWithoutReceiverLimitsAreMultiPort) {
  Truth truth =
      Truth::star(of_mbits({300, 300, 300, 300, 300}), of_mbits({300, 300, 300, 300, 300}));
  for (auto& row : truth.rate) {
    for (double& rate : row) rate = 100 * kMbit;
  }
  truth.receive.clear();
  const Estimate estimate = probed(truth);
  EXPECT_EQ(model(estimate), "multi-port");
  for (std::size_t rank = 0; rank < 5; ++rank) {
    ASSERT_TRUE(estimate.send_Bps[rank]);
    EXPECT_THAT(*estimate.send_Bps[rank], about(300 * kMbit));
    EXPECT_FALSE(estimate.receive_Bps[rank]);
  }
}

TEST_P(Probing, EqualLinksGetOneValue) {
  const Estimate estimate = probed(Truth::star(std::vector<double>(8, 400 * kMbit)));
  std::set<double> values;
  for (const Link& link : estimate.links) values.insert(link.bandwidth_Bps);
  EXPECT_EQ(values.size(), 1U);
  EXPECT_EQ(model(estimate), "one-port");
}

TEST_P(Probing, FewRanks) {
  for (const std::size_t ranks : {2U, 3U}) {
    const Truth truth = Truth::star(std::vector<double>(ranks, 400 * kMbit));
    const Estimate estimate = probed(truth);
    expect_links(estimate, truth);
    EXPECT_TRUE(estimate.shared_links.empty());
    EXPECT_EQ(model(estimate), "one-port");
  }
}

TEST_P(Probing, HighLatencyDoesNotHideAFastLink) {
  Truth truth = Truth::star({1000 * kMbit, 1000 * kMbit, 50 * kMbit});
  truth.round_trip_s = 0.2;
  const Estimate estimate = probed(truth);
  for (const Link& link : estimate.links) {
    EXPECT_THAT(link.bandwidth_Bps, about(truth.rate[link.ends.from][link.ends.to]))
        << link.ends.from << " to " << link.ends.to;
  }
}

TEST(InterruptedProbe, ContinuesFromItsMeasurements) {
  Truth truth = Truth::star(of_mbits({400, 400, 400, 400}));
  truth.join({0, 1}, {2, 3}, 100 * kMbit);
  truth.join({2, 3}, {0, 1}, 100 * kMbit);
  std::vector<Measurements> seen;
  std::vector<Progress> progress;
  CalculatedNetwork network(truth, 0, 1);
  const Measurements whole =
      measure(network, unmeasured(4),
              {kNormal, [&](const Progress& now) { progress.push_back(now); },
               [&](const Measurements& measured) { seen.push_back(measured); }});
  const std::size_t all = network.transfers;
  ASSERT_GT(seen.size(), 20U);
  std::size_t least = all + 1;
  for (const Measurements& part : seen) {
    CalculatedNetwork again(truth, 0, 1);
    const Measurements resumed = measure(again, part, {});
    EXPECT_LE(again.transfers, least);
    least = again.transfers;
    EXPECT_EQ(measurements_json(resumed), measurements_json(whole));
  }
  EXPECT_EQ(least, 0U);  // a complete probe measures nothing again
  for (std::size_t i = 1; i < progress.size(); ++i) {
    EXPECT_EQ(progress[i].done, i);
    EXPECT_LE(progress[i].done, progress[i].planned);
    EXPECT_GE(progress[i].seconds_left, 0);
  }
  EXPECT_EQ(progress.back().done, progress.back().planned);
}

// A sender's lead is derived from its flow's round trips.
TEST(InterruptedProbe, MeasuresMissingLatencies) {
  const Truth truth = Truth::star(of_mbits({400, 400, 400, 400}));
  CalculatedNetwork network(truth, 0, 1);
  Measurements part = measure(network, unmeasured(4), {});
  const std::size_t all = part.timings.size();
  part.timings.erase(part.timings.begin() + 5);
  part.experiments.clear();
  EXPECT_EQ(measure(network, part, {}).timings.size(), all);
}

TEST(Effort, IsANameOrANumber) {
  EXPECT_EQ(parse_effort("quick"), kQuick);
  EXPECT_EQ(parse_effort("normal"), kNormal);
  EXPECT_EQ(parse_effort("thorough"), kThorough);
  EXPECT_EQ(parse_effort("2.5"), 2.5);
  for (const char* text : {"", "0", "-1", "1e9", "nan", "fast", "2x"}) {
    EXPECT_EQ(testing::refusal([&] { return parse_effort(text); }),
              "'" + std::string(text) +
                  "' is neither quick, normal or thorough nor a number from 0.1 to 100");
  }
}

}  // namespace
}  // namespace espalier::runtime::probe::probe_test
