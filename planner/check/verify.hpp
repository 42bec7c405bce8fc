// Checks a plan against its platform from these two alone, without trusting the plan's figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

// How names of algorithms begin that are not in the registry, whatever follows: of trees that
// another program made.
inline constexpr std::string_view kOwnAlgorithm = "own:";

struct VerifyReport {
  std::vector<std::string>
      faults;  // one line each: "/broadcast_trees/1/edges/3: ..."; empty: the plan is valid
  // Recomputed; 0 where the faults prevent it.
  BytesPerSecond throughput;  // sum of rates, scaled down to what the resources allow
  double busiest_load = 0;    // max_r (sum rate A x)_r: 1 is full; above 1 + 1e-6 is a fault
  std::string busiest_resource;
  // (sum rate A x)_r over the trees of both kinds, one per resource of the platform under the
  // plan's model, segment and latency; empty where the faults prevent it.
  std::vector<double> loads;
  std::optional<BytesPerSecond> scheduled;  // of the schedule, where the plan has a valid one
  std::optional<BytesPerSecond> bound;      // proven again if options.prove
  Ends proof;                               // how that ended
  // Recomputed, with the plan's budget; unset: the platform has no prices.
  std::optional<PlanCost> cost{};
  std::size_t trees = 0;           // of both kinds
  std::size_t hosts_left_out = 0;  // of the platform: of a broadcast to some of them
  std::size_t depth = 0;
  std::size_t out_degree = 0;
};

struct VerifyOptions {
  bool prove = true;  // recompute the optimum and check the plan's optimum_Bps against it
                      // (relative 1e-5)
  double tolerance = 1e-6;
  AlgorithmOptions limits{};  // gap, deadline and on_progress of the proof
};

// Faults: another platform; an unknown name; an algorithm that does not serve the operation;
// structural faults; edges that are no path of the platform; rates that overload a resource; colors
// by which a rank would send or receive twice in a round; figures that contradict the trees or the
// proof, or the prices of the links; a budget that is exceeded; a schedule that ports and links
// cannot execute.
VerifyReport verify(const Plan& plan, const platforms::Platform& platform,
                    const VerifyOptions& options = {});

}  // namespace espalier::planner
