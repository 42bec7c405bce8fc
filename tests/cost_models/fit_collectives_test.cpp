// Parameters fitted to times that were computed from known parameters.
#include "cost_models/fit/fit_collectives.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tests/cost_models/networks.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::cost_models::fit_collectives_test {
namespace {

using espalier::testing::refusal;

// The times of every algorithm of these operations, predicted with `network`.
std::vector<TimedCase> predicted(const std::vector<std::string>& operations, std::string_view model,
                                 const Parameters& network) {
  std::vector<TimedCase> measured;
  for (const FormulaEntry& entry : formulas()) {
    const bool wanted = std::ranges::find(operations, entry.operation) != operations.end();
    if (!wanted || entry.model() != model) continue;
    for (const std::uint64_t ranks : {3, 4, 7, 16, 32}) {
      for (const std::uint64_t bytes : {1, 64, 1000, 65536, 1000000}) {
        const Case of{ranks, {bytes}, {8192}, {1e-9}};
        measured.push_back({&entry, of, predict(entry, network, of)});
      }
    }
  }
  return measured;
}

void expect_frodo(const LogGP& fitted, double relative) {
  const LogGP& frodo = find_preset("frodo").loggp;
  EXPECT_NEAR(fitted.latency.value / frodo.latency.value, 1, relative);
  EXPECT_NEAR(fitted.overhead.value / frodo.overhead.value, 1, relative);
  EXPECT_NEAR(fitted.gap.value / frodo.gap.value, 1, relative);
  EXPECT_NEAR(fitted.gap_per_byte.value / frodo.gap_per_byte.value, 1, relative);
}

// Reduces have maxima; barriers determine L and o separately.
TEST(FitCollectives, RecoversLogGPsParameters) {
  const auto measured =
      predicted({"barrier", "broadcast", "reduce", "alltoall"}, "loggp", frodo("loggp"));
  const CollectiveFit fit = fit_collectives("loggp", measured);
  expect_frodo(std::get<LogGP>(fit.parameters), 1e-5);
  for (const FittedFigure& figure : fit.figures) {
    EXPECT_TRUE(figure.determined) << figure.name;
    ASSERT_TRUE(figure.error) << figure.name;
    EXPECT_LT(*figure.error, 1e-5 * figure.value) << figure.name;
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_NEAR(fit.predicted[i].value / measured[i].time.value, 1, 1e-5) << i;
  }
}

TEST(FitCollectives, RecoversHockneysParameters) {
  const Parameters network = frodo("hockney");
  const CollectiveFit fit =
      fit_collectives("hockney", predicted({"broadcast"}, "hockney", network));
  const auto& fitted = std::get<Hockney>(fit.parameters);
  EXPECT_NEAR(fitted.alpha_s.at(1) / std::get<Hockney>(network).alpha_s.at(1), 1, 1e-5);
  EXPECT_NEAR(fitted.beta_s_per_byte.at(1) / std::get<Hockney>(network).beta_s_per_byte.at(1), 1,
              1e-5);
}

// Tables at the sizes that predicted() sends: segments, and halves of split-binary.
PLogP curved() {
  const auto table = [](double base, double per_byte) {
    std::vector<PiecewiseLinear::Point> points;
    for (const std::uint64_t size : {1, 32, 64, 500, 1000, 8192, 32768, 500000}) {
      const auto bytes = static_cast<double>(size);
      points.push_back({{size}, base + per_byte * bytes * (size > 10000 ? 1.5 : 1)});
    }
    return PiecewiseLinear(points, PiecewiseLinear::Beyond::kLastSlope);
  };
  return {{40e-6}, table(3e-6, 2e-9), table(4e-6, 3e-9), table(9e-6, 10e-9)};
}

TEST(FitCollectives, RecoversPLogPsTables) {
  const PLogP network = curved();
  const auto measured = predicted({"barrier", "broadcast", "reduce"}, "plogp", network);
  const CollectiveFit fit = fit_collectives("plogp", measured);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_NEAR(fit.predicted[i].value / measured[i].time.value, 1, 1e-5) << i;
  }
  const auto& fitted = std::get<PLogP>(fit.parameters);
  EXPECT_NEAR(fitted.latency.value / network.latency.value, 1, 1e-4);
  ASSERT_EQ(fitted.gap_s.points().size(), 8U);
  std::size_t gaps = 0;
  for (const FittedFigure& figure : fit.figures) {
    if (figure.name != "gap_s" || !figure.determined) continue;
    ++gaps;
    const double wanted = network.gap_s.at(static_cast<double>(figure.size->value));
    EXPECT_NEAR(figure.value / wanted, 1, 1e-4) << figure.size->value;
  }
  EXPECT_EQ(gaps, 8U);
}

