// Fitting Hockney's parameters to measured times.
#include "cost_models/fit/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace espalier::cost_models::fit_test {
namespace {

std::string refusal(const std::vector<Timing>& timings) {
  try {
    (void)fit_hockney(timings);
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "accepted";
}

double squared_errors(const std::vector<Timing>& timings, double alpha_s, double beta_s) {
  double sum = 0;
  for (const Timing& timing : timings) {
    const double fitted = alpha_s + beta_s * static_cast<double>(timing.message.value);
    sum += std::pow(fitted / timing.time.value - 1, 2);
  }
  return sum;
}

TEST(FitHockney, RecoversTheParameters) {
  std::vector<Timing> timings;
  for (std::uint64_t message = 1; message <= 1U << 30U; message *= 4) {
    timings.push_back({{message}, {70e-6 + 80e-9 * static_cast<double>(message)}});
  }
  const Hockney fit = fit_hockney(timings);
  EXPECT_NEAR(fit.alpha_s.at(0), 70e-6, 1e-15);
  EXPECT_NEAR(fit.beta_s_per_byte.at(0), 80e-9, 1e-18);
}

TEST(FitHockney, NearbyParametersAreWorseOnNoisyTimes) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(0.7, 1.3);
  std::vector<Timing> timings;
  for (std::uint64_t message = 1; message <= 1U << 22U; message *= 2) {
    timings.push_back({{message}, {noise(random) * (7e-6 + 8e-9 * static_cast<double>(message))}});
  }
  const Hockney fit = fit_hockney(timings);
  const double alpha_s = fit.alpha_s.at(0);
  const double beta_s = fit.beta_s_per_byte.at(0);
  const double best = squared_errors(timings, alpha_s, beta_s);
  for (const double by : {0.99, 1.01}) {
    EXPECT_LT(best, squared_errors(timings, alpha_s * by, beta_s));
    EXPECT_LT(best, squared_errors(timings, alpha_s, beta_s * by));
  }
}

// Times that fall with the size, or rise more than in proportion to it.
TEST(FitHockney, NothingIsNegative) {
  const Hockney falling = fit_hockney(std::vector<Timing>{{{1}, {2}}, {{1000}, {1}}});
  EXPECT_EQ(falling.beta_s_per_byte.at(0), 0);
  EXPECT_GT(falling.alpha_s.at(0), 0);
  const Hockney steep = fit_hockney(std::vector<Timing>{{{10}, {1}}, {{20}, {9}}});
  EXPECT_EQ(steep.alpha_s.at(0), 0);
  EXPECT_GT(steep.beta_s_per_byte.at(0), 0);
}

TEST(FitHockney, RefusesWhatCannotBeFitted) {
  EXPECT_EQ(refusal({}), "at least two message sizes are needed");
  EXPECT_EQ(refusal({{{5}, {1}}, {{5}, {2}}}), "at least two message sizes are needed");
  EXPECT_EQ(refusal({{{5}, {1}}, {{6}, {0}}}), "/1: a time of 0 s: must be finite and above 0");
  EXPECT_EQ(refusal({{{5}, {std::numeric_limits<double>::quiet_NaN()}}, {{6}, {1}}}),
            "/0: a time of nan s: must be finite and above 0");
}

}  // namespace
}  // namespace espalier::cost_models::fit_test
