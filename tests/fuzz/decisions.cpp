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

void follow_all(const espalier::runtime::Decisions& decisions, std::uint32_t ranks) {
  namespace runtime = espalier::runtime;
  for (std::uint64_t bytes = 0; bytes < (std::uint64_t{1} << 62); bytes = 7 * bytes + 1) {
    const runtime::Decision& decision = runtime::decision_for(decisions, ranks, bytes);
    const auto decided = runtime::plan_for(decisions, decision.algorithm, ranks, ranks - 1);
    espalier::planner::check_structure(decided.plan);
    const auto segment = runtime::segment_tuned_for(decided.segments, bytes, 1e300);
    if (bytes != 0 && decision.message_bytes != 0 && !segment) std::abort();
    if (segment.value_or(1) > (std::uint64_t{1} << 30)) std::abort();
  }
}

}  // namespace

void espalier::testing::check_decisions(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto decisions = espalier::runtime::parse_decisions(text, "fuzz");
    for (const std::uint32_t ranks : {1U, 2U, 9U}) follow_all(decisions, ranks);
  } catch (const espalier::InputError&) {
    return;
  }
}
