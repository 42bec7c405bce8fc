// Runs algorithms on one problem after another, for `compare` and `report`.
#pragma once

#include <optional>
#include <vector>

#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/comparison.hpp"
#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"

namespace espalier::cli {

// What all instances of one call share.
struct ComparisonContext {
  planner::Operation operation;
  std::vector<planner::Algorithm> algorithms;  // in the registry's order
  bool all;  // were requested: those that are not for a platform are left out
  platforms::Model model;
  platforms::OccupationOptions occupation;
  planner::AlgorithmOptions limits;
  const Console& console;
  const ReceiversOption& receivers;
  std::optional<Bytes> message;  // whose time is simulated along each plan
  // For algorithms of exponential time, when 'all' were requested.
  std::optional<Seconds> proof_limit{};
  std::optional<Frontier> frontier{};
  bool several = false;  // then an instance without a solution is reported in its entry
  ExitStatus status = ExitStatus::kDone;
};

// Limit of each proof in a comparison of all algorithms, unless --time-limit is given.
inline constexpr Seconds kExponentialLimit{0.5};

// Every algorithm on one platform, and the bound. source: none where there are several roots.
// shares: where the message has parts. Throws InfeasibleError where there is no solution, unless
// the context has several instances.
Comparison compare_one(const platforms::Platform& platform, std::optional<platforms::NodeId> source,
                       const std::vector<double>& shares, ComparisonContext& context);

}  // namespace espalier::cli
