#include "runtime/api/plan_binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/memory/checksum.hpp"
#include "runtime/transport/agreement.hpp"

namespace espalier::runtime {

namespace {

void check_options(const PlanBindingOptions& options) {
  if (options.sends_in_flight == 0 || options.receives_in_flight == 0) {
    throw InputError("a window must hold at least one segment");
  }
  if (options.segment_bytes > kLargestSegment) {
    throw InputError(fmt::format("segments of {} bytes; MPI sends at most {} bytes at once",
                                 options.segment_bytes, kLargestSegment));
  }
}

void check_tags(const planner::Plan& plan, std::size_t largest_tag) {
  const std::size_t trees = planner::tree_count(plan);
  if (trees <= largest_tag) return;
  throw InputError(
      fmt::format("the plan has {} trees; this MPI has tags for {}", trees, largest_tag));
}

}  // namespace

std::vector<std::uint64_t> fingerprint(const planner::Plan& plan,
                                       const PlanBindingOptions& options) {
  const std::string text = planner::to_json(plan);
  return {hash_of(std::as_bytes(std::span(text))),
          options.sends_in_flight,
          options.receives_in_flight,
          options.ports,
          static_cast<std::uint64_t>(options.mapping),
          options.check_sizes ? 1U : 0U,
          options.segment_bytes,
          hash_of(std::as_bytes(options.tuned)),
          std::bit_cast<std::uint64_t>(options.tuned_within)};
}

PlanBinding bind_plan(const OwnedComm& comm, const planner::Plan& plan,
                      const PlanBindingOptions& options, std::span<const std::uint64_t> must_match,
                      const std::function<void()>& check, Timeout timeout) {
  const std::vector<std::string> hosts = options.mapping == RankMapping::kByHostName
                                             ? host_names(comm.get())
                                             : std::vector<std::string>{};
  PlanBinding binding;
  collective_try(
      comm.get(),
      [&] {
        planner::check_structure(plan);
        check();
        check_tags(plan, comm.largest_tag());
        check_options(options);
        binding.rank_of_node = hosts.empty() ? ranks_by_order(comm.size(), plan.nodes.size())
                                             : ranks_by_host(hosts, plan.nodes);
      },
      false, timeout);
  if (!all_equal(comm.get(), must_match, timeout)) {
    throw InputError("the ranks have different plans or options");
  }
  const auto mine = std::ranges::find(binding.rank_of_node, comm.rank());
  binding.node = plan.nodes[static_cast<std::size_t>(mine - binding.rank_of_node.begin())];
  binding.root = binding.rank_of_node[planner::source_index(plan)];
  return binding;
}

}  // namespace espalier::runtime
