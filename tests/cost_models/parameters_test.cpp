// Parameters: presets, tables over the message size, conversions, and refusals.
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cost_models/presets.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::cost_models::parameters_test {
namespace {

using namespace espalier::testing;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// CM, table 5.
TEST(Presets, AreAsPrinted) {
  const auto expect_us = [](const char* name, double latency, double overhead, double gap,
                            double per_byte) {
    const LogGP& loggp = find_preset(name).loggp;
    EXPECT_DOUBLE_EQ(loggp.latency.value * 1e6, latency);
    EXPECT_DOUBLE_EQ(loggp.overhead.value * 1e6, overhead);
    EXPECT_DOUBLE_EQ(loggp.gap.value * 1e6, gap);
    EXPECT_DOUBLE_EQ(loggp.gap_per_byte.value * 1e6, per_byte);
  };
  expect_us("boba", 30.40, 8.15, 8.683, 0.015);
  expect_us("frodo", 61.22, 8.2, 23.8, 0.084);
}

TEST(Presets, UnknownNamesSuggestTheNearest) {
  EXPECT_EQ(refusal([] { (void)find_preset("frood"); }),
            "unknown preset 'frood'; did you mean 'frodo'? one of: boba, frodo");
}

TEST(PiecewiseLinear, InterpolatesBetweenItsPoints) {
  const PiecewiseLinear table({{Bytes{10}, 4}, {Bytes{20}, 8}, {Bytes{40}, 9}});
  EXPECT_EQ(table.at(0), 4);
  EXPECT_EQ(table.at(10), 4);
  EXPECT_DOUBLE_EQ(table.at(12.5), 5);
  EXPECT_EQ(table.at(20), 8);
  EXPECT_DOUBLE_EQ(table.at(30), 8.5);
  EXPECT_EQ(table.at(4000), 9);
  const PiecewiseLinear rising({{Bytes{20}, 8}, {Bytes{40}, 9}},
                               PiecewiseLinear::Beyond::kLastSlope);
  EXPECT_DOUBLE_EQ(rising.at(80), 11);
  EXPECT_EQ(PiecewiseLinear({{Bytes{20}, 8}}, PiecewiseLinear::Beyond::kLastSlope).at(90), 8);
  const PiecewiseLinear falling({{Bytes{20}, 9}, {Bytes{40}, 8}},
                                PiecewiseLinear::Beyond::kLastSlope);
  EXPECT_EQ(falling.at(80), 8);
  EXPECT_EQ(PiecewiseLinear(3).at(1e18), 3);
}

TEST(PiecewiseLinear, RefusesInvalidTables) {
  using Points = std::vector<PiecewiseLinear::Point>;
  const auto refused = [](const Points& points) {
    return refusal([&] { const PiecewiseLinear table(points); });
  };
  EXPECT_EQ(refused({}), "a table needs at least one point");
  EXPECT_EQ(refused({{Bytes{1}, -1}}), "/0: must be finite and at least 0, not -1");
  EXPECT_EQ(refused({{Bytes{1}, 1}, {Bytes{2}, kNaN}}),
            "/1: must be finite and at least 0, not nan");
  EXPECT_EQ(refused({{Bytes{1}, 1}, {Bytes{1}, 2}}), "/1: sizes must ascend");
  EXPECT_EQ(refused({{Bytes{1}, 2}, {Bytes{2}, 1}}), "(not refused)");
  EXPECT_EQ(refusal([] { const PiecewiseLinear table(kNaN); }),
            "/0: must be finite and at least 0, not nan");
}

TEST(Parameters, RefusesInvalidTimes) {
  const LogGP good = find_preset("boba").loggp;
  const auto refused = [&](const std::function<void(LogGP&)>& change) {
    LogGP bad = good;
    change(bad);
    return refusal([&] { check(bad); });
  };
  EXPECT_EQ(refused([](LogGP&) {}), "(not refused)");
  EXPECT_EQ(refused([](LogGP& m) { m.latency = {-1}; }),
            "latency: must be finite and at least 0 s, not -1");
  EXPECT_EQ(refused([](LogGP& m) { m.overhead = {kNaN}; }),
            "overhead: must be finite and at least 0 s, not nan");
  EXPECT_EQ(refused([](LogGP& m) { m.gap = {-2}; }),
            "gap: must be finite and at least 0 s, not -2");
  EXPECT_EQ(refused([](LogGP& m) { m.gap_per_byte = {std::numeric_limits<double>::infinity()}; }),
            "gap per byte: must be finite and at least 0 s, not inf");
  EXPECT_EQ(refusal([] {
              check(PLogP{{1}, 3, 1, 2});
            }),
            "gap: is less than an overhead at 1 bytes");
  EXPECT_EQ(refusal([] {
              check(PLogP{{kNaN}, 1, 1, 2});
            }),
            "latency: must be finite and at least 0 s, not nan");
}

TEST(Conversions, LogPHasNoGapPerByte) {
  const LogGP boba = find_preset("boba").loggp;
  EXPECT_EQ(logp(boba).gap_per_byte.value, 0);
  EXPECT_EQ(logp(boba).gap, boba.gap);
}

// L' = 50 + 12 - 3 - 5, o = 4, g = 12, G = 4106 / 4095.
TEST(Conversions, KielmannsFromPLogP) {
  const PLogP plogp{{50}, 3, 5, PiecewiseLinear({{Bytes{1}, 12}, {Bytes{4095}, 4106}})};
  const LogGP loggp = loggp_from(plogp);
  EXPECT_DOUBLE_EQ(loggp.latency.value, 54);
  EXPECT_DOUBLE_EQ(loggp.overhead.value, 4);
  EXPECT_DOUBLE_EQ(loggp.gap.value, 12);
  EXPECT_DOUBLE_EQ(loggp.gap_per_byte.value, 4106.0 / 4095);
  EXPECT_EQ(refusal([] {
              (void)loggp_from(PLogP{{50}, 3, 5, 12});
            }),
            "gap: must be a table up to a large size to give G");
  const PLogP odd{{0}, 12, 12, PiecewiseLinear({{Bytes{1}, 12}, {Bytes{4095}, 4106}})};
  EXPECT_EQ(refusal([&] { (void)loggp_from(odd); }),
            "latency: must be finite and at least 0 s, not -12");
}

// One message and two consecutive ones take as long as before. Converted back, the parameters are
// the same, except for the share of g in g(m) / m.
TEST(Conversions, FromLogGPKeepTimes) {
  for (const Preset& preset : presets()) {
    const LogGP& loggp = preset.loggp;
    const PLogP plogp = plogp_from(loggp);
    const Hockney hockney = hockney_from(loggp);
    for (const double bytes : {1.0, 1000.0, 1e6, 5e9}) {
      const double bytes_s = (bytes - 1) * loggp.gap_per_byte.value;
      const double time = loggp.latency.value + 2 * loggp.overhead.value + bytes_s;
      EXPECT_NEAR(plogp.latency.value + plogp.gap_s.at(bytes), time, 1e-12 * time);
      EXPECT_NEAR(plogp.gap_s.at(bytes), loggp.gap.value + bytes_s, 1e-12 * time);
      EXPECT_NEAR(hockney.alpha_s.at(bytes) + bytes * hockney.beta_s_per_byte.at(bytes), time,
                  1e-12 * time);
    }
    const LogGP back = loggp_from(plogp);
    EXPECT_NEAR(back.latency.value, loggp.latency.value, 1e-15);
    EXPECT_NEAR(back.overhead.value, loggp.overhead.value, 1e-15);
    EXPECT_NEAR(back.gap.value, loggp.gap.value, 1e-15);
    EXPECT_NEAR(back.gap_per_byte.value, loggp.gap_per_byte.value, 1e-13);
  }
}

TEST(Conversions, RefuseWhatTheOtherModelCannotExpress) {
  EXPECT_EQ(refusal([] {
              (void)plogp_from({{10}, {5}, {4}, {1}});
            }),
            "gap: is less than an overhead at 1 bytes");
  EXPECT_EQ(refusal([] {
              (void)plogp_from({{1}, {1}, {9}, {1}});
            }),
            "latency: must be finite and at least 0 s, not -6");
  EXPECT_EQ(refusal([] {
              (void)hockney_from({{1}, {0}, {9}, {2}});
            }),
            "latency: must be finite and at least 0 s, not -1");
}

}  // namespace
}  // namespace espalier::cost_models::parameters_test
