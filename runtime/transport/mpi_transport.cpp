#include "runtime/transport/mpi_transport.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

// A polling source uses processor time but has little to do, because its children's MPI libraries
// make the copies. The other ranks have copies to make; if they doze, processors stay idle. Below
// this size a doze takes longer than the event that it waits for.
constexpr std::uint64_t kWorthDozing = std::uint64_t{1} << 20U;

constexpr double kMoment_s = 50e-6;
#ifdef SMPI_H
// Sleeps are exact, transfers continue meanwhile, and every poll costs time to simulate.
constexpr bool kIsSimulated = true;
constexpr double kWorthSleeping_s = 0;
#else
constexpr bool kIsSimulated = false;
constexpr double kWorthSleeping_s = 4 * kMoment_s;  // because a sleep may last twice as long
#endif

// Sleeps briefly, unless `due_s` is soon. In simulated time sleeps until then, if the rank awaits
// no segments.
void doze(double due_s, bool awaits_segments) {
  const double left_s = due_s - MPI_Wtime();
  if (due_s == 0 || left_s <= kWorthSleeping_s) return;
  constexpr double kMost_s = 0.9;  // ::usleep takes less than a second
  const bool to_the_end = kIsSimulated && !awaits_segments;
  const double sleep_s = std::min(left_s, to_the_end ? kMost_s : kMoment_s);
  ::usleep(static_cast<::useconds_t>(std::ceil(sleep_s * 1e6)));
}

}  // namespace

MpiTransport::MpiTransport(MPI_Comm comm, std::vector<engine::TreeRole> roles,
                           MpiTransportOptions options)
    : comm_(comm),
      rank_(rank_in(comm)),
      roles_(std::move(roles)),
      options_(std::move(options)),
      requests_(roles_, engine::windows_of(roles_, 1, 1, {1}, false)),
      abort_signal_(comm_, rank_, options_.root,
                    roles_.empty() ? 0 : static_cast<int>(roles_.back().number + 1), requests_),
      timeout_(options_.timeout) {
  if (options_.rings) rings_.emplace(options_.rings, roles_, options_.transfers);
  const auto uses_ring = [](const engine::Edge& edge) { return edge.uses_ring(); };
  has_only_rings_ = std::ranges::all_of(roles_, [&](const engine::TreeRole& role) {
    return std::ranges::all_of(role.in, uses_ring) && std::ranges::all_of(role.out, uses_ring);
  });
  if (rings_) rings_->set_windows(requests_.windows());
}

void MpiTransport::abandon() noexcept {
  if (call_.check != nullptr && !is_checked()) call_.check->leave_to_mpi();
  requests_.abandon();
}

void MpiTransport::set_windows(std::vector<engine::TreeWindows> windows) {
  if (rings_) rings_->set_windows(windows);
  requests_ = RequestTable(roles_, std::move(windows));
}

void MpiTransport::begin(bool stoppable) {
  if (options_.transfers != nullptr) {
    options_.transfers->begin_run(requests_.size() + (rings_ ? rings_->places() : 0));
  }
  if (rings_) rings_->begin(call_.bytes, call_.unit_bytes, requests_.size());
  if (call_.check != nullptr) call_.check->begin(comm_, requests_.size_check());
  abort_signal_.begin(stoppable);
}

// --- sends and receives ---

int MpiTransport::receive(const engine::Operation& operation, const engine::Segment& segment,
                          std::byte* buffer) {
  if (edge_of(operation).uses_ring()) {
    rings_->begin_transfer(operation, segment, buffer);
    return 0;
  }
  const int code =
      MPI_Irecv(buffer, static_cast<int>(segment.length), call_.type, edge_of(operation).peer,
                tag_of(operation), comm_, &requests_.begun(operation));
  if (code == MPI_SUCCESS) log_begin(operation, segment);
  return code;
}

