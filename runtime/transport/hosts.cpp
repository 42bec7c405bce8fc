#include "runtime/transport/hosts.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

std::vector<int> hosts_of_ranks(MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  int lowest = rank;
  const int code = MPI_Bcast(&lowest, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);
  check(code, "MPI_Bcast");
  std::vector<int> hosts(static_cast<std::size_t>(size));
  check(MPI_Allgather(&lowest, 1, MPI_INT, hosts.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return hosts;
}

std::size_t ranks_on_host_of(int rank, std::span<const int> host_of_rank) {
  const int host = host_of_rank[static_cast<std::size_t>(rank)];
  return static_cast<std::size_t>(std::ranges::count(host_of_rank, host));
}

std::vector<std::size_t> numbered_hosts(std::span<const int> host_of_rank, std::size_t ranks) {
  std::vector<std::size_t> host_of(ranks);
  std::map<int, std::size_t> number_of;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int host = host_of_rank.empty() ? static_cast<int>(rank) : host_of_rank[rank];
    host_of[rank] = number_of.try_emplace(host, number_of.size()).first->second;
  }
  return host_of;
}

std::size_t count_hosts(MPI_Comm comm) {
  const std::vector<int> hosts = hosts_of_ranks(comm);
  return std::set(hosts.begin(), hosts.end()).size();
}

}  // namespace espalier::runtime
