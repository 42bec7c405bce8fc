// The requests of a rank for several trees, in one array for MPI_Waitsome, with a description of
// each.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine/tree_role.hpp"
#include "runtime/engine/windows.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

class RequestTable {
 public:
  // Down: a rank receives from its parents and sends to its children. Up: the reverse.
  enum class Direction : std::uint8_t { kDown, kUp };
  // windows: one per tree; each at least 1.
  RequestTable(std::span<const TreeRole> roles, std::vector<TreeWindows> windows,
               Direction direction = Direction::kDown);
  [[nodiscard]] std::span<const TreeWindows> windows() const { return windows_; }

  enum class Kind : std::uint8_t { kReceive, kSend, kSizeCheck, kAbort };
  struct Entry {
    Kind kind;
    std::uint32_t tree;
    std::uint32_t child;  // index of the child, if the peer is a child
    std::uint32_t slot;   // in its window: segment n of a tree occupies slot n modulo the window
  };

  // The request of a tree's segment `nth`. MPI_REQUEST_NULL if it is complete or was never begun;
  // the caller's counters distinguish the two.
  MPI_Request& receive(std::size_t tree, std::uint64_t nth) { return of_parent(tree, nth); }
  MPI_Request& send(std::size_t tree, std::size_t child, std::uint64_t nth) {
    return of_child(tree, child, nth);
  }
  // The same for reductions (kUp).
  MPI_Request& send_up(std::size_t tree, std::uint64_t nth) { return of_parent(tree, nth); }
  MPI_Request& receive_up(std::size_t tree, std::size_t child, std::uint64_t nth) {
    return of_child(tree, child, nth);
  }
  MPI_Request& size_check() { return requests_[requests_.size() - 2]; }
  [[nodiscard]] const MPI_Request& size_check() const { return requests_[requests_.size() - 2]; }
  MPI_Request& abort_request() { return requests_[requests_.size() - 1]; }
  [[nodiscard]] std::size_t size() const { return requests_.size(); }
  // The index of one of its requests, below size().
  [[nodiscard]] std::size_t place_of(const MPI_Request& request) const {
    return static_cast<std::size_t>(&request - requests_.data());
  }

  struct Completion {
    Entry entry;
    const MPI_Status* status;  // valid until the next wait
    int error;
    std::size_t place;  // index of its request
  };
  // Busy: MPI's own waiting, which polls. Dozing: sleeps between polls, so that a waiting rank
  // leaves a shared processor to a rank that has data to copy.
  enum class Waiting : std::uint8_t { kBusy, kDozing };
  // Restarts the timeout and waits until at least one request is complete. The span is valid until
  // the next call; it is empty if no request was in progress. Returns nullopt if the timeout was
  // exceeded. Throws MpiError if MPI fails as a whole; the failure of one request is in its
  // completion.
  std::optional<std::span<const Completion>> wait_for_some(Waiting waiting, Timeout& timeout);
  // The same without waiting: the requests that are complete now, if any.
  std::span<const Completion> test_some();

  // Requests that are in progress.
  [[nodiscard]] std::vector<Entry> outstanding() const;
  // After a failure: cancels or frees the outstanding requests, after waiting briefly for those
  // that still complete. The buffers of the others must be kept.
  void abandon() noexcept;

 private:
  void drain() noexcept;
  // Evaluates the result of MPI_Waitsome or MPI_Testsome.
  std::span<const Completion> note(int code, int completed);
  MPI_Request& of_parent(std::size_t tree, std::uint64_t nth) {
    return requests_[first_[tree] + nth % windows_[tree].parent];
  }
  MPI_Request& of_child(std::size_t tree, std::size_t child, std::uint64_t nth) {
    return requests_[first_child_[tree][child] + nth % windows_[tree].children[child]];
  }

  std::vector<TreeWindows> windows_;                   // of each tree
  std::vector<std::size_t> first_;                     // request with the parent of each tree
  std::vector<std::vector<std::size_t>> first_child_;  // request with each child of each tree
  std::vector<Entry> entries_;
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Completion> completions_;
};

}  // namespace espalier::runtime
