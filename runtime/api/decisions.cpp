#include "runtime/api/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "planner/plan/shapes/oblivious_shapes.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

namespace espalier::runtime {
namespace {

// The rate of a plan for which the table has no time, because its messages are empty.
constexpr BytesPerSecond kUnknownRate{1e6};

// The segment size of a cell; 0: one segment per tree.
std::uint64_t segment_for(const planner::Decision& decision,
                          const planner::ExecutedFormula& formula) {
  const std::uint64_t segment = undivided_segment(decision.segment_bytes, formula.parts);
  const bool cuts = decision.segment_bytes != 0 && decision.segment_bytes < decision.message_bytes;
  return cuts && segment < undivided_segment(decision.message_bytes, formula.trees) ? segment : 0;
}

}  // namespace

planner::Decisions share_decisions(MPI_Comm comm, const std::string& file) {
  return planner::parse_decisions(share_file(comm, file), display_name(file));
}

planner::Among Placement::among() const {
  const auto hosts = std::set(host_of_rank.begin(), host_of_rank.end()).size();
  return {ranks(), static_cast<std::uint32_t>((host_of_rank.size() + hosts - 1) / hosts)};
}

Placement placement_of(MPI_Comm comm) {
  return {hosts_of_ranks(comm)};
}

DecidedPlan plan_for(const planner::Decisions& decisions, std::string_view algorithm,
                     const Placement& placement, std::uint32_t root) {
  const planner::DecidedShape shape = *planner::decided_shape(decisions.operation, algorithm);
  DecidedPlan decided;
  BytesPerSecond best{};
  for (const planner::Decision& decision : cells_for(decisions, placement.among())) {
    if (decision.algorithm != algorithm || decision.message_bytes == 0) continue;
    const double seconds = decision.time().value;
    decided.segments.push_back(
        {decision.message_bytes, segment_for(decision, shape.formula), seconds});
    if (seconds == 0) continue;
    const double rate = static_cast<double>(decision.message_bytes) / seconds;
    if (std::isfinite(rate)) best = std::max(best, BytesPerSecond{rate});
  }
  planner::ObliviousPlan wanted{shape.formula.shape, decisions.operation, placement.ranks(), root,
                                best.value > 0 ? best : kUnknownRate};
  if (shape.is_hierarchical) wanted.host_of_rank = placement.host_of_rank;
  decided.plan = planner::plan_of(wanted);
  return decided;
}

void follow(const DecidedPlan& decided, CollectiveOptions& options) {
  options.tuned = decided.segments;
  options.tuned_within = std::numeric_limits<double>::infinity();
  options.direct_copies = false;
}

}  // namespace espalier::runtime