// Messages of one share, or several.
TEST(FitCollectives, RecoversParametersFromOperationsWithShares) {
  const std::vector<std::string> operations{"allgather", "reduce-scatter", "scatter", "gather"};
  expect_frodo(
      std::get<LogGP>(
          fit_collectives("loggp", predicted(operations, "loggp", frodo("loggp"))).parameters),
      1e-5);
  const PLogP network = curved();
  std::vector<TimedCase> measured;
  for (const char* const algorithm : {"ring", "bruck", "recursive-doubling"}) {
    for (const std::uint64_t ranks : {2, 4, 8, 16}) {
      const FormulaEntry& entry = entry_of("allgather", algorithm, "plogp");
      const Case of{ranks, {16'000}, {}, {}};
      measured.push_back({&entry, of, predict(entry, network, of)});
    }
  }
  const CollectiveFit fit = fit_collectives("plogp", measured);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_NEAR(fit.predicted[i].value / measured[i].time.value, 1, 1e-5) << i;
  }
  for (const double bytes : {1000.0, 2000.0, 4000.0, 8000.0}) {
    EXPECT_NEAR(std::get<PLogP>(fit.parameters).gap_s.at(bytes) +
                    std::get<PLogP>(fit.parameters).latency.value,
                network.gap_s.at(bytes) + network.latency.value, 1e-9)
        << bytes;
  }
}

// Broadcasts determine g at each segment size, and nothing of the overheads.
TEST(FitCollectives, DeterminesPLogPsGapsFromBroadcastsAlone) {
  const FormulaEntry& entry = entry_of("broadcast", "pipeline", "plogp");
  const PLogP network = curved();
  std::vector<TimedCase> measured;
  for (const std::uint64_t ranks : {3, 9, 30}) {
    for (const std::uint64_t segment : {64, 8192}) {
      const Case of{ranks, {1'000'000}, {segment}, {}};
      measured.push_back({&entry, of, predict(entry, network, of)});
    }
  }
  const CollectiveFit fit = fit_collectives("plogp", measured);
  EXPECT_NEAR(std::get<PLogP>(fit.parameters).latency.value, 40e-6, 1e-9);
  EXPECT_NEAR(std::get<PLogP>(fit.parameters).gap_s.at(8192), network.gap_s.at(8192), 1e-9);
  for (const FittedFigure& figure : fit.figures) {
    const bool overhead = figure.name != "latency_s" && figure.name != "gap_s";
    EXPECT_EQ(figure.determined, !overhead) << figure.name;
    EXPECT_TRUE(!overhead || figure.value == 0) << figure.name;
  }
}

TEST(FitCollectives, UsesAtMostKMostFittedSizes) {
  const FormulaEntry& entry = entry_of("broadcast", "linear", "plogp");
  std::vector<TimedCase> measured;
  for (std::uint64_t size = 1; size <= 100; ++size) {
    const Case of{5, {size}, {}, {}};
    measured.push_back({&entry, of, predict(entry, curved(), of)});
  }
  const CollectiveFit fit = fit_collectives("plogp", measured);
  const auto& points = std::get<PLogP>(fit.parameters).gap_s.points();
  ASSERT_EQ(points.size(), kMostFittedSizes);
  EXPECT_EQ(points.front().size.value, 1U);
  EXPECT_EQ(points.back().size.value, 100U);
}

// 5 % of noise, and every 20th measurement 5 times too slow.
TEST(FitCollectives, IgnoresOutliers) {
  auto measured = predicted({"barrier", "broadcast"}, "loggp", frodo("loggp"));
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.05);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    measured[i].time.value *= std::exp(noise(random)) * (i % 20 == 3 ? 5 : 1);
  }
  const CollectiveFit fit = fit_collectives("loggp", measured);
  const LogGP& known = find_preset("frodo").loggp;
  const std::vector<double> wanted{known.latency.value, known.overhead.value, known.gap.value,
                                   known.gap_per_byte.value};
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const FittedFigure& figure = fit.figures[j];
    ASSERT_TRUE(figure.error) << figure.name;
    EXPECT_GT(*figure.error, 0) << figure.name;
    EXPECT_LT(*figure.error, 0.5 * wanted[j]) << figure.name;
    EXPECT_NEAR(figure.value, wanted[j], 4 * *figure.error) << figure.name;
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (i % 20 == 3) {
      EXPECT_EQ(fit.weights[i], 0) << i;
    }
  }
}

