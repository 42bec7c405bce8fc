// Measures the planner's speed, as ratios within one run: the packing against the papers' flow LP
// on the same platforms, its scaling with nodes and arcs, and the arborescence alone against the
// plain algorithm.
//
//   build/release/bench/planning_bench [--benchmark_filter=...]
//
// Counters: arcs; priced = arborescences priced; trees; gap; peak_MB = peak resident memory of the
// case; and the ratio of the case. docs/performance.md has the results.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "lp/graph/min_cost_arborescence.hpp"
#include "planner/problem/any_problem.hpp"
#include "planner/problem/instance.hpp"
#include "planner/registry.hpp"
#include "planner/solve/budget.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/formats/formats.hpp"
#include "platforms/formats/text/prices.hpp"
#include "platforms/generators/generators.hpp"
#include "support/files.hpp"
#include "tests/lp/plain_certificate.hpp"
#include "tests/lp/plain_flow_lp.hpp"

namespace {

using namespace espalier;

platforms::Platform random_platform(std::int64_t nodes, std::int64_t links,
                                    std::uint64_t seed = 1) {
  platforms::RandomFamily family;
  family.seed = seed;
  family.nodes = static_cast<std::size_t>(nodes);
  const double pairs = static_cast<double>(nodes) * static_cast<double>(nodes - 1) / 2;
  family.density = static_cast<double>(links) / pairs;
  return platforms::generate_random(family);
}

struct Case {
  platforms::Platform platform;
  planner::Instance instance;
  lp::PackingProblem problem;

  // The instance refers to the platform, so a case must not be copied or moved.
  Case(std::int64_t nodes, std::int64_t links, platforms::Model model)
      : platform(random_platform(nodes, links)),
        instance(platform, platform.hosts().front(), model),
        problem{instance.digraph(), static_cast<std::uint32_t>(instance.source()),
                instance.occupation().seconds_per_byte} {}
};

double seconds_of(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.elapsed().value;
}

// Peak resident memory since the last reset, in MB (Linux; 0 elsewhere).
void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << 5;
}
double peak_memory_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

void count(benchmark::State& state, const Case& of, const lp::Packing& packing) {
  state.counters["arcs"] = static_cast<double>(of.platform.arcs().size());
  state.counters["priced"] = static_cast<double>(packing.arborescences_priced);
  state.counters["trees"] = static_cast<double>(packing.trees.size());
  state.counters["gap"] = packing.bound / packing.rate - 1;
}

// Args: nodes, bidirectional links, model.
void packing_scales(benchmark::State& state) {
  const Case with(state.range(0), state.range(1),
                  platforms::models()[static_cast<std::size_t>(state.range(2))].model);
  reset_peak_memory();
  lp::Packing packing;
  lp::PackingOptions options;
  options.deadline = Deadline(Seconds{60});
  while (state.KeepRunning()) packing = lp::pack_arborescences(with.problem, options);
  count(state, with, packing);
  state.counters["peak_MB"] = peak_memory_mb();
  state.SetLabel(std::string(platforms::name_of(with.instance.model())));
}

// Dense networks, in which almost every resource is full at the optimum: the complete `optimal` on
// 1,000 hosts and 50,000 links, within a minute. Args: operation, model, source.
void plan_dense(benchmark::State& state) {
  const platforms::Platform platform = random_platform(1000, 25000, 5);
  const auto operation = planner::kEveryOperation[static_cast<std::size_t>(state.range(0))];
  const platforms::Model model =
      platforms::models()[static_cast<std::size_t>(state.range(1))].model;
  const auto source = platform.hosts()[static_cast<std::size_t>(state.range(2))];
  const auto root = planner::has_parts(operation) ? std::nullopt : std::optional(source);
  planner::AlgorithmOptions options;
  options.deadline = Deadline(Seconds{60});
  reset_peak_memory();
  while (state.KeepRunning()) {
    planner::on_problem(operation, platform, root, model, {}, {}, [&](const auto& problem) {
      const planner::Outcome outcome =
          planner::run(planner::find_algorithm(planner::kOptimal, operation), problem, options);
      const planner::Plan plan =
          planner::make_plan(problem, "optimal", outcome, planner::kDefaultSegment);
      state.counters["trees"] = static_cast<double>(planner::tree_count(plan));
      state.counters["depth"] = static_cast<double>(planner::figures_of(plan).depth);
      state.counters["gap"] = 1 - plan.throughput.value / outcome.bound.value().value;
    });
  }
  state.counters["peak_MB"] = peak_memory_mb();
  state.SetLabel(fmt::format("{}, {}", planner::name_of(operation), platforms::name_of(model)));
}

