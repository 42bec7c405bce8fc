#include "runtime/api/seat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/transport/agreement.hpp"
#include "runtime/memory/checksum.hpp"
#include "runtime/api/rank_mapping.hpp"

namespace espalier::runtime {

namespace {

void check_options(const SeatOptions& options) {
  if (options.sends_in_flight == 0 || options.receives_in_flight == 0) {
    throw InputError("a window has room for at least one slice");
  }
  if (options.slice_bytes > kLargestSlice) {
    throw InputError(fmt::format("slices of {} bytes; MPI sends at most {} at once",
                                 options.slice_bytes, kLargestSlice));
  }
}

void check_tags(const planner::Plan& plan, std::size_t largest_tag) {
  const std::size_t trees = planner::tree_count(plan);
  if (trees <= largest_tag) return;
  throw InputError(
      fmt::format("the plan has {} trees; this MPI has tags for {}", trees, largest_tag));
}

}  // namespace

std::vector<std::uint64_t> fingerprint(const planner::Plan& plan, const SeatOptions& options) {
  const std::string text = planner::to_json(plan);
  return {hash_of(std::as_bytes(std::span(text))),
          options.sends_in_flight,
          options.receives_in_flight,
          options.ports,
          static_cast<std::uint64_t>(options.mapping),
          options.check_sizes ? 1U : 0U,
          options.slice_bytes,
          hash_of(std::as_bytes(options.tuned)),
          std::bit_cast<std::uint64_t>(options.tuned_within)};
}

Seat take_seat(const OwnedComm& comm, const planner::Plan& plan, const SeatOptions& options,
               std::span<const std::uint64_t> alike, const std::function<void()>& check,
               Patience patience) {
  const std::vector<std::string> hosts = options.mapping == RankMapping::kByHostName
                                             ? host_names(comm.get())
                                             : std::vector<std::string>{};
  Seat seat;
  together(
      comm.get(),
      [&] {
        if (const auto fault = planner::structural_fault(plan)) {
          throw InputError({}, fault->place, fault->reason);
        }
        check();
        check_tags(plan, comm.largest_tag());
        check_options(options);
        seat.rank_of_node = hosts.empty() ? ranks_by_order(comm.size(), plan.nodes.size())
                                          : ranks_by_host(hosts, plan.nodes);
      },
      false, patience);
  if (!all_equal(comm.get(), alike, patience)) {
    throw InputError("the ranks hold different plans or options");
  }
  const auto mine = std::ranges::find(seat.rank_of_node, comm.rank());
  seat.node = plan.nodes[static_cast<std::size_t>(mine - seat.rank_of_node.begin())];
  seat.root = seat.rank_of_node[planner::source_index(plan)];
  return seat;
}

}  // namespace espalier::runtime
