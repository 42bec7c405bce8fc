// The simulator on hosts of the LogGP model against CM's closed formulas.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "cost_models/formulas/predict.hpp"
#include "planner/problem/any_problem.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/simulate.hpp"
#include "support/errors.hpp"
#include "tests/cost_models/networks.hpp"

namespace espalier::simulate::loggp_forms_test {
namespace {

using platforms::LogGPFamily;

LogGPFamily family_of(const cost_models::LogGP& loggp, std::size_t hosts) {
  LogGPFamily family;
  family.hosts = hosts;
  family.latency = loggp.latency;
  family.overhead = loggp.overhead;
  family.gap = loggp.gap;
  family.per_byte = {loggp.gap_per_byte.value};
  return family;
}

double simulated(const char* algorithm, const cost_models::LogGP& loggp, std::size_t hosts,
                 Bytes message, Bytes segment,
                 planner::Operation operation = planner::Operation::kBroadcast) {
  const platforms::Platform platform = platforms::generate_loggp(family_of(loggp, hosts));
  std::optional<platforms::NodeId> root;
  if (planner::needs_root(operation)) root = platform.hosts().front();
  const planner::Plan plan =
      planner::on_problem(operation, platform, root, platforms::Model::kOnePortUnidirectional, {},
                          {}, [&](const auto& problem) {
                            const planner::Outcome outcome = planner::run(
                                planner::find_algorithm(algorithm, operation), problem, {});
                            return planner::make_plan(problem, algorithm, outcome, segment);
                          });
  return Simulator(plan, platform).run(message).makespan.value;
}

double predicted(const char* formula, const cost_models::LogGP& loggp, std::size_t hosts,
                 Bytes message, Bytes segment,
                 planner::Operation operation = planner::Operation::kBroadcast) {
  return predict(cost_models::entry_of(planner::name_of(operation), formula, "loggp"), loggp,
                 {hosts, message, segment, {}})
      .value;
}

// Binary: of full trees, for which the formula is exact (docs/models.md).
TEST(LogGPForms, BroadcastsTakeAsLongAsByTheFormulas) {
  constexpr double kRounding = 1e-6;
  for (const cost_models::Preset& preset : cost_models::presets()) {
    for (const std::uint64_t segment : {1024U, 8192U}) {
      for (const std::uint64_t segments : {1U, 2U, 16U}) {
        const Bytes message{segments * segment};
        SCOPED_TRACE(fmt::format("{}, {} segments of {}", preset.name, segments, segment));
        const auto expect = [&](const char* algorithm, const char* formula, std::size_t hosts) {
          EXPECT_NEAR(simulated(algorithm, preset.loggp, hosts, message, {segment}) /
                          predicted(formula, preset.loggp, hosts, message, {segment}),
                      1, kRounding)
              << formula << " on " << hosts;
        };
        for (const std::size_t hosts : {2U, 5U, 9U}) {
          expect("chain", "pipeline", hosts);
          expect("flat", "linear", hosts);
        }
        expect("binary", "binary", 7);
        expect("binary", "binary", 15);
      }
    }
  }
}

// A plan sends each part by itself, so that there are no messages of several shares, unlike in
// binomial trees, Bruck's and recursive doubling. In each step of a ring a message may wait for
// a processor that is sending.
TEST(LogGPForms, SharesTakeAsLongAsByTheFormulas) {
  using enum planner::Operation;
  constexpr double kRounding = 1e-6;
  for (const cost_models::Preset& preset : cost_models::presets()) {
    for (const std::size_t hosts : {2U, 5U, 8U}) {
      for (const std::uint64_t share : {1024U, 8192U}) {
        SCOPED_TRACE(fmt::format("{}, {} shares of {}", preset.name, hosts, share));
        const Bytes message{hosts * share};
        for (const planner::Operation operation : {kScatter, kGather}) {
          EXPECT_NEAR(simulated("flat", preset.loggp, hosts, message, message, operation) /
                          predicted("linear", preset.loggp, hosts, message, {}, operation),
                      1, kRounding);
        }
        for (const planner::Operation operation : {kAllgather, kReduceScatter}) {
          const double waiting =
              simulated("ring", preset.loggp, hosts, message, message, operation) -
              predicted("ring", preset.loggp, hosts, message, {}, operation);
          EXPECT_GE(waiting, 0);
          const double sends_s = static_cast<double>(hosts - 1) * preset.loggp.overhead.value;
          EXPECT_LE(waiting, 1.25 * sends_s);  // and a little for their bytes
        }
      }
    }
  }
}

// A processor does not send while it receives: where o exceeds half of g + (s - 1) G, the next send
// of a chain's inner host waits, which the formula does not count.
TEST(LogGPForms, AProcessorSendsAndReceivesInTurn) {
  const cost_models::LogGP busy{{20e-6}, {10e-6}, {10e-6}, {1e-9}};
  const Bytes message{64 * 1000};
  EXPECT_GT(simulated("chain", busy, 4, message, {1000}),
            1.5 * predicted("pipeline", busy, 4, message, {1000}));
}

TEST(LogGPForms, RefusesWhatIsNotLogGP) {
  LogGPFamily family;
  family.gap = {1e-6};
  EXPECT_THROW(platforms::generate_loggp(family), InputError);  // o > g
  family = {};
  family.per_byte = {};
  EXPECT_THROW(platforms::generate_loggp(family), InputError);
  family = {};
  family.spread.slow = {{0.5, 2}};
  EXPECT_THROW(platforms::generate_loggp(family), InputError);
}

}  // namespace
}  // namespace espalier::simulate::loggp_forms_test
