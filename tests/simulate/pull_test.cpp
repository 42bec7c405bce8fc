// Broadcasts and allgathers without a plan, by the rule of the pull in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "planner/problem/any_problem.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/pull/simulate_pull.hpp"
#include "support/errors.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/support/draws.hpp"

namespace espalier::simulate::pull_test {
namespace {

using platforms::Model;
using platforms::NodeId;
using platforms::Platform;
using ::testing::HasSubstr;

platforms::StarFamily star_of(std::size_t hosts) {
  platforms::StarFamily family;
  family.hosts = hosts;
  return family;
}

double bound(const Platform& platform, std::optional<NodeId> source, Model model) {
  return planner::on_problem(
      source ? planner::Operation::kBroadcast : planner::Operation::kAllgather, platform, source,
      model, {}, {},
      [](const auto& problem) { return planner::prove_optimum(problem, {}).bound->value; });
}
double relative(const Platform& platform, Model model, const PullOutcome& outcome) {
  return bound(platform, platform.hosts().front(), model) / outcome.achieved.value;
}

// A host cannot pass on what it has not got, every host gets each segment once, and no resource is
// busy for more than the time.
class Observer {
 public:
  explicit Observer(const engine::pull::PulledMessage& message) {
    message.for_each_segment([&](std::uint64_t segment, std::size_t origin) {
      arrived_s_[{static_cast<std::uint32_t>(origin), static_cast<std::uint32_t>(segment)}] = 0;
    });
  }

  void operator()(const PullTransfer& transfer) {
    const double end_s = transfer.start.value + transfer.duration.value;
    last_s_ = std::max(last_s_, end_s);
    const auto got = arrived_s_.find({transfer.from, transfer.segment});
    ASSERT_NE(got, arrived_s_.end()) << "a host sends what it does not have";
    EXPECT_LE(got->second, transfer.start.value + 1e-9);
    EXPECT_TRUE(arrived_s_.emplace(std::pair(transfer.to, transfer.segment), end_s).second)
        << "a segment arrives twice";
    for (const Holding& held : transfer.holdings) work_s_[held.resource] += held.seconds;
  }
  void check(const PullOutcome& outcome, std::size_t hosts) const {
    EXPECT_EQ(arrived_s_.size(), outcome.segments * hosts);
    EXPECT_LE(last_s_, outcome.makespan.value + 1e-9);
    for (const auto& [resource, work_s] : work_s_) {
      EXPECT_LE(work_s, outcome.makespan.value * (1 + 1e-6)) << "resource " << resource;
    }
  }