int MpiTransport::send(const engine::Operation& operation, const engine::Segment& segment,
                       std::byte* buffer, bool synchronous) {
  if (edge_of(operation).uses_ring()) {
    rings_->begin_transfer(operation, segment, buffer);
    return 0;
  }
  const auto post = synchronous ? MPI_Issend : MPI_Isend;
  const int code =
      post(buffer, static_cast<int>(segment.length), call_.type, edge_of(operation).peer,
           tag_of(operation), comm_, &requests_.begun(operation));
  if (code == MPI_SUCCESS && segment.length != 0) log_begin(operation, segment);
  return code;
}

void MpiTransport::log_begin(const engine::Operation& operation, const engine::Segment& segment) {
  if (options_.transfers == nullptr) return;
  engine::Segment in_bytes = segment;
  in_bytes.length *= call_.unit_bytes;
  in_bytes.tree = roles_[operation.tree].number;
  options_.transfers->begun(requests_.place_of(operation), in_bytes, edge_of(operation).peer,
                            operation.is_send);
}

void MpiTransport::cancel(const engine::Operation& operation) {
  check(MPI_Cancel(&requests_.of(operation)), "MPI_Cancel");
  check(MPI_Wait(&requests_.of(operation), MPI_STATUS_IGNORE), "MPI_Wait");
}

int MpiTransport::peer_of(const engine::Operation& operation) const {
  const engine::Edge& edge = edge_of(operation);
  return edge.peer == engine::kNoRank ? rings_->slowest_reader(operation) : edge.peer;
}

// --- waiting ---

void MpiTransport::await_check() {
  if (call_.check == nullptr) return;
  timeout_.wait(requests_.size_check(), options_.check_name);
  call_.check->judge(rank_);
}

std::span<const engine::Completion> MpiTransport::poll() {
  completions_.clear();
  has_moved_ = rings_ && rings_->move(completions_);
  if (has_moved_) timeout_.begin();
  // A call of MPI may yield the processor.
  if (!has_moved_ || !has_only_rings_) note(requests_.test_some());
  return completions_;
}

std::optional<std::span<const engine::Completion>> MpiTransport::wait() {
  const bool dozes = options_.may_doze && call_.bytes >= kWorthDozing;
  const auto completions = requests_.wait_for_some(
      dozes ? RequestTable::Waiting::kDozing : RequestTable::Waiting::kBusy, timeout_);
  if (!completions) return {};
  completions_.clear();
  note(*completions);
  return std::span<const engine::Completion>(completions_);
}

void MpiTransport::note(std::span<const RequestTable::Completion> completions) {
  using Kind = RequestTable::Kind;
  for (const auto& [entry, status, error, place] : completions) {
    if (entry.kind == Kind::kSizeCheck) {
      if (error != MPI_SUCCESS) fail(error, fmt::format("rank {}, {}", rank_, check_name()));
      call_.check->judge(rank_);
    } else if (entry.kind == Kind::kAbort) {
      if (error != MPI_SUCCESS)
        fail(error, fmt::format("rank {}, passing the abort signal", rank_));
      if (rank_ != options_.root) continue;
      abort_signal_.note_received();
      completions_.push_back({engine::Completion::Kind::kAbort});
    } else {
      engine::Completion& done = completions_.emplace_back();
      done.operation = entry.operation;
      done.error = error;
      if (options_.transfers != nullptr) options_.transfers->ended(place);
      if (error != MPI_SUCCESS || entry.operation.is_send) continue;
      int units = 0;
      check(MPI_Get_count(status, call_.type, &units), "MPI_Get_count");
      if (units != MPI_UNDEFINED) done.length = static_cast<std::uint64_t>(units);
    }
  }
}

void MpiTransport::relax(double due_s, bool awaits_segments) const {
  if (has_moved_) return;
  if (has_to_poll()) {
    ::sched_yield();
  } else {
    doze(due_s, awaits_segments);
  }
}

void MpiTransport::fail(int error, const std::string& doing) const {
  throw MpiError(error, doing);
}

void MpiTransport::give_up(const std::string& waits) const {
  throw TimedOut(fmt::format("rank {}: {}; {}", rank_, timeout_.complaint(), waits));
}

}  // namespace espalier::runtime
