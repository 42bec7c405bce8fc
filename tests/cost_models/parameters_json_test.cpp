#include "cost_models/parameters_json.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/support/refusal.hpp"

namespace espalier::cost_models::parameters_json_test {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  return espalier::testing::refusal([&] { return parse_parameters(text, "net.json"); });
}

TEST(ParametersJson, ReadsLogGP) {
  const NetworkParameters read = parse_parameters(
      R"({"name": "ours", "model": "loggp", "latency_s": 2e-6, "overhead_s": 1e-6, "gap_s": 0.5e-6,
          "gap_per_byte_s": 1e-9})",
      "net.json");
  const auto& model = std::get<LogGP>(read.parameters);
  EXPECT_EQ(model.latency.value, 2e-6);
  EXPECT_EQ(model.overhead.value, 1e-6);
  EXPECT_EQ(model.gap.value, 0.5e-6);
  EXPECT_EQ(model.gap_per_byte.value, 1e-9);
}

TEST(ParametersJson, ReadsHockneyWithTables) {
  const NetworkParameters read = parse_parameters(
      R"({"model": "hockney", "alpha_s": [[0, 1e-6], [100, 3e-6]], "beta_s_per_byte": 1e-9})",
      "net.json");
  const auto& model = std::get<Hockney>(read.parameters);
  EXPECT_DOUBLE_EQ(model.alpha_s.at(50), 2e-6);
  EXPECT_DOUBLE_EQ(model.alpha_s.at(1000), 3e-6);  // constant above the last size
  EXPECT_DOUBLE_EQ(model.beta_s_per_byte.at(7), 1e-9);
}

TEST(ParametersJson, PLogPsTablesContinueWithTheirLastSlope) {
  const NetworkParameters read = parse_parameters(
      R"({"model": "plogp", "latency_s": 1e-5, "send_overhead_s": [[1, 2e-6], [100, 1e-6]],
          "receive_overhead_s": 1e-6, "gap_s": [[1, 4e-6], [101, 6e-6]]})",
      "net.json");
  const auto& model = std::get<PLogP>(read.parameters);
  EXPECT_DOUBLE_EQ(model.gap_s.at(201), 8e-6);
  EXPECT_DOUBLE_EQ(model.send_overhead_s.at(1000), 1e-6);
}

// Optional under every model, and written where it is known.
TEST(ParametersJson, HaveTheCostOfCombining) {
  for (
      const std::string model :
      {R"("model": "hockney", "alpha_s": 1e-6, "beta_s_per_byte": 1e-9)",
       R"("model": "loggp", "latency_s": 0, "overhead_s": 0, "gap_s": 0, "gap_per_byte_s": 0)",
       R"("model": "plogp", "latency_s": 0, "send_overhead_s": 0, "receive_overhead_s": 0, "gap_s": 0)"}) {
    EXPECT_EQ(parse_parameters("{" + model + "}", "net.json").computation, std::nullopt);
    const NetworkParameters read =
        parse_parameters("{" + model + R"(, "computation_s_per_byte": 2.5e-10})", "net.json");
    EXPECT_EQ(read.computation, SecondsPerByte{2.5e-10});
    EXPECT_THAT(parameters_json(read, ""), HasSubstr(",\n  \"computation_s_per_byte\": 2.5e-10 }"));
    EXPECT_EQ(refusal_of("{" + model + R"(, "computation_s_per_byte": -1})"),
              "net.json: /computation_s_per_byte: -1 is below 0");
  }
}

TEST(ParametersJson, RefusesWhatIsWrongAndSaysWhere) {
  EXPECT_THAT(refusal_of("[]"), HasSubstr("net.json: "));
  EXPECT_THAT(refusal_of("{}"), HasSubstr("model"));
  EXPECT_EQ(refusal_of(R"({"model": "hokney"})"),
            "net.json: /model: unknown model 'hokney'; did you mean 'hockney'? one of: hockney, "
            "loggp, plogp");
  EXPECT_EQ(refusal_of(R"({"model": "loggp", "latency_s": -1, "overhead_s": 0, "gap_s": 0,
                           "gap_per_byte_s": 0})"),
            "net.json: /latency_s: -1 is below 0");
  EXPECT_THAT(refusal_of(R"({"model": "loggp", "latency_s": 1})"), HasSubstr("overhead_s"));
  EXPECT_THAT(refusal_of(R"({"model": "loggp", "latency": 1})"),
              HasSubstr("net.json: unknown key 'latency'"));
  EXPECT_EQ(refusal_of(R"({"model": "hockney", "alpha_s": [[1, 2], [3]], "beta_s_per_byte": 0})"),
            "net.json: /alpha_s/1: expected [bytes, value]");
  EXPECT_THAT(refusal_of(R"({"model": "hockney", "alpha_s": [], "beta_s_per_byte": 0})"),
              HasSubstr("net.json: /alpha_s: "));
  EXPECT_THAT(
      refusal_of(R"({"model": "hockney", "alpha_s": [[2, 1], [1, 1]], "beta_s_per_byte": 0})"),
      HasSubstr("net.json: /alpha_s: "));
  EXPECT_THAT(refusal_of(R"({"model": "plogp", "latency_s": 0, "send_overhead_s": 2,
                             "receive_overhead_s": 0, "gap_s": 1})"),
              HasSubstr("gap: is less than an overhead"));
}

}  // namespace
}  // namespace espalier::cost_models::parameters_json_test
