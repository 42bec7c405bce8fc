#include "runtime/measure/analysis.hpp"

#include <gmock/gmock.h>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/model_fit.hpp"
#include "runtime/measure/platform_file.hpp"
#include "support/json.hpp"

namespace espalier::runtime::probe::analysis_test {
namespace {

using namespace ::testing;

TEST(Levelled, MergesValuesWithinTheTolerance) {
  EXPECT_THAT(levelled(std::vector<double>{101, 50, 99, 100, 51.5, 0}, 0.025),
              ElementsAre(100, 50, 100, 100, 51.5, 0));
  // A group spans at most the tolerance, however small its steps.
  EXPECT_THAT(levelled(std::vector<double>{100, 101, 102, 103}, 0.025),
              ElementsAre(101, 101, 101, 103));
  EXPECT_TRUE(levelled({}, 0.1).empty());
}

Experiment one(Purpose purpose, std::vector<Flow> flows, std::vector<double> rates) {
  Experiment experiment{purpose, std::move(flows), {}};
  for (const double rate : rates) experiment.rates_Bps.push_back({rate});
  return experiment;
}

TEST(ArcRates, IdentifyArcsThatMayHaveBeenDisturbed) {
  Measurements measured{{"a", "b", "c", "d"}, {}, {}};
  measured.experiments = {one(Purpose::kRound, {{0, 1}, {2, 3}}, {100, 100}),
                          one(Purpose::kRound, {{0, 3}, {2, 1}}, {50, 30}),
                          one(Purpose::kAlone, {{0, 3}}, {90})};
  const ArcRates rates(measured);
  EXPECT_EQ(rates.rate_bps({0, 3}), 90);  // the measurement alone takes precedence
  EXPECT_EQ(rates.in_round_bps({0, 3}), 50);
  EXPECT_TRUE(rates.was_disturbed({0, 3}));
  EXPECT_FALSE(rates.was_disturbed({2, 1}));
  EXPECT_TRUE(rates.reaches_rate_of_ends({2, 3}, 100));
  EXPECT_EQ(rates.rate_bps({3, 2}), 0);
  EXPECT_THAT(rates.doubtful(), ElementsAre(Flow{2, 1}));
}

// All arcs from a and b to c and d run beside others.
TEST(ArcRates, AreAdoptedFromArcsOfTheClassMeasuredAloneIfTheseAgree) {
  Measurements measured{{"a", "b", "c", "d"}, {}, {}};
  measured.experiments = {one(Purpose::kRound, {{0, 1}, {2, 3}}, {100, 80}),
                          one(Purpose::kRound, {{1, 0}, {3, 2}}, {100, 80}),
                          one(Purpose::kRound, {{0, 2}, {1, 3}}, {30, 30}),
                          one(Purpose::kRound, {{0, 3}, {1, 2}}, {30, 30}),
                          one(Purpose::kRound, {{2, 0}, {3, 1}}, {80, 80}),
                          one(Purpose::kRound, {{3, 0}, {2, 1}}, {80, 80}),
                          one(Purpose::kAlone, {{0, 2}}, {60})};
  const std::vector<std::size_t> clusters = {0, 0, 1, 1};
  ArcRates rates(measured);
  rates.adopt_class_rates(clusters);
  for (const Flow& arc : {Flow{0, 2}, Flow{0, 3}, Flow{1, 2}, Flow{1, 3}}) {
    EXPECT_DOUBLE_EQ(rates.rate_bps(arc), 60) << arc.from << " to " << arc.to;
    EXPECT_TRUE(rates.was_disturbed(arc));
  }
  EXPECT_TRUE(rates.doubtful().empty());

  measured.experiments.push_back(one(Purpose::kAlone, {{1, 3}}, {30}));
  ArcRates unlike(measured);
  unlike.adopt_class_rates(clusters);
  EXPECT_EQ(unlike.rate_bps({0, 3}), 30);
  EXPECT_THAT(unlike.doubtful(), ElementsAre(Flow{0, 3}, Flow{1, 2}));
}

TEST(NodeNames, AreTheHostsIfTheseDiffer) {
  EXPECT_THAT(node_names({"a.x", "b.x"}), ElementsAre("a", "b"));
  EXPECT_THAT(node_names({"a.x", "a.y"}), ElementsAre("a.x", "a.y"));
  EXPECT_THAT(node_names({"a.x", "b", "a.x"}), ElementsAre("rank0", "rank1", "rank2"));
}

//   a --8--> b --4--> c, b --2--> a; a sends at most 6, c receives at most 3; a -> b and b -> c
//   share a link of 5.
Estimate small() {
  Estimate estimate;
  estimate.nodes = {"a", "b", "c"};
  estimate.groups = {"", "", ""};
  estimate.links = {{{0, 1}, 8, 0, 0}, {{1, 0}, 2, 0, 0}, {{1, 2}, 4, 1e-3, 1e-6}};
  estimate.send_Bps = {6, std::nullopt, std::nullopt};
  estimate.receive_Bps = {std::nullopt, std::nullopt, 3};
  estimate.shared_links = {{{{0, 1}, {1, 2}}, 5}};
  return estimate;
}

TEST(FullestLoads, FollowTheTableOfModels) {
  const std::vector<Flow> flows = {{0, 1}, {1, 0}, {1, 2}};
  const std::vector<double> rates = {2, 1, 1};
  const auto loads = [&](std::string_view model) {
    return fullest_loads(small(), model, flows, rates);
  };
  // Link 3/5; out-port of b 1/2 + 1/4; in-port of a 1/2.
  EXPECT_THAT(loads("one-port"), ElementsAre(DoubleEq(0.6), DoubleEq(0.75), DoubleEq(0.75)));
  // Port of a 2/8 + 1/2, of b 2/8 + 3/4, of c 1/4.
  EXPECT_THAT(loads("one-port-unidirectional"), ElementsAre(DoubleEq(1), DoubleEq(1), DoubleEq(1)));
  // a sends 2 of 6, b 2 of 4 / 0.8.
  EXPECT_THAT(loads("multi-port"), ElementsAre(DoubleEq(0.6), DoubleEq(0.5), DoubleEq(0.6)));
  EXPECT_THAT(loads("bounded-multi-port"),
              ElementsAre(DoubleEq(0.6), DoubleEq(0.5), DoubleEq(0.6)));
}

TEST(PlatformFile, ContainsTheEstimate) {
  const Json json = parse_json(platform_json(small(), "a \"name\""), "");
  EXPECT_EQ(json["name"], "a \"name\"");
  EXPECT_EQ(json["nodes"].dump(),
            R"([{"name":"a","send_Bps":6.0},{"name":"b"},{"name":"c","receive_Bps":3.0}])");
  EXPECT_EQ(json["links"][2].dump(),
            R"({"from":"b","to":"c","bandwidth_Bps":4.0,"latency_s":0.001,"overhead_s":1e-06})");
  EXPECT_EQ(json["shared"].dump(),
            R"([{"name":"a, b to b, c","bandwidth_Bps":5.0,"links":[["a","b"],["b","c"]]}])");
}

// Files that were not written by a probe may contain this; found by the fuzzer.
TEST(Analysis, FindsNoSharedLinkInsideAClusterOrOnArcsWithoutARate) {
  Measurements measured{{"a", "b", "c"}, {}, {}};
  for (std::size_t from = 0; from < 3; ++from) {
    for (std::size_t to = 0; to < 3; ++to) {
      if (from != to) measured.experiments.push_back({Purpose::kRound, {{from, to}}, {{1e6}}});
    }
  }
  measured.experiments.push_back({Purpose::kSharedLinks, {{0, 1}, {1, 2}}, {{1e5}, {1e5}}});
  EXPECT_TRUE(analyse(measured).shared_links.empty());
  measured.experiments = {{Purpose::kSharedLinks, {{0, 1}}, {{0}}},
                          {Purpose::kFanOut, {{0, 1}}, {{0}}}};
  const Estimate nothing = analyse(measured);
  EXPECT_TRUE(nothing.shared_links.empty());
  EXPECT_TRUE(nothing.links.empty());
  EXPECT_FALSE(nothing.send_Bps[0]);
}

}  // namespace
}  // namespace espalier::runtime::probe::analysis_test
