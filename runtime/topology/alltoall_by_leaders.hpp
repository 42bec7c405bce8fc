// Alltoalls in which only one rank of each host, its leader, sends to other hosts: as many messages
// as there are pairs of hosts instead of pairs of ranks, for parts so short that messages cost more
// than bytes (TAC, section 5). Each byte passes through the memory of two leaders.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

class AlltoallByLeaders {
 public:
  enum class Way : std::uint8_t {
    kOneAlltoallv,  // TAC, section 5, 1: leaders gather all that their ranks send, exchange it in
                    // one MPI_Alltoallv, and scatter it
    kGathervs       // 5, 2: what is for one rank is gathered, rank after rank
  };
  // Collective over `comm`, which it does not keep. host_of_rank: from hosts_of_ranks(), or any
  // numbers. Hosts are in the order of their lowest ranks, which are the leaders. Throws MpiError.
  AlltoallByLeaders(MPI_Comm comm, std::span<const int> host_of_rank, Timeout timeout = Timeout());

  [[nodiscard]] std::size_t hosts() const { return members_.size(); }

  // Parts of one rank, in its memory: counts[i] bytes from `address` + first[i] on go to rank i or
  // come from it. first: empty if they follow one another.
  template <class Byte>
  struct PartsOf {
    Byte* address;
    std::span<const std::size_t> counts;
    std::span<const std::size_t> first{};
  };
  // Collective, as MPI_Alltoallv. The counts that ranks send must be those that the others receive.
  // The buffers must not overlap. Precondition: what the ranks of one host send together, and what
  // they receive, is below 2 GiB. Throws MpiError.
  void run(Way way, const PartsOf<const std::byte>& sent, const PartsOf<std::byte>& received) const;

 private:
  // host_of: from numbered_hosts().
  AlltoallByLeaders(MPI_Comm comm, const std::vector<std::size_t>& host_of, Timeout timeout);
  // By rank of this host, the bytes of its parts, in order_. Empty but on the leader.
  using Table = std::vector<std::vector<std::size_t>>;

  [[nodiscard]] bool leads() const { return among_.has_value(); }
  [[nodiscard]] std::size_t ranks() const { return order_.size(); }
  [[nodiscard]] Table gather_counts(std::span<const std::size_t> counts) const;
  [[nodiscard]] std::vector<std::byte> in_order(const PartsOf<const std::byte>& parts) const;
  void store(std::span<const std::byte> parts_in_order, const PartsOf<std::byte>& received) const;
  [[nodiscard]] std::vector<std::byte> gathered(std::span<const std::byte> own,
                                                const Table& sent) const;
  [[nodiscard]] std::vector<std::byte> exchanged(std::span<const std::byte> of_host,
                                                 const Table& sent, const Table& received) const;
  // The sums of these bytes, in order_, by host.
  [[nodiscard]] std::vector<std::size_t> by_host(std::span<const std::size_t> bytes) const;
  [[nodiscard]] std::vector<std::byte> gathered_from_hosts(
      std::span<const std::byte> own, std::size_t host, std::span<const std::size_t> bytes) const;
  void hand_to(std::size_t member, std::span<const std::byte> parts,
               const PartsOf<std::byte>& received) const;
  void run_at_once(const PartsOf<const std::byte>& sent, const PartsOf<std::byte>& received) const;
  void run_rank_by_rank(const PartsOf<const std::byte>& sent,
                        const PartsOf<std::byte>& received) const;

  std::vector<std::size_t> order_;    // all ranks, host after host
  std::vector<std::size_t> members_;  // by host, how many ranks it has
  std::size_t host_;                  // of this rank
  OwnedComm within_;                  // this host; its rank 0 is the leader
  std::optional<OwnedComm> among_;    // the leaders, in the order of hosts; only on leaders
};

}  // namespace espalier::runtime