// The complete `optimal`: including the heuristics' trees, the search for few trees, and
// flattening.
void optimal_plan_scales(benchmark::State& state) {
  const Case with(state.range(0), state.range(1), platforms::Model::kOnePort);
  reset_peak_memory();
  planner::Outcome outcome;
  while (state.KeepRunning()) outcome = planner::find_algorithm("optimal").run(with.instance, {});
  state.counters["arcs"] = static_cast<double>(with.platform.arcs().size());
  state.counters["priced"] = static_cast<double>(outcome.iterations);
  state.counters["trees"] = static_cast<double>(outcome.trees.size());
  state.counters["peak_MB"] = peak_memory_mb();
}

// One solution of each on the same platform; ratio: time of the flow LP over time of the packing.
void packing_against_flow_lp(benchmark::State& state) {
  const Case with(state.range(0), state.range(1), platforms::Model::kOnePort);
  constexpr int kRuns = 20;  // of the packing, which takes milliseconds
  lp::Packing packing;
  lp::FlowSolution flow;
  double packing_seconds = 0;
  double flow_seconds = 0;
  while (state.KeepRunning()) {
    packing_seconds = seconds_of([&] {
                        for (int i = 0; i < kRuns; ++i)
                          packing = lp::pack_arborescences(with.problem);
                      }) /
                      kRuns;
    flow_seconds = seconds_of([&] { flow = lp::solve_flow_lp(with.problem, Seconds{300}); });
  }
  count(state, with, packing);
  state.counters["packing_s"] = packing_seconds;
  state.counters["flow_s"] = flow_seconds;
  state.counters["ratio"] = flow_seconds / packing_seconds;
  state.counters["difference"] =
      flow.status == lp::LpStatus::kOptimal ? packing.rate / flow.throughput - 1 : 1;
}

// Args: nodes, links.
void arborescence_against_plain(benchmark::State& state) {
  const Case with(state.range(0), state.range(1), platforms::Model::kOnePort);
  const lp::Digraph& graph = with.problem.graph;
  const std::vector<double> cost = with.instance.arc_seconds_per_byte();
  lp::MinCostArborescence solver(graph.node_count, graph.tail, graph.head, with.problem.root);
  constexpr int kRuns = 50;
  double fast = 0;
  double plain = 0;
  while (state.KeepRunning()) {
    fast = seconds_of([&] {
             for (int i = 0; i < kRuns; ++i) benchmark::DoNotOptimize(solver.solve(cost));
           }) /
           kRuns;
    plain = seconds_of([&] {
      benchmark::DoNotOptimize(lp::plain_min_arborescence_cost(
          graph.node_count, graph.tail, graph.head, cost, with.problem.root));
    });
  }
  state.counters["arcs"] = static_cast<double>(graph.arc_count());
  state.counters["fast_us"] = fast * 1e6;
  state.counters["plain_us"] = plain * 1e6;
  state.counters["ratio"] = plain / fast;
}

