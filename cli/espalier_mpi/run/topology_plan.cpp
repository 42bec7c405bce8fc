#include "cli/espalier_mpi/run/topology_plan.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <span>

#include "cli/espalier_mpi/run/planner_program.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/measure/analysis.hpp"
#include "runtime/topology/described_groups.hpp"
#include "runtime/topology/tac_rules.hpp"
#include "runtime/topology/topology_platform.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

// host_of_rank: as of hosts_of_ranks().
std::string algorithm_for(const TopologyRequest& request, std::span<const int> host_of_rank) {
  if (request.algorithm != runtime::kTacRules) return request.algorithm;
  const std::set hosts(host_of_rank.begin(), host_of_rank.end());
  const auto chosen =
      runtime::tac_choice(request.operation, host_of_rank.size(), hosts.size(), request.message);
  if (chosen) return std::string(*chosen);
  if (request.operation == planner::Operation::kAlltoall) {
    throw InputError("--algorithm: TAC's alltoalls have no plan; bench --by-leaders times them");
  }
  throw InputError(fmt::format("--algorithm: TAC has no rule for {} of {} here",
                               planner::with_article(request.operation),
                               format_size(request.message)));
}

}  // namespace

std::vector<std::string> groups_in(const std::string& file, const std::vector<std::string>& hosts) {
  if (file.empty()) return {};
  return runtime::described_groups(read_text(file), display_name(file), hosts);
}

planner::Plan topology_plan(MPI_Comm comm, const TopologyRequest& request) {
  const std::vector<int> host_of_rank = runtime::hosts_of_ranks(comm);
  const std::vector<std::string> hosts = runtime::host_names(comm);
  std::string text;
  runtime::collective_try(comm, [&] {
    if (runtime::rank_in(comm) != 0) return;
    std::string root;
    const bool is_optimum = request.algorithm.empty();
    if (is_optimum ? planner::needs_root(request.operation)
                   : planner::may_have_root(request.operation)) {
      root = runtime::probe::node_names(hosts)[static_cast<std::size_t>(request.root)];
    }
    const ProgramPlan made = plan_by_program(
        runtime::topology_platform(hosts, host_of_rank, groups_in(request.groups, hosts)),
        {request.operation, root, algorithm_for(request, host_of_rank), "one-port"});
    if (made.text.empty()) {
      throw InputError(
          fmt::format("{}: {}", is_optimum ? "without PLAN" : "--algorithm", made.fault));
    }
    text = made.text;
  });
  runtime::share_text(comm, 0, text);
  return planner::parse_plan(text, "the plan of the topology", planner::Roots::kAny);
}

}  // namespace espalier::cli