 private:
  double last_s_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> arrived_s_;
  std::map<std::uint32_t, double> work_s_;
};

// All families of platforms: sparse ones, relays, shared links, caps, overheads.
TEST(SimulatedPull, GivesEveryHostEverySegmentWithinTheBound) {
  std::size_t drawn = 0;
  for (const testing::PlatformFamily& family : testing::platform_families()) {
    for (std::uint64_t seed = 1; seed <= testing::draws(8); ++seed, ++drawn) {
      const testing::DrawnPlatform one = family.draw(seed, 9);
      const Model model = platforms::models()[drawn % platforms::models().size()].model;
      SCOPED_TRACE(testing::trace_of(family, seed, model));
      Observer observer(pulled_message(one.platform, one.source, {128U << 13U}, Bytes{1U << 13U}));
      // 128 whole segments.
      const PullOutcome outcome =
          simulate_pull(one.platform, one.source, model, {128U << 13U}, {{{1U << 13U}}, seed},
                        [&](const PullTransfer& transfer) { observer(transfer); });
      observer.check(outcome, one.platform.hosts().size());
      EXPECT_EQ(outcome.requests, outcome.segments * (one.platform.hosts().size() - 1));
      EXPECT_LE(outcome.achieved.value, bound(one.platform, one.source, model) * (1 + 1e-6));
    }
  }
}

// The same for the parts of all hosts, where all reach each other.
TEST(SimulatedPull, GivesEveryHostEveryPartWithinTheBound) {
  std::size_t drawn = 0;
  std::size_t refused = 0;
  for (const testing::PlatformFamily& family : testing::platform_families()) {
    for (std::uint64_t seed = 1; seed <= testing::draws(6); ++seed, ++drawn) {
      const testing::DrawnPlatform one = family.draw(seed, 8);
      const Model model = platforms::models()[drawn % platforms::models().size()].model;
      SCOPED_TRACE(testing::trace_of(family, seed, model));
      const std::size_t hosts = one.platform.hosts().size();
      const Bytes message{hosts * 20 * (1U << 13U)};  // whole segments
      Observer observer(pulled_message(one.platform, {}, message, Bytes{1U << 13U}));
      PullOutcome outcome;
      try {
        outcome = simulate_pull(one.platform, {}, model, message, {{{1U << 13U}}, seed},
                                [&](const PullTransfer& transfer) { observer(transfer); });
      } catch (const InfeasibleError&) {
        ++refused;
        continue;
      }
      observer.check(outcome, hosts);
      EXPECT_EQ(outcome.segments, hosts * 20);
      EXPECT_EQ(outcome.requests, outcome.segments * (hosts - 1));
      EXPECT_LE(outcome.achieved.value, bound(one.platform, {}, model) * (1 + 1e-6));
    }
  }
  EXPECT_LT(refused, drawn / 2);
}

TEST(SimulatedPull, GathersNearTheOptimumOfEqualHosts) {
  for (const std::size_t hosts : {2U, 5U, 16U}) {
    const Platform star = platforms::generate_star(star_of(hosts));
    const PullOutcome outcome = simulate_pull(star, {}, Model::kBoundedMultiPort, {64U << 20U});
    const double over = bound(star, {}, Model::kBoundedMultiPort) / outcome.achieved.value;
    EXPECT_GE(over, 1 - 1e-9) << hosts;
    EXPECT_LT(over, 1.1) << hosts;
  }
}

TEST(SimulatedPull, IsNearTheOptimumOfEqualHosts) {
  for (const std::size_t hosts : {2U, 5U, 16U}) {
    const Platform star = platforms::generate_star(star_of(hosts));
    const PullOutcome outcome =
        simulate_pull(star, star.hosts().front(), Model::kBoundedMultiPort, {64U << 20U});
    const double over = relative(star, Model::kBoundedMultiPort, outcome);
    EXPECT_GE(over, 1 - 1e-9) << hosts;
    EXPECT_LT(over, 1.15) << hosts;
  }
}

// A hundred times the uplink of the others, ten times that of the source: what comes there first is
// everywhere soon. With the others served alike it took 3.5 and 3.9 times the optimum's time.
TEST(SimulatedPull, ServesTheHostFirstThatCanServeAllOthers) {
  platforms::StarFamily family = star_of(12);
  family.upload.assign(family.hosts, {1e6});
  family.upload[0] = {1e7};
  family.upload[5] = {1e8};
  const Platform star = platforms::generate_star(family);
  const Model model = Model::kBoundedMultiPort;
  const PullOutcome broadcast = simulate_pull(star, star.hosts().front(), model, {64U << 20U});
  EXPECT_LT(relative(star, model, broadcast), 1.25);
  const PullOutcome allgather = simulate_pull(star, {}, model, {64U << 20U});
  EXPECT_LT(bound(star, {}, model) / allgather.achieved.value, 1.6);
}

TEST(SimulatedPull, IsTheSameForTheSameSeed) {
  platforms::StarFamily family = star_of(9);
  family.bandwidth = {{125e6}, {20e6}, {50e6}};
  const Platform star = platforms::generate_star(family);
  const auto run = [&](std::uint64_t seed) {
    return simulate_pull(star, star.hosts().front(), Model::kOnePort, {8U << 20U}, {{}, seed});
  };
  const PullOutcome one = run(1);
  const PullOutcome again = run(1);
  EXPECT_EQ(one.done, again.done);
  EXPECT_EQ(one.bulletins, again.bulletins);
  EXPECT_NE(one.done, run(2).done);
}

// a <-> b -> c: c's only neighbor is b, to which it sends nothing, and the source a is not its own.
TEST(SimulatedPull, HostsThatNoPathConnectsDoNotServeEachOther) {
  platforms::PlatformBuilder builder("line");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  builder.add_both_ways({a, b, {1e8}, {1e-4}});
  builder.add_arc({b, c, {1e8}, {1e-4}});
  const Platform line = std::move(builder).build();
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  const PullOutcome outcome = simulate_pull(
      line, a, Model::kBoundedMultiPort, {16U << 20U}, {},
      [&](const PullTransfer& transfer) { used.emplace(transfer.from, transfer.to); });
  EXPECT_THAT(used, ::testing::ElementsAre(std::pair(0U, 1U), std::pair(1U, 2U)));
  EXPECT_LT(relative(line, Model::kBoundedMultiPort, outcome), 1.05);
}

// The only link between the clusters holds eight segments in flight, and the source has no news.
TEST(SimulatedPull, FillsLinksOfHighLatency) {
  platforms::TwoClustersFamily family;
  family.thin_latency = {20e-3};
  family.form = platforms::TwoClustersFamily::Form::kGateways;
  const Platform clusters = platforms::generate_two_clusters(family);
  const PullOutcome outcome =
      simulate_pull(clusters, clusters.hosts().front(), Model::kBoundedMultiPort, {64U << 20U});
  EXPECT_LT(relative(clusters, Model::kBoundedMultiPort, outcome), 1.25);
}

TEST(SimulatedPull, TakesMessagesOfAnySize) {
  const Platform star = platforms::generate_star(star_of(4));
  const NodeId source = star.hosts().front();
  const PullOutcome empty = simulate_pull(star, source, Model::kOnePort, {0});
  EXPECT_EQ(empty.makespan.value, 0);
  EXPECT_EQ(empty.segments, 0U);
  EXPECT_EQ(simulate_pull(star, source, Model::kOnePort, {1}).segments, 1U);
  const PullOutcome odd = simulate_pull(star, source, Model::kOnePort, {1'000'001}, {{{1000}}});
  EXPECT_EQ(odd.segments, 1001U);
  EXPECT_EQ(odd.segment.value, 1000U);
}

// Rates that are far from one another, and from a second: it ends, in few steps.
TEST(SimulatedPull, EndsWithRatesAtTheEndsOfNumbers) {
  for (const double rate : {1e-90, 1e-3, 1e90}) {
    platforms::StarFamily family = star_of(3);
    family.bandwidth = {{rate}, {rate * 1e9}, {rate * 1e3}};
    const Platform star = platforms::generate_star(family);
    const PullOutcome outcome =
        simulate_pull(star, star.hosts().front(), Model::kBoundedMultiPort, {10'000}, {{{100}}});
    EXPECT_GE(relative(star, Model::kBoundedMultiPort, outcome), 1 - 1e-6) << rate;
  }
}

TEST(SimulatedPull, RefusesHostsThatCannotBeReached) {
  platforms::PlatformBuilder builder("apart");
  const NodeId a = builder.node_named("a");
  builder.add_arc({builder.node_named("b"), a, {1e8}, {}});
  const Platform apart = std::move(builder).build();
  EXPECT_THROW(static_cast<void>(simulate_pull(apart, a, Model::kOnePort, {1})), InfeasibleError);
  const Platform star = platforms::generate_star(star_of(4));
  EXPECT_THROW(static_cast<void>(simulate_pull(star, star.hosts().front(), Model::kOnePort,
                                               {1U << 30U}, {{{1}}})),
               InputError);
}

// Requests go one way, and segments the other.
TEST(SimulatedPull, RefusesAnAllgatherOverLinksThatGoOneWay) {
  platforms::PlatformBuilder builder("ring");
  const NodeId a = builder.node_named("a");
  const NodeId b = builder.node_named("b");
  const NodeId c = builder.node_named("c");
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
    builder.add_arc({from, to, {1e8}, {}});
  }
  const Platform ring = std::move(builder).build();
  try {
    simulate_pull(ring, {}, Model::kOnePort, {1000});
    ADD_FAILURE() << "not refused";
  } catch (const InfeasibleError& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("'a' and 'b' do not reach each other, both ways"));
  }
}

}  // namespace
}  // namespace espalier::simulate::pull_test
