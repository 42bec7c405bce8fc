#include "runtime/topology/rank_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/topology/described_groups.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/prefix_numbers.hpp"

namespace espalier::runtime {

std::vector<int> contiguous_order(std::span<const int> host_of_rank,
                                  std::span<const std::string> groups) {
  PrefixNumbers numbers;
  std::vector<std::vector<std::uint32_t>> places;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    // A host is the innermost group. No name contains a line end.
    places.push_back(
        numbers.of(fmt::format("{}/\n{}", groups.empty() ? "" : groups[rank], host_of_rank[rank])));
  }
  std::vector<int> order(host_of_rank.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int one, int other) {
    return places[static_cast<std::size_t>(one)] < places[static_cast<std::size_t>(other)];
  });
  return order;
}

std::size_t host_changes(std::span<const int> order, std::span<const int> host_of_rank) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const int before = host_of_rank[static_cast<std::size_t>(order[i - 1])];
    if (host_of_rank[static_cast<std::size_t>(order[i])] != before) ++changes;
  }
  return changes;
}

MPI_Comm reordered_comm(MPI_Comm comm, const std::string& groups_file) {
  const OwnedComm own(comm);
  std::vector<std::string> groups;
  if (!groups_file.empty()) {
    const std::string text = share_file(own.get(), groups_file);
    groups = described_groups(text, groups_file, host_names(own.get()));
  }
  const std::vector<int> order = contiguous_order(hosts_of_ranks(own.get()), groups);
  const auto place = std::ranges::find(order, own.rank()) - order.begin();
  MPI_Comm reordered = MPI_COMM_NULL;
  check(MPI_Comm_split(comm, 0, static_cast<int>(place), &reordered), "MPI_Comm_split");
  return reordered;
}

}  // namespace espalier::runtime
