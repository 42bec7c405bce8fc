// Times reading and writing of a platform with 5,000 arcs in every format that can be written.
//
//   build/release/bench/formats_bench [--benchmark_filter=...]
//
// Counters: arcs; kB of the text. docs/performance.md has its results.
#include <benchmark/benchmark.h>

#include <string>

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
