// Measures how long topology-oblivious trees take to construct, on each rank of a communicator: the
// whole trees, and one rank's relatives alone (the mean over ranks spread over all). TTC calls the
// construction of TwoTreeC O(1) for each process, and that of TwoTreeS longer because of its
// coloring.
//
//   build/release/bench/trees_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>

#include <cstdint>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "planner/plan/shapes/relatives.hpp"

namespace {

using namespace espalier::planner;

template <ObliviousShape shape>
void whole(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(shape(ranks));
}

void relatives(benchmark::State& state, const char* algorithm) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  std::uint32_t rank = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(relatives_of(algorithm, ranks, 0, rank));
    rank = (rank + ranks / 2 + 1) % ranks;  // odd, and so all of a power of two
  }
}

void sizes(benchmark::internal::Benchmark* of) {
  for (std::int64_t ranks = 16; ranks <= 8192; ranks *= 8) of->Arg(ranks);
  of->Arg(65536)->Arg(131072);
}

BENCHMARK(whole<chain_shape>)->Apply(sizes);
BENCHMARK(whole<binomial_shape>)->Apply(sizes);
BENCHMARK(whole<two_tree_complete_shape>)->Apply(sizes);
BENCHMARK(whole<two_tree_in_order_shape>)->Apply(sizes);  // TwoTreeS without its colors
BENCHMARK(whole<two_tree_sanders_shape>)->Apply(sizes);
BENCHMARK_CAPTURE(relatives, chain, "chain")->Apply(sizes);
BENCHMARK_CAPTURE(relatives, binomial, "binomial")->Apply(sizes);
BENCHMARK_CAPTURE(relatives, two_tree_complete, "two-tree-complete")->Apply(sizes);
BENCHMARK_CAPTURE(relatives, two_tree_sanders, "two-tree-sanders")->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