// In linear, pipeline and binomial broadcasts L and o occur only as L + 2 o.
TEST(FitCollectives, ReportsWhatIsNotDetermined) {
  std::vector<TimedCase> measured;
  for (const TimedCase& one : predicted({"broadcast"}, "loggp", frodo("loggp"))) {
    if (one.entry->algorithm == "pipeline" || one.entry->algorithm == "binomial") {
      measured.push_back(one);
    }
  }
  const CollectiveFit fit = fit_collectives("loggp", measured);
  EXPECT_FALSE(fit.figures[0].determined);
  EXPECT_FALSE(fit.figures[1].determined);
  EXPECT_TRUE(fit.figures[2].determined);
  EXPECT_TRUE(fit.figures[3].determined);
  EXPECT_FALSE(fit.figures[0].error);
  const auto& fitted = std::get<LogGP>(fit.parameters);
  EXPECT_EQ(fitted.overhead.value, 0);
  EXPECT_NEAR(fitted.latency.value / (61.22e-6 + 2 * 8.2e-6), 1, 1e-5);
}

// Times that fall with the size must not give a negative G.
TEST(FitCollectives, IsNeverNegative) {
  std::vector<TimedCase> measured;
  for (const std::uint64_t bytes : {1, 1000, 100000}) {
    measured.push_back({&entry_of("broadcast", "linear", "hockney"),
                        {4, {bytes}, {}, {}},
                        {1e-3 / (1 + static_cast<double>(bytes))}});
  }
  const CollectiveFit fit = fit_collectives("hockney", measured);
  const auto& fitted = std::get<Hockney>(fit.parameters);
  EXPECT_GE(fitted.alpha_s.at(1), 0);
  EXPECT_EQ(fitted.beta_s_per_byte.at(1), 0);
}

// Times that no network has: the fit ends, and no parameter is negative.
TEST(FitCollectives, EndsWithTimesOfAnySize) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> digits(-250, 250);
  for (const std::string_view model : kModelNames) {
    auto measured = predicted({"broadcast"}, model, frodo(model));
    for (TimedCase& one : measured) one.time.value = std::pow(10, digits(random));
    try {
      for (const FittedFigure& figure : fit_collectives(model, measured).figures) {
        EXPECT_GE(figure.value, 0) << model << ' ' << figure.name;
      }
    } catch (const InputError&) {
      continue;  // a prediction that overflows a double
    }
  }
}

TEST(FitCollectives, RefusesWhatCannotBeFitted) {
  auto measured = predicted({"broadcast"}, "loggp", frodo("loggp"));
  measured.resize(3);
  EXPECT_EQ(refusal([&] { return fit_collectives("loggp", measured); }),
            "3 measured times are too few for 4 parameters");
  measured = predicted({"broadcast"}, "loggp", frodo("loggp"));
  measured[2].time.value = 0;
  EXPECT_EQ(refusal([&] { return fit_collectives("loggp", measured); }),
            "/2: a time of 0 s: must be finite and above 0");
}

}  // namespace
}  // namespace espalier::cost_models::fit_collectives_test
