// Parameters: presets, tables over the message size, conversions, and what is refused.
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cost_models/presets.hpp"
#include "support/errors.hpp"

namespace espalier::cost_models {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& fault) {
    return fault.what();
  }
  return "taken";
}

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

TEST(Presets, UnknownNamesOfferTheNearest) {
  EXPECT_EQ(refusal([] { (void)find_preset("frood"); }),
            "unknown preset 'frood'; did you mean 'frodo'? one of: boba, frodo");
}

TEST(PiecewiseLinear, RunsBetweenItsPoints) {
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
  EXPECT_EQ(PiecewiseLinear(3).at(1e18), 3);
}

TEST(PiecewiseLinear, RefusesWhatIsNoTable) {
  using Points = std::vector<PiecewiseLinear::Point>;
  const auto refused = [](const Points& points,
                          PiecewiseLinear::Beyond beyond = PiecewiseLinear::Beyond::kConstant) {
    return refusal([&] { const PiecewiseLinear table(points, beyond); });
  };
  EXPECT_EQ(refused({}), "a table needs at least one point");
  EXPECT_EQ(refused({{Bytes{1}, -1}}), "/0: -1 is not finite and at least 0");
  EXPECT_EQ(refused({{Bytes{1}, 1}, {Bytes{2}, kNaN}}), "/1: nan is not finite and at least 0");
  EXPECT_EQ(refused({{Bytes{1}, 1}, {Bytes{1}, 2}}), "/1: sizes must ascend");
  EXPECT_EQ(refused({{Bytes{1}, 2}, {Bytes{2}, 1}}), "taken");
  EXPECT_EQ(refused({{Bytes{1}, 2}, {Bytes{2}, 1}}, PiecewiseLinear::Beyond::kLastSlope),
            "/1: the last slope, which goes on, must not fall");
  EXPECT_EQ(refusal([] { const PiecewiseLinear table(kNaN); }),
            "/0: nan is not finite and at least 0");
}

TEST(Parameters, RefusesFiguresThatAreNoTimes) {
  const LogGP good = find_preset("boba").loggp;
  const auto refused = [&](const std::function<void(LogGP&)>& spoil) {
    LogGP bad = good;
    spoil(bad);
    return refusal([&] { check(bad); });
  };
  EXPECT_EQ(refused([](LogGP&) {}), "taken");
  EXPECT_EQ(refused([](LogGP& m) { m.latency = {-1}; }),
            "latency: -1 is not finite and at least 0 seconds");
  EXPECT_EQ(refused([](LogGP& m) { m.overhead = {kNaN}; }),
            "overhead: nan is not finite and at least 0 seconds");
  EXPECT_EQ(refused([](LogGP& m) { m.gap = {-2}; }),
            "gap: -2 is not finite and at least 0 seconds");
  EXPECT_EQ(refused([](LogGP& m) { m.gap_per_byte = {std::numeric_limits<double>::infinity()}; }),
            "gap per byte: inf is not finite and at least 0 seconds");
  EXPECT_EQ(refusal([] { check(PLogP{{1}, 3, 1, 2}); }), "gap: is below an overhead at 1 bytes");
  EXPECT_EQ(refusal([] {
              check(PLogP{{kNaN}, 1, 1, 2});
            }),
            "latency: nan is not finite and at least 0 seconds");
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
            "gap: a table up to a large size is needed for G");
  const PLogP odd{{0}, 12, 12, PiecewiseLinear({{Bytes{1}, 12}, {Bytes{4095}, 4106}})};
  EXPECT_EQ(refusal([&] { (void)loggp_from(odd); }),
            "latency: -12 is not finite and at least 0 seconds");
}

// One message and a row of two take as long as before; back again nothing is lost but what g(m) / m
// has of g.
TEST(Conversions, FromLogGPKeepTimes) {
  for (const Preset& preset : presets()) {
    const LogGP& loggp = preset.loggp;
    const PLogP plogp = plogp_from(loggp);
    const Hockney hockney = hockney_from(loggp);
    for (const double bytes : {1.0, 1000.0, 1e6, 5e9}) {
      const double link = (bytes - 1) * loggp.gap_per_byte.value;
      const double time = loggp.latency.value + 2 * loggp.overhead.value + link;
      EXPECT_NEAR(plogp.latency.value + plogp.gap_s.at(bytes), time, 1e-12 * time);
      EXPECT_NEAR(plogp.gap_s.at(bytes), loggp.gap.value + link, 1e-12 * time);
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

TEST(Conversions, RefuseWhatTheOtherModelCannotSay) {
  EXPECT_EQ(refusal([] {
              (void)plogp_from({{10}, {5}, {4}, {1}});
            }),
            "gap: is below an overhead at 1 bytes");
  EXPECT_EQ(refusal([] {
              (void)plogp_from({{1}, {1}, {9}, {1}});
            }),
            "latency: -6 is not finite and at least 0 seconds");
  EXPECT_EQ(refusal([] {
              (void)hockney_from({{1}, {0}, {9}, {2}});
            }),
            "latency: -1 is not finite and at least 0 seconds");
}

}  // namespace
}  // namespace espalier::cost_models