// Networks with switches, of a thousand hosts, or of ten thousand; every other of unlike hosts.
platforms::Platform fabric(std::int64_t which) {
  platforms::Spread spread;
  if (which % 2 != 0) spread = {.heterogeneity = 0.3, .slow = {{.share = 0.1, .factor = 4}}};
  platforms::StarFamily star;
  star.hosts = 1024;
  star.spread = spread;
  platforms::FatTreeFamily fat_tree;
  fat_tree.shape = platforms::k_port_fat_tree(which < 8 ? 16 : 34);
  fat_tree.spread = spread;
  platforms::DragonflyFamily dragonfly;
  dragonfly.shape = {.groups = 33, .routers = 8, .hosts = 4, .global_ports = 4};
  dragonfly.spread = spread;
  platforms::TorusFamily torus;
  torus.dimensions = {10, 10, 10};
  torus.injection = torus.bandwidth;
  torus.spread = spread;
  platforms::TwoClustersFamily clusters;
  clusters.hosts = {512, 512};
  clusters.spread = spread;
  platforms::MultiRegionFamily regions;
  regions.regions = 32;
  regions.hosts = 32;
  regions.spread = spread;
  switch (which / 2) {
    case 5:
      fat_tree.shape = platforms::k_port_fat_tree(16);
      fat_tree.oversubscription = {2, 4};
      return platforms::generate_fat_tree(fat_tree);
    case 6:
      return platforms::generate_two_clusters(clusters);
    case 7:
      return platforms::generate_multi_region(regions);
    case 8:
      torus.injection.reset();
      return platforms::generate_torus(torus);
    case 0:
      return platforms::generate_star(star);
    case 1:
      return platforms::generate_dragonfly(dragonfly);
    case 2:
      return platforms::generate_torus(torus);
    default:
      return platforms::generate_fat_tree(fat_tree);
  }
}

void plan_over_switches(benchmark::State& state) {
  const platforms::Platform platform = fabric(state.range(0));
  const planner::Instance instance(platform, platform.hosts().front(), platforms::Model::kOnePort);
  planner::Outcome outcome;
  while (state.KeepRunning()) outcome = planner::find_algorithm("optimal").run(instance, {});
  const planner::Plan plan =
      planner::make_plan(instance, "optimal", outcome, planner::kDefaultSegment);
  state.SetLabel(platform.name());
  state.counters["hosts"] = static_cast<double>(platform.hosts().size());
  state.counters["trees"] = static_cast<double>(outcome.trees.size());
  state.counters["depth"] = static_cast<double>(planner::figures_of(plan).depth);
  state.counters["gap"] = 1 - plan.throughput.value / outcome.bound.value().value;
}

// Networks whose links between racks are thinner than their hosts: regions, oversubscribed
// fat-trees of unlike and of equal hosts (8:4 and 4:4).
platforms::Platform thin_fabric(std::int64_t which) {
  platforms::MultiRegionFamily regions;
  regions.regions = 32;
  regions.hosts = 32;
  regions.least_wan = {1.25e6};
  regions.most_wan = {1.25e8};
  if (which == 0) return platforms::generate_multi_region(regions);
  platforms::FatTreeFamily fat_tree;
  fat_tree.shape = platforms::k_port_fat_tree(16);
  fat_tree.oversubscription = {which == 3 ? 4.0 : 8.0, 4};
  if (which == 1) fat_tree.spread.heterogeneity = 0.3;
  return platforms::generate_fat_tree(fat_tree);
}

// The proof for a thin fabric, within ten seconds; of a broadcast (0) or an allreduce (1).
void prove_over_thin_links(benchmark::State& state) {
  const platforms::Platform platform = thin_fabric(state.range(0));
  const planner::Collective collective(
      state.range(1) == 0 ? planner::Operation::kBroadcast : planner::Operation::kAllreduce,
      platform, platform.hosts().front(), platforms::Model::kOnePort);
  planner::Outcome outcome;
  while (state.KeepRunning()) {
    planner::AlgorithmOptions options;
    options.deadline = Deadline(Seconds{10});
    outcome = planner::prove_optimum(collective, options);
  }
  state.SetLabel(platform.name());
  state.counters["gap"] = 1 - planner::throughput_of(outcome).value / outcome.bound.value().value;
}

