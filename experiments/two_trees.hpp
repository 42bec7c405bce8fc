// TTC's experiment ("Efficient Two Trees to Optimize Collectives", section "Experiments and
// Results"): broadcast, reduce and allreduce along two trees and along the trees that it compares
// them with, by number of processes and message size, on equal hosts in the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report.hpp"
#include "planner/plan/plan.hpp"
#include "support/quantities.hpp"

namespace espalier::experiments {

// What is compared: an algorithm of the registry, in rounds or not.
struct TwoTreeMethod {
  std::string_view name;       // in tables
  std::string_view algorithm;  // of the planner's registry
  bool rounds = false;
};
std::span<const TwoTreeMethod> two_tree_methods();
// Whether the method serves the operation.
bool serves(const TwoTreeMethod& method, planner::Operation operation);

struct TwoTreeStudy {
  std::vector<planner::Operation> operations{
      planner::Operation::kBroadcast, planner::Operation::kReduce, planner::Operation::kAllreduce};
  // Those of TTC's tables of chunks.
  std::vector<std::size_t> processes{8, 12, 16, 24, 32, 53, 64, 96, 128, 158, 188, 256};
  std::vector<Bytes> messages;  // ascending; at least one byte
  // Between any two hosts. The defaults are TTC's Netgauge figures of Piz Daint (a comment in its
  // source): L = 1.59 us, o = 1.71 us, g = 1.35 us, G = 0.000362 us.
  BytesPerSecond bandwidth{1e9 / 0.362};
  Seconds latency{1.59e-6};
  Seconds overhead{1.71e-6};                // of a chunk: max(g, o)
  std::optional<BytesPerSecond> compute{};  // unset: combining takes no time
};

// The best number of chunks for one method in one cell, and its time.
struct TwoTreeFigure {
  planner::Operation operation;
  std::size_t method;  // index in two_tree_methods()
  std::size_t processes;
  Bytes message;
  std::uint64_t chunks;  // of the whole message, over both trees
  Seconds makespan;
};

// Every operation, every method that serves it, every number of processes and every message, in
// this order, on `jobs` threads. done(finished, all): called after each plan, one call at a time.
// The result does not depend on `jobs`. Throws InputError for fewer than 2 processes.
std::vector<TwoTreeFigure> run_two_trees(
    const TwoTreeStudy& study, std::size_t jobs,
    const std::function<void(std::size_t finished, std::size_t all)>& done);

// figures.csv; summary.md with a table of times for each operation and message, and a table of
// chunks for each operation; OPERATION-SIZE.svg, times against processes.
std::vector<OutputFile> two_tree_files(const TwoTreeStudy& study,
                                       const std::vector<TwoTreeFigure>& figures);
std::string two_tree_summary(const TwoTreeStudy& study, const std::vector<TwoTreeFigure>& figures);

}  // namespace espalier::experiments
