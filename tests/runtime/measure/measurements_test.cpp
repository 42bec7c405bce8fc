#include "runtime/measure/measurements.hpp"

#include <gmock/gmock.h>

#include "tests/support/refusal.hpp"

namespace espalier::runtime::probe::measurements_test {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

Measurements some() {
  return {{"a", "b", "c"},
          {{{0, 1}, {1e-4, 2e-4}, {3e-6}, {1e-6}}},
          {{Purpose::kRound, {{0, 1}}, {{1e6, 3e6, 2e6}}},
           {Purpose::kFanOut, {{2, 0}, {2, 1}}, {{1.5e6}, {0.1}}}}};
}

TEST(Measurements, SurviveWritingAndReading) {
  const Measurements before = some();
  const Measurements after = parse_measurements(measurements_json(before), "m.json");
  EXPECT_EQ(after.hosts, before.hosts);
  ASSERT_EQ(after.timings.size(), 1U);
  EXPECT_EQ(after.timings[0].flow, before.timings[0].flow);
  EXPECT_EQ(after.timings[0].round_trip_s, before.timings[0].round_trip_s);
  EXPECT_EQ(after.timings[0].gap_s, before.timings[0].gap_s);
  EXPECT_EQ(after.timings[0].send_s, before.timings[0].send_s);
  ASSERT_EQ(after.experiments.size(), 2U);
  EXPECT_EQ(after.experiments[1].purpose, Purpose::kFanOut);
  EXPECT_EQ(after.experiments[1].flows, before.experiments[1].flows);
  EXPECT_EQ(after.experiments[1].rates_Bps, before.experiments[1].rates_Bps);
  EXPECT_EQ(measurements_json(after), measurements_json(before));
}

TEST(Measurements, AreCountedByPurposeAndFlows) {
  Measurements measured = some();
  const std::vector<Flow> pair = {{0, 1}};
  EXPECT_EQ(measured.count(Purpose::kRound, pair), 1U);
  EXPECT_EQ(measured.count(Purpose::kAlone, pair), 0U);
  EXPECT_EQ(measured.count(Purpose::kRound, std::vector<Flow>{{1, 0}}), 0U);
  measured.experiments.push_back(measured.experiments[0]);
  EXPECT_EQ(measured.count(Purpose::kRound, pair), 2U);
}

TEST(Flows, HaveOwnEndsUnlessAnotherHasOneOfThem) {
  EXPECT_THAT(have_own_ends(std::vector<Flow>{{0, 1}, {2, 3}, {3, 4}, {6, 5}}),
              ::testing::ElementsAre(true, false, false, true));
}

std::string refused(const std::string& timings, const std::string& experiments,
                    const std::string& version = "1") {
  const std::string text = R"({"format": "espalier-measurements", "version": )" + version +
                           R"(, "hosts": ["a", "b"], "timings": [)" + timings +
                           R"(], "experiments": [)" + experiments + "]}";
  return refusal([&] { return parse_measurements(text, "m.json"); });
}

TEST(Measurements, RefuseImpossibleValues) {
  const auto experiment = [](const std::string& flows, const std::string& rates) {
    return R"({"purpose": "round", "flows": )" + flows + R"(, "rates_Bps": )" + rates + "}";
  };
  EXPECT_EQ(refused("", experiment("[[0, 2]]", "[[1]]")),
            "m.json: /experiments/0/flows/0/1: there are 2 ranks");
  EXPECT_EQ(refused("", experiment("[[1, 1]]", "[[1]]")),
            "m.json: /experiments/0/flows/0: a rank cannot send to itself");
  EXPECT_EQ(refused("", experiment("[[1]]", "[[1]]")),
            "m.json: /experiments/0/flows/0: a flow is a pair of ranks");
  EXPECT_EQ(refused("", experiment("[[0, 1]]", "[[-1]]")),
            "m.json: /experiments/0/rates_Bps/0/0: a measured value must not be negative");
  EXPECT_EQ(refused("", experiment("[[0, 1]]", "[[]]")),
            "m.json: /experiments/0/rates_Bps/0: has no rate");
  EXPECT_EQ(refused("", experiment("[[0, 1]]", "[]")),
            "m.json: /experiments/0: 1 flows, but rates of 0");
  EXPECT_EQ(refused("", experiment("[]", "[]")), "m.json: /experiments/0/flows: has no flow");
  EXPECT_EQ(refused("", experiment("[[0, 1], [1, 0]]", "[[1], [1, 2]]")),
            "m.json: /experiments/0/rates_Bps/1: has 2 repeats, the first flow 1");
  EXPECT_EQ(refused("", experiment("[[0, 1]]", "[[1, 1e300]]")),
            "m.json: /experiments/0/rates_Bps/0/1: 1e+300 is above 1e+18, which no measurement can "
            "reach");
  EXPECT_EQ(refused("", experiment("[[0, 1], [0, 1]]", "[[1], [1]]")),
            "m.json: /experiments/0/flows: has a flow twice");
  for (const auto& [fan, way] : {std::pair("fan-out", "from"), std::pair("fan-in", "to")}) {
    EXPECT_EQ(refused("", std::string(R"({"purpose": ")") + fan +
                              R"(", "flows": [[0, 1], [1, 0]], "rates_Bps": [[1], [1]]})"),
              std::string("m.json: /experiments/0/flows: all flows of a ") + fan + " must go " +
                  way + " one rank");
  }
  EXPECT_THAT(
      refused("", R"({"purpose": "rond", "flows": [], "rates_Bps": []})"),
      HasSubstr("m.json: /experiments/0/purpose: unknown purpose 'rond'; did you mean 'round'?"));
  EXPECT_EQ(refused("", "", "2"), "m.json: /version: this program reads version 1");
  EXPECT_THAT(refused(R"({"flow": [0, 1]})", ""), HasSubstr("m.json: /timings/0: "));
  EXPECT_EQ(refusal([] {
              return parse_measurements(R"({"format": "espalier-plan", "version": 1,
      "hosts": [], "timings": [], "experiments": []})",
                                        "m.json");
            }),
            "m.json: /format: expected 'espalier-measurements'");
}

}  // namespace
}  // namespace espalier::runtime::probe::measurements_test
