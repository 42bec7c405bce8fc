#include "planner/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "planner/explain/rank_sources.hpp"
#include "planner/solve/make_plan.hpp"
#include "tests/planner/references/random_platforms.hpp"
#include "tests/planner/references/small_platform.hpp"

namespace espalier::planner::explain_test {
namespace {

using espalier::testing::case_name;
using espalier::testing::collective_of;
using espalier::testing::complete_platform;
using espalier::testing::DrawnPlatform;
using espalier::testing::for_each_platform;
using espalier::testing::model_names;
using espalier::testing::small_platform;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kTolerance = 1e-5;

std::vector<double> optima(const Upgrade& upgrade) {
  std::vector<double> values;
  for (const WhatIf& what_if : upgrade.outcomes) values.push_back(what_if.optimum.value);
  return values;
}

auto near(std::vector<double> values) {
  std::vector<::testing::Matcher<double>> matchers;
  for (const double value : values) {
    matchers.emplace_back(::testing::DoubleNear(value, value * kTolerance));
  }
  return ::testing::ElementsAreArray(matchers);
}

//        s          one-port, every link 1 s per byte: s sends each byte three times. With one
//      / | \        link twice as fast, 0.5 + 1 + 1 s per byte to all.
//     a  b  c
TEST(Explain, AStarIsLimitedByTheCentresPort) {
  const auto platform =
      small_platform({"s", "a", "b", "c"}, {{"s", "a", 1}, {"s", "b", 1}, {"s", "c", 1}});
  const Explanation found = explain(collective_of(platform, "s"));
  EXPECT_NEAR(found.reached.value, 1.0 / 3, kTolerance);
  ASSERT_THAT(found.resources, SizeIs(1));
  const Upgrade& port = found.resources[0];
  EXPECT_EQ(port.what.name, "out-port of s");
  EXPECT_NEAR(port.what.price, 1, kTolerance);
  EXPECT_NEAR(port.what.load, 1, kTolerance);
  EXPECT_NEAR(port.what.copies, 3, kTolerance);
  EXPECT_THAT(port.what.figures.links, SizeIs(3));
  EXPECT_THAT(optima(port), near({1.1 / 3, 2.0 / 3}));
  ASSERT_THAT(found.links, SizeIs(3));
  for (const Upgrade& link : found.links) {
    EXPECT_NEAR(link.what.price, 1.0 / 3, kTolerance);
    EXPECT_NEAR(link.what.load, 1.0 / 3, kTolerance);
    EXPECT_NEAR(link.what.copies, 1, kTolerance);
    EXPECT_THAT(optima(link), near({1 / (2 + 1 / 1.1), 0.4}));
  }
  EXPECT_THAT(found.sets, IsEmpty());
  EXPECT_FALSE(found.all.has_value());
  EXPECT_EQ(found.termination, Termination::kDone);
}

//     a1 -- a0 == b0 -- b1      one-port from a1; 1 s per byte within a cluster, 10 s between
TEST(Explain, AThinLinkHelpsUntilThePortsBind) {
  const auto platform = small_platform({"a0", "a1", "b0", "b1"},
                                       {{"a1", "a0", 1}, {"a0", "b0", 10}, {"b0", "b1", 1}});
  ExplainOptions options;
  options.factors = {2, 5, 20};
  const Explanation found = explain(collective_of(platform, "a1"), options);
  EXPECT_NEAR(found.reached.value, 0.1, kTolerance);
  ASSERT_THAT(found.links, SizeIs(1));
  EXPECT_EQ(found.links[0].what.name, "link a0 -> b0");
  EXPECT_NEAR(found.links[0].what.price, 1, kTolerance);
  EXPECT_THAT(optima(found.links[0]), near({0.2, 0.5, 1}));
  EXPECT_TRUE(helps(found.links[0], found));
}

//     s => a     bounded-multi-port: both links carry 1 B/s, and each host is behind one of them
//     s => b
TEST(Explain, ResourcesThatBindOnlyJointlyAreFoundAsASet) {
  const auto platform = small_platform({"s", "a", "b"}, {{"s", "a", 1}, {"s", "b", 1}});
  const Explanation found =
      explain(collective_of(platform, "s", Operation::kBroadcast, "bounded-multi-port"));
  ASSERT_FALSE(found.resources.empty());
  for (const Upgrade& upgrade : found.resources) {
    EXPECT_FALSE(helps(upgrade, found));
    EXPECT_THAT(optima(upgrade), near({1, 1}));
  }
  EXPECT_THAT(found.links, IsEmpty());  // the links are resources themselves
  ASSERT_THAT(found.sets, SizeIs(1));
  EXPECT_EQ(found.sets[0].what.name, "all 2 links that bind");
  EXPECT_EQ(found.sets[0].what.size, 2);
  EXPECT_THAT(optima(found.sets[0]), near({1.1, 2}));
  EXPECT_FALSE(found.all.has_value());
}

// The same, but b is limited by its receive cap.
TEST(Explain, ResourcesOfDifferentKindsThatBindJointlyAreRaisedJointly) {
  platforms::PlatformBuilder builder("unlike");
  const auto s = builder.node_named("s");
  const auto a = builder.node_named("a");
  const auto b = builder.add_node({"b", false, {}, BytesPerSecond{1}, {}});
  builder.add_arc({s, a, {1}, {}, {}});
  builder.add_arc({s, b, {10}, {}, {}});
  const auto platform = std::move(builder).build();
  const Explanation found =
      explain(collective_of(platform, "s", Operation::kBroadcast, "bounded-multi-port"));
  EXPECT_THAT(found.sets, IsEmpty());
  ASSERT_TRUE(found.all.has_value());
  EXPECT_EQ(found.all->what.name, "all 2 resources that bind");
  EXPECT_EQ(platforms::describe(found.all->what.figures), "1 link, 1 receive cap");
  EXPECT_THAT(optima(*found.all), near({1.1, 2}));
}

//     core --4-- sw1 --1-- r1, r2          every host of rack r is behind a link of 1 B/s, that of
//        \------ sw2 --9-- q1, q2          rack q on 9 B/s
TEST(Explain, SetsAreNamedByGroup) {
  platforms::PlatformBuilder builder("racks");
  const auto s = builder.add_node({"s", false, {}, {}, {}});
  const auto sw = builder.add_node({"sw", true, {}, {}, {}});
  builder.add_arc({s, sw, {100}, {}, {}});
  for (const char* name : {"r1", "r2"}) {
    const auto host = builder.add_node({name, false, {}, {}, "site/r"});
    builder.add_arc({sw, host, {1}, {}, {}});
  }
  for (const char* name : {"q1", "q2"}) {
    const auto host = builder.add_node({name, false, {}, {}, "site/q"});
    builder.add_arc({sw, host, {9}, {}, {}});
  }
  const auto platform = std::move(builder).build();
  const Explanation found =
      explain(collective_of(platform, "s", Operation::kBroadcast, "bounded-multi-port"));
  EXPECT_THAT(found.resources, Each(Field(&Upgrade::outcomes, SizeIs(2))));
  ASSERT_THAT(found.sets, SizeIs(1));
  EXPECT_EQ(found.sets[0].what.name, "all 2 links into site/r that bind");
  EXPECT_THAT(optima(found.sets[0]), near({1.1, 2}));
}

// Six equal hosts, one-port: every receiver's in-port is full, whichever the certificate names.
// With the links out of the source twice as fast, 5 in-ports and half an out-port's time give 6/5.
// With the links of any other port twice as fast, another in-port stays full. With all of them
// twice as fast, the optimum doubles.
TEST(Explain, EqualHostsBindJointly) {
  const auto platform = complete_platform(6, 1);
  const Explanation found = explain(collective_of(platform, "n0"));
  ASSERT_FALSE(found.resources.empty());
  for (const Upgrade& upgrade : found.resources) {
    const double expected = upgrade.what.name == "out-port of n0" ? 1.2 : 1;
    EXPECT_NEAR(upgrade.outcomes.back().optimum.value, expected, kTolerance) << upgrade.what.name;
  }
  ASSERT_FALSE(found.sets.empty());
  EXPECT_THAT(optima(found.sets[0]), near({1.1, 2}));
}

TEST(Explain, AFigureThatCannotBeRaisedIsNamed) {
  const auto platform = small_platform({"s", "a"}, {{"s", "a", 1.6e-100}});
  try {
    static_cast<void>(explain(collective_of(platform, "s")));
    FAIL() << "no refusal";
  } catch (const InputError& refusal) {
    EXPECT_THAT(refusal.what(), ::testing::StartsWith("small: out-port of s, 2 times as fast: "));
  }
}

TEST(Explain, NothingIsSolvedWhenTopIsZero) {
  ExplainOptions options;
  options.top = 0;
  const Explanation found = explain(collective_of(complete_platform(4, 1), "n0"), options);
  EXPECT_THAT(found.resources, IsEmpty());
  EXPECT_THAT(found.links, IsEmpty());
  EXPECT_THAT(found.sets, IsEmpty());
  EXPECT_FALSE(found.all.has_value());
}

TEST(Explain, ATimeLimitLeavesOutTheRest) {
  ExplainOptions options;
  options.limits.deadline = Deadline(Seconds{1e-9});
  const auto platform = complete_platform(4, 1);
  const Explanation found = explain(collective_of(platform, "n0"), options);
  EXPECT_EQ(found.termination, Termination::kTimeLimit);
  EXPECT_GT(found.reached.value, 0);
  EXPECT_THAT(found.resources, Each(Field(&Upgrade::outcomes, IsEmpty())));
}

class ExplainEveryModel : public ::testing::TestWithParam<std::tuple<Operation, std::string>> {
 protected:
  static Operation operation() { return std::get<0>(GetParam()); }
  static platforms::Model model() { return platforms::parse_model(std::get<1>(GetParam())); }
  static Collective with(const platforms::Platform& platform, const DrawnPlatform& drawn) {
    return {operation(), platform, drawn.source, model(), drawn.options};
  }
};

// Raising everything that binds must help. Every answer equals a proof of the changed platform, and
// is never below the original optimum.
TEST_P(ExplainEveryModel, EveryAnswerIsThatOfTheChangedPlatform) {
  for_each_platform(operation(), 2, 10, model(), [](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const Collective collective = drawn.under(model(), operation());
    ExplainOptions options;
    options.top = 3;
    const Explanation found = explain(collective, options);
    for (const auto* list : {&found.resources, &found.links, &found.sets}) {
      for (const Upgrade& upgrade : *list) {
        SCOPED_TRACE(upgrade.what.name);
        ASSERT_THAT(upgrade.outcomes, SizeIs(2));
        for (const WhatIf& what_if : upgrade.outcomes) {
          const auto changed =
              platforms::faster(drawn.platform, upgrade.what.figures, what_if.factor);
          const Outcome proof = prove_optimum(with(changed, drawn), {});
          EXPECT_NEAR(what_if.optimum.value / proof.bound->value, 1, kTolerance);
          EXPECT_GE(what_if.optimum.value, found.reached.value * (1 - kTolerance));
          EXPECT_LE(what_if.optimum.value, what_if.factor * found.reached.value * (1 + kTolerance));
        }
      }
    }
    const Bottlenecks all = bottlenecks_of(collective, found.optimum, 3);
    const auto raised = platforms::faster(drawn.platform, all.all.figures, 2);
    const Outcome better = prove_optimum(with(raised, drawn), {});
    EXPECT_GT(throughput_of(better).value, found.reached.value * (1 + kTolerance));
  });
}

// All links' shares sum to 1 where links are not resources, and no resource is used above 1.
// copies_up equals copies for a reduce and is 0 for a broadcast.
TEST_P(ExplainEveryModel, SharesAndLoadsAreThoseOfTheOptimum) {
  for_each_platform(operation(), 3, 10, model(), [](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const Collective collective = drawn.under(model(), operation());
    const Outcome proof = prove_optimum(collective, {});
    const Bottlenecks found = bottlenecks_of(collective, proof, 1000);
    double links = 0;
    for (const Bottleneck& link : found.links) links += link.price;
    const bool links_are_resources = std::ranges::any_of(
        collective.occupation().resources,
        [](const auto& resource) { return resource.kind == platforms::Resource::Kind::kLink; });
    if (!links_are_resources) {
      EXPECT_NEAR(links, 1, 0.02);  // those below kLeastPrice are omitted
    }
    for (const Bottleneck& resource : found.resources) {
      EXPECT_LE(resource.load, 1 + 1e-6);
      EXPECT_GE(resource.load, 1 - 1e-6 / resource.price - 1e-6);  // complementary slackness
      if (operation() == Operation::kReduce) {
        EXPECT_DOUBLE_EQ(resource.copies_up, resource.copies);
      }
      if (operation() == Operation::kBroadcast) {
        EXPECT_EQ(resource.copies_up, 0);
      }
    }
  });
}

// The optimum of each host equals a proof from it, whatever their order.
TEST_P(ExplainEveryModel, RankingAgreesWithProofs) {
  for_each_platform(operation(), 2, 10, model(), [](const DrawnPlatform& drawn, const auto& trace) {
    SCOPED_TRACE(trace);
    const auto hosts = drawn.platform.hosts();
    const auto ranking =
        rank_sources(operation(), drawn.platform, hosts, model(), drawn.options, {});
    ASSERT_THAT(ranking, SizeIs(hosts.size()));
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      if (i > 0) {
        EXPECT_LE(ranking[i].optimum.value, ranking[i - 1].optimum.value * (1 + 2 * kTolerance));
      }
      if (!ranking[i].error.empty()) continue;
      const Outcome proof = prove_optimum(
          Collective(operation(), drawn.platform, ranking[i].source, model(), drawn.options), {});
      EXPECT_NEAR(ranking[i].optimum.value / throughput_of(proof).value, 1, kTolerance);
      EXPECT_NEAR(ranking[i].bound.value / proof.bound->value, 1, kTolerance);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Models, ExplainEveryModel,
                         ::testing::Combine(::testing::ValuesIn(kOperations),
                                            ::testing::ValuesIn(model_names())),
                         [](const auto& instance) {
                           return case_name(std::get<0>(instance.param),
                                            std::get<1>(instance.param));
                         });

// A reduction from a and b to s, one-port: the in-port of s receives both. With one of the links
// twice as fast 1.5 s for a byte of each, with both 1 s. Resources are named in the direction of
// the data.
//
//     a --1--> s <--1-- b          only slow links lead back: a broadcast would be slower
TEST(ExplainReduce, NamesWhatTheDataCrosses) {
  const auto platform =
      small_platform({"s", "a", "b"}, {{"a", "s", 1}, {"b", "s", 1}, {"s", "a", 9}, {"s", "b", 9}});
  const Explanation found = explain(collective_of(platform, "s", Operation::kReduce));
  EXPECT_NEAR(found.reached.value, 0.5, kTolerance);
  ASSERT_THAT(found.resources, SizeIs(1));
  EXPECT_EQ(found.resources[0].what.name, "in-port of s");
  EXPECT_NEAR(found.resources[0].what.copies, 2, kTolerance);
  EXPECT_THAT(optima(found.resources[0]), near({0.55, 1}));
  std::vector<std::string> links;
  for (const Upgrade& link : found.links) {
    links.push_back(link.what.name);
    EXPECT_THAT(optima(link), near({1 / (1 + 1 / 1.1), 1 / 1.5}));
  }
  EXPECT_THAT(links, ::testing::UnorderedElementsAre("link a -> s", "link b -> s"));
}

// Both directions of a cable have 1 B/s, and two hosts' ports can use them at the same time: data
// goes down from s and up to it, and only raising both links helps.
TEST(ExplainAllreduce, DistinguishesReduceAndBroadcastTraffic) {
  const auto platform = small_platform({"s", "a"}, {{"s", "a", 1}, {"a", "s", 1}});
  const Explanation found =
      explain(collective_of(platform, "s", Operation::kAllreduce, "bounded-multi-port"));
  EXPECT_NEAR(found.reached.value, 1, kTolerance);
  const Bottlenecks all = bottlenecks_of(
      collective_of(platform, "s", Operation::kAllreduce, "bounded-multi-port"), found.optimum, 5);
  EXPECT_NEAR(all.all.copies, 2, kTolerance);
  EXPECT_NEAR(all.all.copies_up, 1, kTolerance);
  ASSERT_THAT(found.sets, SizeIs(1));
  EXPECT_EQ(found.sets[0].what.name, "all 2 links that bind");
  EXPECT_THAT(optima(found.sets[0]), near({1.1, 2}));
  for (const Upgrade& link : found.resources) {
    EXPECT_NEAR(link.what.copies_up, link.what.name == "link a -> s" ? 1 : 0, kTolerance);
    EXPECT_THAT(optima(link), near({1, 1}));
  }
}

//     a ==2==> b      and back at 1; c only receives
TEST(RankSources, PutsTheBestFirstAndInfeasibleSourcesLast) {
  const auto platform =
      small_platform({"c", "b", "a"}, {{"a", "b", 0.5}, {"b", "a", 1}, {"b", "c", 0.5}});
  const auto ranking = rank_sources(Operation::kBroadcast, platform, platform.hosts(),
                                    platforms::Model::kOnePort, {}, {});
  ASSERT_THAT(ranking, SizeIs(3));
  EXPECT_EQ(platform.node(ranking[0].source).name, "a");
  EXPECT_NEAR(ranking[0].optimum.value, 2, kTolerance);
  EXPECT_EQ(platform.node(ranking[1].source).name, "b");
  EXPECT_NEAR(ranking[1].optimum.value, 2.0 / 3, kTolerance);
  EXPECT_EQ(platform.node(ranking[2].source).name, "c");
  EXPECT_EQ(ranking[2].error, "small: 'b' cannot be reached from 'c' (and 1 more)");
}

// Only c can be the root of a reduction. No host can be the root of an allreduce.
TEST(RankSources, PutsRootsThatSomeHostCannotReachLast) {
  const auto platform =
      small_platform({"c", "b", "a"}, {{"a", "b", 0.5}, {"b", "a", 1}, {"b", "c", 0.5}});
  const auto rank = [&](Operation operation) {
    return rank_sources(operation, platform, platform.hosts(), platforms::Model::kOnePort, {}, {});
  };
  const auto roots = rank(Operation::kReduce);
  EXPECT_EQ(platform.node(roots[0].source).name, "c");
  EXPECT_NEAR(roots[0].optimum.value, 2, kTolerance);
  EXPECT_EQ(roots[1].error, "small: 'c' cannot reach 'b'");
  for (const RankedSource& both : rank(Operation::kAllreduce)) EXPECT_FALSE(both.error.empty());
}

TEST(RankSources, TheFirstSourceHasAResultWhateverTheLimit) {
  const auto platform = complete_platform(5, 1);
  AlgorithmOptions options;
  options.deadline = Deadline(Seconds{1e-9});
  const auto ranking = rank_sources(Operation::kBroadcast, platform, platform.hosts(),
                                    platforms::Model::kOnePort, {}, options);
  EXPECT_GT(ranking.front().optimum.value, 0);
  EXPECT_GE(ranking.front().bound, ranking.front().optimum);
}

}  // namespace
}  // namespace espalier::planner::explain_test
