// What a program that is given neither plans nor a platform learns of its network: its long
// broadcasts and allgathers are pulled (runtime/pull/), which measures the links, and soon there
// are plans for all operations.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/preload/shared_settings.hpp"
#include "runtime/pull/network_memory.hpp"
#include "runtime/pull/pull_among_hosts.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {

// Of the network between the ranks of MPI_COMM_WORLD, in their order. Functions are collective.
class Learner {
 public:
  // Over MPI_COMM_WORLD. Its rank 0 reads what an earlier program has kept.
  explicit Learner(const SharedSettings& shared);

  // The network as earlier programs have shown it, as a platform in Espalier's JSON, on all ranks;
  // empty: not yet, or not recently.
  [[nodiscard]] const std::string& known_before() const { return known_before_; }
  // Over `comm`, of all ranks in the same order, after a message that was pulled on it. The network
  // as a platform, on all ranks, once enough messages have been seen; before, empty.
  std::string learn(runtime::PullAmongHosts& pull, MPI_Comm comm, planner::Operation operation,
                    Bytes message, Seconds time);

 private:
  std::string known_before_;
  std::mutex mutex_;  // of the following, on rank 0; no call of MPI is made meanwhile
  runtime::NetworkMemory memory_;
  std::size_t messages_ = 0;
};

}  // namespace espalier::preload
