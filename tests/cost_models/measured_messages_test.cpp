// Known parameters are recovered from the times that they give.
#include "cost_models/fit/measured_messages.hpp"

#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "cost_models/parameters_json.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::cost_models::measured_messages_test {
namespace {

using testing::refusal;

constexpr std::uint64_t kSizes[] = {1, 64, 1024, 65536, 1U << 20U};

double send_s(std::uint64_t bytes) {
  return 3e-6 + 1e-9 * static_cast<double>(bytes);
}
double receive_s(std::uint64_t bytes) {
  return 2e-6 + 2e-9 * static_cast<double>(bytes);
}
double gap_s(std::uint64_t bytes) {
  return 5e-6 + 8e-9 * static_cast<double>(bytes);
}

// The times of a PLogP network with this latency; each is lengthened by up to the factor 1 + noise.
std::vector<MeasuredMessage> times(double latency_s, double noise = 0, std::uint64_t seed = 0) {
  std::mt19937_64 random(seed);
  const auto longer = [&](double time_s) {
    return Seconds{time_s * (1 + noise * std::uniform_real_distribution<double>(0, 1)(random))};
  };
  std::vector<MeasuredMessage> measured;
  for (const std::uint64_t bytes : kSizes) {
    measured.push_back({{bytes},
                        longer(2 * latency_s + gap_s(bytes) + gap_s(1)),
                        longer(send_s(bytes)),
                        longer(receive_s(bytes))});
  }
  return measured;
}

TEST(MeasuredMessages, GiveTheOriginalPLogP) {
  const auto measured = times(50e-6);
  const PLogP model = plogp_from(MeasuredMessages{measured, {gap_s(1)}});
  EXPECT_NEAR(model.latency.value, 50e-6, 1e-15);
  for (const std::uint64_t bytes : {1U, 64U, 1024U, 65536U, 1U << 20U, 1U << 22U, 30000U}) {
    const auto size = static_cast<double>(bytes);
    EXPECT_NEAR(model.gap_s.at(size), gap_s(bytes), 1e-9 * gap_s(bytes)) << bytes;
    EXPECT_NEAR(model.send_overhead_s.at(size), send_s(bytes), 1e-9 * send_s(bytes)) << bytes;
    EXPECT_NEAR(model.receive_overhead_s.at(size), receive_s(bytes), 1e-9 * receive_s(bytes));
  }
}

TEST(MeasuredMessages, GiveTheLogGPOfKielmannsConversion) {
  const auto measured = times(50e-6);
  const LogGP model = loggp_from(MeasuredMessages{measured, {gap_s(1)}});
  EXPECT_NEAR(model.overhead.value, (send_s(1) + receive_s(1)) / 2, 1e-12);
  EXPECT_NEAR(model.latency.value, 50e-6 + gap_s(1) - send_s(1) - receive_s(1), 1e-12);
  EXPECT_NEAR(model.gap.value, gap_s(1), 1e-12);
  EXPECT_NEAR(model.gap_per_byte.value, gap_s(1U << 20U) / (1U << 20U), 1e-15);
}

TEST(MeasuredMessages, GiveAHockneyModelWithTheMeasuredTimes) {
  const auto measured = times(50e-6);
  const Hockney model = hockney_from(MeasuredMessages{measured, {gap_s(1)}});
  EXPECT_NEAR(model.alpha_s.at(1), 50e-6 + gap_s(1) - 8e-9, 1e-12);
  for (const std::uint64_t bytes : kSizes) {
    const auto size = static_cast<double>(bytes);
    EXPECT_NEAR(model.alpha_s.at(size) + size * model.beta_s_per_byte.at(size),
                50e-6 + gap_s(bytes), 1e-12)
        << bytes;
  }
}

// As in shared memory: a message takes only overheads, and the noise is as large.
TEST(MeasuredMessages, GiveValidParametersDespiteNoise) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    auto measured = times(seed % 2 == 0 ? 0 : 1e-7, 1, seed);
    for (MeasuredMessage& one : measured)
      one.send_overhead.value *= 1 + static_cast<double>(seed % 5);
    const MeasuredMessages all{measured, {seed % 3 == 0 ? 1e-3 : 1e-8}};
    for (const Parameters& model : {Parameters(plogp_from(all)), Parameters(loggp_from(all)),
                                    Parameters(hockney_from(all))}) {
      const std::string text = parameters_json({model}, "noisy");
      EXPECT_EQ(parameters_json(parse_parameters(text, "p.json"), "noisy"), text);
    }
    EXPECT_GE(loggp_from(all).latency.value, 0);
  }
}

TEST(MeasuredMessages, RefuseWhatCannotHaveBeenMeasured) {
  const auto refused = [](std::vector<MeasuredMessage> measured, double gap) {
    return refusal([&] { return plogp_from(MeasuredMessages{measured, {gap}}); });
  };
  const MeasuredMessage one{{1}, {1e-5}, {1e-6}, {1e-6}};
  const MeasuredMessage two{{2}, {1e-5}, {1e-6}, {1e-6}};
  EXPECT_EQ(refused({one}, 0), "at least two message sizes are needed");
  EXPECT_EQ(refused({two, one}, 0), "/1: message sizes must ascend and be at least 1");
  EXPECT_EQ(refused({{{0}, {}, {}, {}}, one}, 0),
            "/0: message sizes must ascend and be at least 1");
  EXPECT_EQ(refused({one, {{2}, {-1}, {}, {}}}, 0),
            "/1: a time of -1 s: must be finite and at least 0");
  EXPECT_EQ(refused({one, two}, std::numeric_limits<double>::infinity()),
            "/gap: a time of inf s: must be finite and at least 0");
  EXPECT_EQ(refused({one, two}, 1e-6), "(not refused)");
}

TEST(ParametersJson, IsReadAsTheSameNetwork) {
  const LogGP loggp{{61.22e-6}, {8.2e-6}, {23.8e-6}, {0.084e-6}};
  EXPECT_EQ(parameters_json({loggp}, ""),
            "{ \"model\": \"loggp\",\n  \"latency_s\": 6.122e-05,\n  \"overhead_s\": 8.2e-06,\n"
            "  \"gap_s\": 2.38e-05,\n  \"gap_per_byte_s\": 8.4e-08 }\n");
  const auto measured = times(50e-6);
  const std::string text =
      parameters_json({plogp_from(MeasuredMessages{measured, {1e-6}})}, "a \"b\"");
  const NetworkParameters again = parse_parameters(text, "p.json");
  EXPECT_EQ(parameters_json(again, "a \"b\""), text);
  EXPECT_EQ(std::get<PLogP>(again.parameters).gap_s.points().size(), std::size(kSizes));
}

}  // namespace
}  // namespace espalier::cost_models::measured_messages_test
