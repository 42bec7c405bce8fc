// Times reading and writing of a platform with 5,000 arcs in every format that can be written, and
// of a plan of 8 or 160 trees over 10,000 hosts and a switch, as a file and as the bytes that ranks
// get.
//
//   build/release/bench/formats_bench [--benchmark_filter=...]
//
// Counters: arcs; kB of the text. docs/performance.md has its results.
#include <benchmark/benchmark.h>

#include <string>

#include "planner/plan/plan.hpp"
#include "planner/plan/plan_bytes.hpp"
#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"

namespace {

using namespace espalier;

// 500 hosts, 2,500 bidirectional links: supported by every format.
platforms::Platform plain_platform() {
  platforms::RandomFamily family;
  family.nodes = 500;
  family.density = 2500.0 / (500.0 * 499.0 / 2);
  return platforms::generate_random(family);
}

void count(benchmark::State& state, const platforms::Platform& platform, const std::string& text) {
  state.counters["arcs"] = static_cast<double>(platform.arcs().size());
  state.counters["kB"] = static_cast<double>(text.size()) / 1e3;
}

void writing(benchmark::State& state, std::string_view format) {
  const platforms::Platform platform = plain_platform();
  std::string text;
  for (auto _ : state) benchmark::DoNotOptimize(text = write_platform(platform, format));
  count(state, platform, text);
}

void reading(benchmark::State& state, std::string_view format) {
  const std::string text = write_platform(plain_platform(), format);
  platforms::Platform platform;
  for (auto _ : state) {
    benchmark::DoNotOptimize(platform = platforms::parse_platform(text, "bench").platform);
  }
  count(state, platform, text);
}

// Binary trees over the hosts in the order of their numbers, from one host on after another.
planner::Plan large_plan(std::int64_t trees) {
  constexpr std::uint32_t kHosts = 10'000;
  planner::Plan plan;
  plan.source = "h0";
  for (std::uint32_t i = 0; i < kHosts; ++i) plan.nodes.push_back("h" + std::to_string(i));
  for (std::uint32_t t = 0; t < trees; ++t) {
    planner::PlanTree& tree = plan.broadcast_trees.emplace_back();
    tree.rate = {1e6};
    const auto host = [&](std::uint32_t i) {
      return i == 0 ? 0 : 1 + (i - 1 + t * 61) % (kHosts - 1);
    };
    for (std::uint32_t i = 1; i < kHosts; ++i) {
      tree.edges.push_back({host((i - 1) / 2), host(i)});
      tree.latencies.push_back({4e-5});
      tree.via[{host((i - 1) / 2), host(i)}] = {"s0"};
    }
  }
  plan.throughput = {1e6 * static_cast<double>(trees)};
  return plan;
}

// Arg: trees.
void plan_from_file(benchmark::State& state) {
  const std::string text = planner::to_json(large_plan(state.range(0)));
  for (auto _ : state) {
    planner::Plan plan = planner::parse_plan(text, "bench");
    planner::check_structure(plan);
    benchmark::DoNotOptimize(plan);
  }
  state.counters["kB"] = static_cast<double>(text.size()) / 1e3;
}

void plan_from_bytes(benchmark::State& state) {
  const std::string bytes = planner::to_bytes(large_plan(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(planner::from_bytes(bytes));
  state.counters["kB"] = static_cast<double>(bytes.size()) / 1e3;
}

BENCHMARK(plan_from_file)->Arg(8)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_from_bytes)->Arg(8)->Arg(160)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int arguments, char** values) {
  for (const platforms::FormatEntry& format : platforms::formats()) {
    if (format.write == nullptr) continue;
    const std::string name(format.name);
    benchmark::RegisterBenchmark(("write/" + name).c_str(), writing, format.name)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("read/" + name).c_str(), reading, format.name)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&arguments, values);
  if (benchmark::ReportUnrecognizedArguments(arguments, values)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