// The optimum of an operation with several roots, or with routed parts, over the 71 cloud regions.
// Args: operation, model; ratio: its time over that of planning an allreduce from the first host.
void plan_for_several_roots(benchmark::State& state) {
  const platforms::Platform platform =
      platforms::read_platform(ESPALIER_SOURCE_DIR "/platforms/data/cloud-71-regions.json")
          .platform;
  const auto operation = planner::kEveryOperation[static_cast<std::size_t>(state.range(0))];
  const platforms::Model model =
      platforms::models()[static_cast<std::size_t>(state.range(1))].model;
  const auto root = planner::routes(operation) && planner::needs_root(operation)
                        ? std::optional(platform.hosts().front())
                        : std::nullopt;
  const planner::Collective rooted(planner::Operation::kAllreduce, platform,
                                   platform.hosts().front(), model);
  const auto optimal = planner::find_algorithm(planner::kOptimal, rooted.operation());
  planner::Outcome outcome;
  double several = 0;
  double one = 0;
  while (state.KeepRunning()) {
    several = seconds_of([&] {
      planner::on_problem(operation, platform, root, model, {}, {}, [&](const auto& problem) {
        outcome = planner::run(planner::find_algorithm(planner::kOptimal, operation), problem, {});
      });
    });
    one = seconds_of([&] { benchmark::DoNotOptimize(planner::run(optimal, rooted, {})); });
  }
  const double rate = planner::throughput_of(outcome).value;
  state.SetLabel(fmt::format("{}, {}", planner::name_of(operation), platforms::name_of(model)));
  state.counters["priced"] = static_cast<double>(outcome.iterations);
  state.counters["Gbps"] = rate * 8e-9;
  state.counters["gap"] = 1 - rate / outcome.bound.value().value;
  state.counters["ratio"] = several / one;
}

// The fastest plan within a budget from a host of the 71 cloud regions. Args: cents per GB; ratio:
// its time over that of the plan without a budget.
void plan_within_budget(benchmark::State& state) {
  const std::string data = ESPALIER_SOURCE_DIR "/platforms/data/";
  std::vector<std::string> notes;
  const std::string prices = data + "skyplane/cost.csv";
  const platforms::Platform platform =
      platforms::with_price_table(platforms::read_platform(data + "cloud-71-regions.json").platform,
                                  read_text(prices), prices, notes);
  const planner::MoneyProblem problem{planner::Operation::kBroadcast, platform,
                                      planner::source_named(platform, "gcp:us-west1-a"),
                                      platforms::Model::kOnePort};
  planner::Outcome outcome;
  double within = 0;
  double without = 0;
  while (state.KeepRunning()) {
    without = seconds_of([&] { benchmark::DoNotOptimize(problem.prove(std::nullopt, {})); });
    within = seconds_of([&] {
      outcome = planner::within_budget(problem, static_cast<double>(state.range(0)) / 100,
                                       {{}, /*plan=*/false})
                    .outcome;
    });
  }
  const double rate = planner::throughput_of(outcome).value;
  state.counters["Gbps"] = rate * 8e-9;
  state.counters["gap"] = 1 - rate / outcome.bound.value().value;
  state.counters["ratio"] = within / without;
}

BENCHMARK(plan_within_budget)
    ->Arg(500)
    ->Arg(400)
    ->Arg(300)
    ->Arg(250)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(packing_against_flow_lp)
    ->Args({10, 20})
    ->Args({20, 50})
    ->Args({30, 90})
    ->Args({50, 147})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(arborescence_against_plain)
    ->Args({100, 1000})
    ->Args({1000, 5000})
    ->Args({1000, 25000})
    ->Args({3000, 22500})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(packing_scales)
    ->Args({100, 1000, 0})
    ->Args({300, 3000, 0})
    ->Args({1000, 5000, 0})
    ->Args({1000, 10000, 0})
    ->Args({1000, 25000, 0})
    ->Args({3000, 22500, 0})
    ->Args({100, 1000, 1})
    ->Args({100, 1000, 2})
    ->Args({1000, 25000, 3})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(optimal_plan_scales)
    ->Args({100, 1000})
    ->Args({1000, 25000})
    ->Args({3000, 22500})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

BENCHMARK(plan_dense)
    ->ArgsProduct({{0, 2, 3, 4}, {0, 1, 2, 3}, {0}})
    ->Args({0, 2, 2})
    ->Args({0, 2, 3})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_for_several_roots)
    ->ArgsProduct({{2, 3, 4, 5, 6, 7}, {0, 1, 2, 3}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_over_switches)->DenseRange(0, 17)->Unit(benchmark::kMillisecond);
BENCHMARK(prove_over_thin_links)
    ->ArgsProduct({{0, 1, 2, 3}, {0, 1}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
