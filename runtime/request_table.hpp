// The requests of a rank that takes part in several trees, in one array for MPI_Waitsome, and what
// each one is.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/patience.hpp"
#include "runtime/tree_role.hpp"

namespace espalier::runtime {

class RequestTable {
 public:
  // receives: window of each tree that has a parent. sends: window of each child.
  RequestTable(std::span<const TreeRole> roles, std::size_t receives, std::size_t sends);

  enum class Kind : std::uint8_t { kReceive, kSend, kSizeCheck, kStopWord };
  struct Entry {
    Kind kind;
    std::uint32_t tree;
    std::uint32_t child;  // of a send, its place among the children
    std::uint32_t slot;   // in its window: slice n of a tree is in slot n modulo the window
  };

  // The request of a tree's slice `nth`. MPI_REQUEST_NULL when it is complete or was never begun:
  // which of the two, the caller's counters say.
  MPI_Request& receive(std::size_t tree, std::uint64_t nth) {
    return requests_[first_[tree] + nth % receives_];
  }
  MPI_Request& send(std::size_t tree, std::size_t child, std::uint64_t nth) {
    return requests_[first_send_[tree] + child * sends_ + nth % sends_];
  }
  MPI_Request& size_check() { return requests_[requests_.size() - 2]; }
  MPI_Request& stop_word() { return requests_[requests_.size() - 1]; }
  [[nodiscard]] std::size_t size() const { return requests_.size(); }
  // The place of one of its requests, below size().
  [[nodiscard]] std::size_t place_of(const MPI_Request& request) const {
    return static_cast<std::size_t>(&request - requests_.data());
  }

  struct Completion {
    Entry entry;
    const MPI_Status* status;  // valid until the next wait; null where MPI reported no success
    int error;
    std::size_t place;  // of its request
  };
  // Busy: MPI's own waiting, which polls. Dozing: sleeps between polls, so that where ranks share
  // processors one that waits leaves the processor to one that has something to copy.
  enum class Waiting : std::uint8_t { kBusy, kDozing };
  // Waits until at least one request is complete. The span is valid until the next call; empty when
  // no request was under way; nothing when patience, which it begins anew, has ended. Throws
  // MpiError when MPI fails as a whole; a failure of one request is in its completion.
  std::optional<std::span<const Completion>> wait_for_some(Waiting waiting, Patience& patience);
  // The same for who waits for ever.
  std::span<const Completion> wait_for_some(Waiting waiting) {
    Patience endless;
    return *wait_for_some(waiting, endless);
  }

  // Requests that are under way.
  [[nodiscard]] std::vector<Entry> outstanding() const;
  // Gives up what is outstanding, after a failure: lets end what does so in the next moments. The
  // buffers of the others must stay.
  void abandon() noexcept;

 private:
  void drain() noexcept;

  std::size_t receives_;
  std::size_t sends_;
  std::vector<std::size_t> first_;       // receive request of each tree
  std::vector<std::size_t> first_send_;  // send request of each tree
  std::vector<Entry> entries_;
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Completion> completions_;
};

}  // namespace espalier::runtime
