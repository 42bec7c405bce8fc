#include "experiments/two_trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "simulate/simulate.hpp"
#include "support/errors.hpp"
#include "support/on_threads.hpp"

namespace espalier::experiments {

namespace {

constexpr std::array kMethods{
    TwoTreeMethod{"C", "two-tree-complete"},
    TwoTreeMethod{"S", "two-tree-sanders"},
    TwoTreeMethod{"S in rounds", "two-tree-sanders", true},
    TwoTreeMethod{"C+C", "two-tree-complete+complete"},
    TwoTreeMethod{"C+C repaired", "two-tree-complete+complete-repaired"},
    TwoTreeMethod{"C+S", "two-tree-complete+sanders"},
    TwoTreeMethod{"chain", "chain"},
    TwoTreeMethod{"binary", "binary"},
    TwoTreeMethod{"binomial", "binomial"},
};
constexpr std::uint64_t kLeastChunk = 1024;  // bytes

platforms::Platform equal_hosts(const TwoTreeStudy& study, std::size_t processes) {
  if (processes < 2) {
    throw InputError(fmt::format("processes must be at least 2, not {}", processes));
  }
  platforms::PlatformBuilder builder(fmt::format("{} equal hosts", processes));
  std::vector<platforms::NodeId> hosts;
  for (std::size_t i = 0; i < processes; ++i) {
    hosts.push_back(builder.node_named(fmt::format("n{}", i)));
  }
  for (const platforms::NodeId from : hosts) {
    for (const platforms::NodeId to : hosts) {
      if (from != to) {
        builder.add_arc({from, to, study.bandwidth, study.latency, study.overhead});
      }
    }
  }
  return std::move(builder).build();
}

// One plan of the study.
struct PlanOfStudy {
  planner::Operation operation;
  std::size_t method;
  std::size_t processes;
};

std::vector<PlanOfStudy> plans_of(const TwoTreeStudy& study) {
  std::vector<PlanOfStudy> plans;
  for (const planner::Operation operation : study.operations) {
    for (std::size_t method = 0; method < kMethods.size(); ++method) {
      if (!serves(kMethods[method], operation)) continue;
      for (const std::size_t processes : study.processes) {
        plans.push_back({operation, method, processes});
      }
    }
  }
  return plans;
}

// Simulates messages under one plan in more and more chunks, and keeps the best.
class ChunkSearch {
 public:
  ChunkSearch(const planner::Plan& plan, const platforms::Platform& platform,
              const simulate::Options& options, Bytes message)
      : plan_(plan), platform_(platform), options_(options), message_(message) {}

  // Up to the third number in a row that is worse than the best, then, as TTC does, 10 and 20 %
  // around it.
  [[nodiscard]] std::pair<std::uint64_t, double> run() {
    const std::uint64_t most = std::max<std::uint64_t>(message_.value / kLeastChunk, 1);
    std::size_t worse = 0;
    for (std::uint64_t power = 1; power <= most && worse < 3; power *= 2) {
      for (const std::uint64_t chunks : {power, power + power / 2}) {
        if (chunks > most) break;
        worse = try_chunks(chunks) ? 0 : worse + 1;
      }
    }
    const std::uint64_t middle = best_.first;
    for (const std::uint64_t percent : {80U, 90U, 110U, 120U}) {
      const std::uint64_t chunks = (middle * percent + 50) / 100;
      if (chunks >= 1 && chunks <= most) try_chunks(chunks);
    }
    return best_;
  }

 private:
  // Whether it is better than all before.
  bool try_chunks(std::uint64_t wanted) {
    options_.segment = Bytes{(message_.value + wanted - 1) / wanted};
    const std::uint64_t chunks =
        (message_.value + options_.segment->value - 1) / options_.segment->value;
    if (!known_.insert(chunks).second) return false;
    const simulate::Simulator simulator(plan_, platform_, options_);
    const double seconds = simulator.run(message_).makespan.value;
    if (best_.first != 0 && seconds >= best_.second) return false;
    best_ = {chunks, seconds};
    return true;
  }

  const planner::Plan& plan_;
  const platforms::Platform& platform_;
  simulate::Options options_;
  Bytes message_;
  std::set<std::uint64_t> known_;  // numbers that were tried
  std::pair<std::uint64_t, double> best_{0, 0};
};

std::vector<TwoTreeFigure> figures_of(const TwoTreeStudy& study, const PlanOfStudy& of) {
  const TwoTreeMethod& method = kMethods[of.method];
  const platforms::Platform platform = equal_hosts(study, of.processes);
  const planner::Collective collective(of.operation, platform, platform.hosts().front(),
                                       platforms::Model::kOnePort);
  const planner::Algorithm algorithm = planner::find_algorithm(method.algorithm, of.operation);
  const planner::Plan plan =
      planner::make_plan(collective, algorithm.name, planner::run(algorithm, collective, {}),
                         planner::kDefaultSegment);
  simulate::Options options;
  options.rounds = method.rounds;
  if (planner::reduces(of.operation)) options.compute = study.compute;
  std::vector<TwoTreeFigure> figures;
  for (const Bytes message : study.messages) {
    const auto [chunks, seconds] = ChunkSearch(plan, platform, options, message).run();
    figures.push_back({of.operation, of.method, of.processes, message, chunks, {seconds}});
  }
  return figures;
}

}  // namespace

std::span<const TwoTreeMethod> two_tree_methods() {
  return kMethods;
}

bool serves(const TwoTreeMethod& method, planner::Operation operation) {
  return std::ranges::any_of(planner::algorithms(), [&](const planner::AlgorithmEntry& entry) {
    return entry.name == method.algorithm && entry.does(operation);
  });
}

std::vector<TwoTreeFigure> run_two_trees(
    const TwoTreeStudy& study, std::size_t jobs,
    const std::function<void(std::size_t finished, std::size_t all)>& done) {
  const std::vector<PlanOfStudy> plans = plans_of(study);
  std::vector<std::vector<TwoTreeFigure>> of_plans(plans.size());
  std::size_t finished = 0;
  on_threads(
      plans.size(), jobs, [&](std::size_t i) { return figures_of(study, plans[i]); },
      [&](std::size_t i, std::vector<TwoTreeFigure>&& figures) {
        of_plans[i] = std::move(figures);
        done(++finished, plans.size());
      });
  std::vector<TwoTreeFigure> all;
  for (const auto& figures : of_plans) all.insert(all.end(), figures.begin(), figures.end());
  return all;
}

}  // namespace espalier::experiments
