// Measures the simulator's speed in sends (of a segment along an edge) per second, and the memory
// of a run, which must not grow with the segments.
//
//   build/release/bench/simulation_bench [--benchmark_filter=...]
//
// Counters: trees; sends = segments times edges; sends/s; most_events = most events queued at a
// time; peak_MB = additional resident memory of the run; of_plan = achieved share of the plan's
// throughput. docs/performance.md has the results.
#include <benchmark/benchmark.h>

#include <fstream>
#include <string>
#include <string_view>

#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/generators/generators.hpp"
#include "simulate/simulate.hpp"

namespace {

using namespace espalier;

constexpr Bytes kSegment{1 << 20};

platforms::Platform random_platform(std::int64_t nodes) {
  platforms::RandomFamily family;
  family.nodes = static_cast<std::size_t>(nodes);
  family.density = 10.0 / static_cast<double>(nodes - 1);  // ten links per node
  return platforms::generate_random(family);
}

// Resident memory in MB, its peak since the last reset (Linux; 0 elsewhere).
double memory_mb(std::string_view line_of_status) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(line_of_status)) {
      return std::stod(line.substr(line_of_status.size())) / 1024;
    }
  }
  return 0;
}

// Args: nodes, segments.
void simulate_on(benchmark::State& state, const platforms::Platform& platform,
                 const std::string& algorithm, platforms::Model model) {
  const planner::Instance instance(platform, platform.hosts().front(), model);
  const planner::Plan plan = planner::make_plan(
      instance, algorithm, planner::find_algorithm(algorithm).run(instance, {}), kSegment);
  const simulate::Simulator simulator(plan, platform);
  const Bytes message{static_cast<std::uint64_t>(state.range(1)) * kSegment.value};
  std::ofstream("/proc/self/clear_refs") << 5;
  const double before = memory_mb("VmRSS:");
  simulate::Simulation result;
  while (state.KeepRunning()) result = simulator.run(message);
  state.counters["peak_MB"] = memory_mb("VmHWM:") - before;
  state.counters["trees"] = static_cast<double>(plan.broadcast_trees.size());
  state.counters["sends"] = static_cast<double>(result.sends);
  state.counters["sends/s"] = benchmark::Counter(static_cast<double>(result.sends),
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.counters["most_events"] = static_cast<double>(result.most_events);
  state.counters["of_plan"] = result.achieved.value / plan.throughput.value;
}

void simulation(benchmark::State& state, const std::string& algorithm, platforms::Model model) {
  simulate_on(state, random_platform(state.range(0)), algorithm, model);
}

// Hosts around a switch.
void star(benchmark::State& state, const std::string& algorithm) {
  platforms::StarFamily family;
  family.hosts = static_cast<std::size_t>(state.range(0));
  simulate_on(state, platforms::generate_star(family), algorithm, platforms::Model::kOnePort);
}

void arguments(benchmark::internal::Benchmark* bench) {
  bench->Args({1000, 1000})->Args({1000, 10000})->Iterations(1)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(simulation, grow_one_port, "grow", platforms::Model::kOnePort)->Apply(arguments);
BENCHMARK_CAPTURE(simulation, grow_multi_port, "grow", platforms::Model::kMultiPort)
    ->Apply(arguments);
BENCHMARK_CAPTURE(simulation, flat_one_port, "flat", platforms::Model::kOnePort)->Apply(arguments);
BENCHMARK_CAPTURE(simulation, binomial_one_port, "binomial", platforms::Model::kOnePort)
    ->Apply(arguments);
BENCHMARK_CAPTURE(simulation, optimal_one_port, "optimal", platforms::Model::kOnePort)
    ->Apply(arguments);
BENCHMARK_CAPTURE(star, optimal, "optimal")
    ->Args({10000, 100})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
