#include "cli/espalier_mpi/options/decided.hpp"

#include <fmt/format.h>

#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {

runtime::DecidedPlan decided_for(MPI_Comm comm, const RunArguments& arguments,
                                 planner::Operation operation) {
  const runtime::Decisions decisions = runtime::share_decisions(comm, arguments.decisions);
  if (decisions.operation != operation) {
    throw InputError(display_name(arguments.decisions), "/operation",
                     fmt::format("the decisions are for {}, not for {}",
                                 name_of(decisions.operation), name_of(operation)));
  }
  const auto ranks = static_cast<std::uint32_t>(runtime::size_of(comm));
  const std::uint32_t root = arguments.root.value_or(0);
  if (root >= ranks) {
    throw InputError(fmt::format("--root: there is no rank {}; give 0 to {}", root, ranks - 1));
  }
  const runtime::Decision& decision = decision_for(decisions, ranks, arguments.message.value);
  return plan_for(decisions, decision.algorithm, ranks, root);
}

}  // namespace espalier::cli
