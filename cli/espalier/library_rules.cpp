#include "cli/espalier/library_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "cost_models/decide/open_mpi_rules.hpp"
#include "planner/plan/decision_table.hpp"
#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

using planner::Operation;
using planner::Plan;
using planner::PlanEdge;
using planner::PlanTree;

// The edges of each tree, in order; those that are exchanged after the others.
std::vector<std::vector<PlanEdge>> edges_of(const std::vector<PlanTree>& trees) {
  std::vector<std::vector<PlanEdge>> all;
  for (const PlanTree& tree : trees) {
    for (std::vector<PlanEdge> edges : {tree.edges, tree.exchange}) {
      std::ranges::sort(edges);
      all.push_back(std::move(edges));
    }
  }
  std::ranges::sort(all);
  return all;
}

bool has_shape(const Plan& plan, std::string_view shape) {
  const bool reduces = plan.operation == Operation::kReduce;
  const Plan other =
      planner::plan_of({shape, plan.operation, static_cast<std::uint32_t>(plan.nodes.size()),
                        planner::source_index(plan), plan.throughput});
  return reduces ? edges_of(plan.reduce_trees) == edges_of(other.reduce_trees)
                 : edges_of(plan.broadcast_trees) == edges_of(other.broadcast_trees);
}

// The plan's own algorithm before others, where few ranks make trees alike.
const planner::ExecutedFormula& shape_of(const Plan& plan) {
  const bool is_stated =
      plan.operation == Operation::kBroadcast || plan.operation == Operation::kReduce;
  if (!is_stated || !plan.has_one_root()) {
    throw InputError({}, "/operation",
                     fmt::format("{} cannot be stated as a library's algorithm; broadcasts and "
                                 "reductions to and from all ranks can",
                                 planner::with_article(plan.operation)));
  }
  const planner::ExecutedFormula* found = nullptr;
  // Of shapes that are alike, one with segments: these come last.
  const std::span<const planner::ExecutedFormula> all = planner::executed_formulas();
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    const planner::ExecutedFormula& one = *at;
    // No library has two trees.
    if (one.operation != plan.operation || one.algorithm == "two-tree") continue;
    if (!has_shape(plan, one.shape)) continue;
    if (one.shape == plan.algorithm) return one;
    if (found == nullptr) found = &one;
  }
  if (found != nullptr) return *found;
  throw InputError({}, plan.operation == Operation::kReduce ? "/reduce_trees" : "/broadcast_trees",
                   "no MPI library has these trees; those of chain, binary, binomial, flat and "
                   "split-binary in the order of ranks can be stated");
}

const cost_models::FormulaEntry& entry_of(const planner::ExecutedFormula& executed) {
  return *std::ranges::find_if(cost_models::formulas(), [&](const auto& entry) {
    return entry.operation == planner::name_of(executed.operation) &&
           entry.algorithm == executed.algorithm;
  });
}

}  // namespace

std::string open_mpi_rules_of(const Plan& plan, Bytes from, Bytes segment) {
  constexpr Bytes kMost{static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())};
  const planner::ExecutedFormula& known = shape_of(plan);
  cost_models::DecisionFunction decision{{{plan.nodes.size()}, {from, kMost}, {}}, {}};
  for (std::size_t cell = 0; cell < 2; ++cell) {
    cost_models::Case of = decision.grid.case_of(cell);
    of.segment = known.shape == "flat" ? Bytes{0} : segment;
    decision.best.push_back({&entry_of(known), of, {}});
  }
  if (!open_mpi_number(decision.best.front())) {
    throw InputError({}, "--segment", "Open MPI has segments below 2 GiB");
  }
  return open_mpi_rules(decision);
}

std::string mpich_settings_of(const Plan& plan, Bytes segment) {
  const planner::ExecutedFormula& known = shape_of(plan);
  const bool reduces = plan.operation == Operation::kReduce;
  const std::string_view name = reduces ? "REDUCE" : "BCAST";
  std::string text = fmt::format(
      "# espalier: control variables of MPICH 4 for a {} by plan {}; segments of {}\n"
      "MPIR_CVAR_{}_DEVICE_COLLECTIVE=0\n",
      planner::name_of(plan.operation), in_quotes(plan.algorithm), format_size(segment), name);
  if (known.shape == "split-binary") {
    throw InputError({}, "/broadcast_trees", "MPICH has no split-binary broadcast");
  }
  if (known.shape == "binomial") {  // it sends the message whole
    return text + fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM=binomial\n", name);
  }
  const std::size_t degree = known.shape == "chain" ? 1
                             : known.shape == "binary"
                                 ? 2
                                 : std::max<std::size_t>(plan.nodes.size(), 2) - 1;
  if (segment.value > std::numeric_limits<std::int32_t>::max()) {
    throw InputError({}, "--segment", "MPICH has segments below 2 GiB");
  }
  if (reduces) {
    text += "MPIR_CVAR_REDUCE_INTRA_ALGORITHM=nb\nMPIR_CVAR_IREDUCE_DEVICE_COLLECTIVE=0\n";
  }
  const std::string_view tree = reduces ? "IREDUCE" : "BCAST";
  return text + fmt::format(
                    "MPIR_CVAR_{0}_INTRA_ALGORITHM={1}\nMPIR_CVAR_{0}_TREE_TYPE=kary\n"
                    "MPIR_CVAR_{0}_TREE_KVAL={2}\n"
                    "MPIR_CVAR_{0}_TREE_PIPELINE_CHUNK_SIZE={3}\n",
                    tree, reduces ? "tsp_tree" : "pipelined_tree", degree, segment.value);
}

}  // namespace espalier::cli
