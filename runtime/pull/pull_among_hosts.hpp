// Broadcasts and allgathers without a plan among ranks of which several share a host: a message
// crosses the network once for each host. One rank of each host pulls it, and hands it to the
// others by MPI's own broadcast, which goes through memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/api/parts.hpp"
#include "runtime/pull/pull_collective.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

// Hosts are numbered in the order of their lowest ranks.
class PullAmongHosts {
 public:
  // Collective over `comm`. host_of_rank: from hosts_of_ranks(); empty: each rank has a host of its
  // own. Throws as PullCollective's constructor.
  PullAmongHosts(MPI_Comm comm, std::span<const int> host_of_rank, const PullOptions& options);

  // As PullCollective's functions. Ranks of one host must describe the message alike.
  void broadcast(void* buffer, std::size_t count, MPI_Datatype type, int source);
  void allgather(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                 std::span<const std::size_t> first, MPI_Datatype type);
  [[nodiscard]] std::uint64_t segment_bytes(std::uint64_t message_bytes) const;
  // As PullCollective::gather_traffic(), by host.
  std::vector<engine::pull::Traffic> gather_traffic();

 private:
  // Runs `act` on the rank that pulls for this host. Throws on all its ranks if it throws there.
  template <class Act>
  void on_leader(const Act& act);
  // Afterwards all ranks of this host have the parts of all of them.
  void share_parts_of_host(const void* sendbuf, void* recvbuf, const Parts& parts,
                           MPI_Datatype type);
  // From the rank that pulls to the other ones of this host.
  void hand_on_parts_of_others(void* recvbuf, const Parts& parts, MPI_Datatype type);
  [[nodiscard]] bool is_here(std::size_t rank) const {
    return host_of_[rank] == host_of_[static_cast<std::size_t>(rank_)];
  }

  int rank_;
  std::uint64_t segment_bytes_;  // as in PullOptions
  Timeout timeout_;
  std::vector<std::size_t> host_of_;     // by rank
  std::vector<int> place_;               // by rank: among the ranks of its host
  OwnedComm within_;                     // this host; its rank 0 is the one that pulls
  std::optional<PullCollective> among_;  // hosts, on the ranks that pull
};

}  // namespace espalier::runtime
