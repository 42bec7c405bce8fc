// Espalier as a library: read a network, plan a collective on it, check the plan, write it.
//
//   #include <espalier/espalier.hpp>
//
//   const auto network = espalier::read_platform("cluster.json");
//   const auto plan = espalier::make_plan(network, {.root = "lyon"});
//   espalier::write_plan("plan.json", plan);
//
// Programs that execute plans with MPI include runtime/api/ instead, which needs no solver. All
// functions report bad input by InputError, which names file, place and reason
// (support/errors.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "planner/check/verify.hpp"
#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "platforms/formats/formats.hpp"
#include "support/errors.hpp"
#include "support/quantities.hpp"

namespace espalier {

using planner::Operation;
using planner::parse_operation;
using planner::Plan;
using planner::verify;
using planner::VerifyReport;
using platforms::Model;
using platforms::Platform;
using platforms::ReadOptions;

// The network in `file` ("-": standard input), in any format of docs/formats.md, which is detected
// unless options.format names it. platforms::read_platform also returns notes on what it left out.
Platform read_platform(const std::string& file, const ReadOptions& options = {});

struct PlanOptions {
  Operation operation = Operation::kBroadcast;
  // Name of the host that the message starts at, or that gets it; of an allreduce, the host at
  // which the trees of both halves meet. Empty: every host may be a root (allreduce), or is one
  // (allgather, reduce-scatter, alltoall).
  std::string root{};
  Model model = Model::kOnePort;
  std::string algorithm{planner::kOptimal};  // a name of planner::algorithms(), "NAME:INNER" where
                                             // it takes an inner algorithm
  Bytes segment = planner::kDefaultSegment;  // above 0; matters where links have overheads
  bool latency_occupies = false;             // Bhat's affine model: latency occupies the ports, too
  std::size_t max_trees = 0;                 // where trees have one root; 0: any number
  std::uint32_t max_depth = 0;          // `optimal` with one root only, edges between hosts; 0: any
  double gap = lp::Limits{}.gap;        // `optimal` ends at this relative distance to the bound
  std::optional<Seconds> time_limit{};  // unset: none. The plan is then the best one so far
};

// A plan of options.algorithm. plan.throughput is what it sustains, plan.optimum the proven upper
// bound where the algorithm computed one. Throws InfeasibleError naming a host without a path to or
// from the root, LimitReached where the time limit left no plan at all.
Plan make_plan(const Platform& platform, const PlanOptions& options);

// Of any operation. Throws InputError for a plan that is not consistent in itself.
inline Plan read_plan(const std::string& file) {
  return planner::read_plan(file, planner::Roots::kAny);
}

// Writes docs/formats.md's JSON: whole, or, on an error, not at all.
void write_plan(const std::string& file, const Plan& plan);

}  // namespace espalier
