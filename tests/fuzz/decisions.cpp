// Any bytes at all given as decisions are refused with InputError, or every message among any ranks
// has a plan without a fault, and segments that it can be sent in.
#include "runtime/api/decisions.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "support/errors.hpp"
#include "tests/fuzz/target.hpp"

namespace {

void follow_all(const espalier::planner::Decisions& decisions, std::uint32_t ranks) {
  namespace planner = espalier::planner;
  namespace runtime = espalier::runtime;
  runtime::Placement placement{std::vector<int>(ranks)};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    placement.host_of_rank[rank] = static_cast<int>(rank) / 2;
  }
  for (std::uint64_t bytes = 0; bytes < (std::uint64_t{1} << 62); bytes = 7 * bytes + 1) {
    const planner::Decision& decision = planner::decision_for(decisions, placement.among(), bytes);
    if (decision.algorithm == planner::kLibrary) continue;
    const auto decided = runtime::plan_for(decisions, decision.algorithm, placement, ranks - 1);
    planner::check_structure(decided.plan);
    const auto segment = runtime::segment_tuned_for(decided.segments, bytes, 1e300);
    if (bytes != 0 && decision.message_bytes != 0 && !segment) std::abort();
    if (segment.value_or(1) > (std::uint64_t{1} << 30)) std::abort();
  }
}

}  // namespace

void espalier::testing::check_decisions(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto decisions = espalier::planner::parse_decisions(text, "fuzz");
    for (const std::uint32_t ranks : {1U, 2U, 9U}) follow_all(decisions, ranks);
  } catch (const espalier::InputError&) {
    return;
  }
}
