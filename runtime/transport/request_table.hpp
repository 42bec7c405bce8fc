// The requests of a rank for several trees, in one array for MPI_Waitsome, with a description of
// each.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/transport.hpp"
#include "engine/tree_role.hpp"
#include "engine/windows.hpp"
#include "runtime/transport/timeout.hpp"

namespace espalier::runtime {

class RequestTable {
 public:
  // windows: one per tree, for each of its edges; each at least 1. Edges that use a ring have no
  // requests.
  RequestTable(std::span<const engine::TreeRole> roles, std::vector<engine::TreeWindows> windows);
  [[nodiscard]] std::span<const engine::TreeWindows> windows() const { return windows_; }

  enum class Kind : std::uint8_t { kTransfer, kSizeCheck, kAbort };
  struct Entry {
    Kind kind;
    engine::Operation operation;  // the latest one that was begun in this place
  };

  // The place of an operation: segment n of a tree occupies slot n modulo the edge's window.
  [[nodiscard]] std::size_t place_of(const engine::Operation& operation) const {
    const auto& [first, window] = edges_[operation.is_send ? 1 : 0][operation.tree][operation.edge];
    return first + operation.nth % window;
  }
  // The request of an operation that begins.
  MPI_Request& begun(const engine::Operation& operation) {
    const std::size_t place = place_of(operation);
    entries_[place].operation = operation;
    return requests_[place];
  }
  // MPI_REQUEST_NULL if it is complete or was never begun; the caller's counters distinguish the
  // two.
  [[nodiscard]] MPI_Request& of(const engine::Operation& operation) {
    return requests_[place_of(operation)];
  }
  [[nodiscard]] const MPI_Request& of(const engine::Operation& operation) const {
    return requests_[place_of(operation)];
  }
  MPI_Request& size_check() { return requests_[requests_.size() - 2]; }
  [[nodiscard]] const MPI_Request& size_check() const { return requests_[requests_.size() - 2]; }
  MPI_Request& abort_request() { return requests_[requests_.size() - 1]; }
  [[nodiscard]] std::size_t size() const { return requests_.size(); }

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

  // After a failure: cancels or frees the outstanding requests, after waiting briefly for those
  // that still complete. The buffers of the others must be kept.
  void abandon() noexcept;

 private:
  struct Slots {
    std::size_t first;  // request
    std::uint64_t window;
  };

  void drain() noexcept;
  // Evaluates the result of MPI_Waitsome or MPI_Testsome.
  std::span<const Completion> note(int code, int completed);

  std::vector<engine::TreeWindows> windows_;  // of each tree
  // Of in-edges, then of out-edges: [tree][edge].
  std::array<std::vector<std::vector<Slots>>, 2> edges_;
  std::vector<Entry> entries_;
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Completion> completions_;
};

}  // namespace espalier::runtime
