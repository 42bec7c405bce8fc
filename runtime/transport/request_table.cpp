#include "runtime/transport/request_table.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// Linux adds its timer slack, 50 us by default: a fraction of a segment's time.
constexpr auto kDoze = std::chrono::microseconds(5);
// How long to wait for another completion after a failure.
constexpr auto kDrain = std::chrono::milliseconds(200);

}  // namespace

RequestTable::RequestTable(std::span<const engine::TreeRole> roles,
                           std::vector<engine::TreeWindows> windows)
    : windows_(std::move(windows)) {
  const auto add = [&](std::size_t tree, bool is_send, std::span<const engine::Edge> edges,
                       std::span<const std::uint64_t> of_edges) {
    std::vector<Slots>& slots = edges_[is_send ? 1 : 0].emplace_back();
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
      slots.push_back({entries_.size(), of_edges[edge]});
      if (edges[edge].uses_ring()) continue;
      entries_.resize(entries_.size() + of_edges[edge], {Kind::kTransfer,
                                                         {is_send, static_cast<std::uint32_t>(tree),
                                                          static_cast<std::uint32_t>(edge), 0}});
    }
  };
  for (std::size_t tree = 0; tree < roles.size(); ++tree) {
    add(tree, false, roles[tree].in, windows_[tree].in);
    add(tree, true, roles[tree].out, windows_[tree].out);
  }
  entries_.push_back({Kind::kSizeCheck, {}});
  entries_.push_back({Kind::kAbort, {}});
  requests_.assign(entries_.size(), MPI_REQUEST_NULL);
  indices_.resize(entries_.size());
  statuses_.resize(entries_.size());
}

std::optional<std::span<const RequestTable::Completion>> RequestTable::wait_for_some(
    Waiting waiting, Timeout& timeout) {
  const auto size = static_cast<int>(requests_.size());
  int completed = 0;
  int code = MPI_SUCCESS;
  const bool polls = waiting == Waiting::kDozing || timeout.is_limited();
  if (!polls) {
    code = MPI_Waitsome(size, requests_.data(), &completed, indices_.data(), statuses_.data());
  }
  if (polls) timeout.begin();
  while (polls) {
    code = MPI_Testsome(size, requests_.data(), &completed, indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS || completed != 0) break;
    if (timeout.is_over()) return {};
    if (waiting == Waiting::kDozing) std::this_thread::sleep_for(kDoze);
  }
  return note(code, completed);
}

std::span<const RequestTable::Completion> RequestTable::test_some() {
  int completed = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &completed,
                                indices_.data(), statuses_.data());
  return note(code, completed);
}

std::span<const RequestTable::Completion> RequestTable::note(int code, int completed) {
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) throw MpiError(code, "MPI_Waitsome");
  completions_.clear();
  if (completed == MPI_UNDEFINED) return std::span<const Completion>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(completed); ++i) {
    // The error fields of the statuses are valid only with MPI_ERR_IN_STATUS.
    const int error = code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : MPI_SUCCESS;
    const auto place = static_cast<std::size_t>(indices_[i]);
    completions_.push_back({entries_[place], &statuses_[i], error, place});
  }
  return std::span<const Completion>(completions_);
}

void RequestTable::abandon() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    const auto& [kind, operation] = entries_[i];
    const bool is_receive = kind == Kind::kTransfer && !operation.is_send;
    if (is_receive || kind == Kind::kAbort) MPI_Cancel(&requests_[i]);
  }
  drain();
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    // MPI forbids freeing a collective's request; it is left to MPI.
    if (entries_[i].kind == Kind::kSizeCheck) {
      requests_[i] = MPI_REQUEST_NULL;
    } else {
      MPI_Request_free(&requests_[i]);
    }
  }
}

// Messages that were matched before the cancellation still arrive, and must not arrive after the
// owner has released the memory. Unmatched requests never complete.
void RequestTable::drain() noexcept {
  using Clock = std::chrono::steady_clock;
  auto last = Clock::now();
  while (Clock::now() - last < kDrain) {
    int completed = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &completed,
                                  indices_.data(), statuses_.data());
    if (completed == MPI_UNDEFINED || (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)) return;
    if (completed != 0) last = Clock::now();
  }
}

}  // namespace espalier::runtime
