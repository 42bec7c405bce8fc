#include "runtime/preload/interposer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "runtime/api/library_reduction.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/mpi_plugins.hpp"
#include "runtime/topology/tac_rules.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/pinned.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {
namespace {

using runtime::check;
using runtime::is_named;
using runtime::rank_in;
using runtime::size_of;

// Runs `act`; an exception becomes one line and an error code, because exceptions must not cross
// MPI.
template <class Act>
int guarded(const Act& act) noexcept {
  try {
    act();
    return MPI_SUCCESS;
  } catch (const runtime::MpiError& error) {
    print_line(error.what());
    return error.code();
  } catch (const InputError& error) {  // a segment of unexpected length
    print_line(error.what());
    return MPI_ERR_TRUNCATE;
  } catch (const std::bad_alloc&) {
    print_line("out of memory during a collective call");
    return MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    print_line(error.what());
    return MPI_ERR_OTHER;
  }
}

// Depends only on operations and predefined types, which are equal on all ranks. (User-defined
// types may differ among ranks if they describe the same data.)
bool goes_along_trees(planner::Operation operation, MPI_Datatype type, MPI_Op op) {
  return op != MPI_OP_NULL && is_named(type) && runtime::goes_along_trees(operation, type, op);
}

// Whether the runtime runs on this thread: it calls MPI by its usual names, which this library also
// defines. (The library is loaded with the program, so that the variable may be at a fixed offset.)
[[gnu::tls_model("initial-exec")]] thread_local bool is_inside = false;

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Inside : public Pinned {
 public:
  Inside() : before_(std::exchange(is_inside, true)) {}
  ~Inside() { is_inside = before_; }

 private:
  bool before_;
};

// The most bytes that a rank may send in an alltoall by leaders: what the ranks of a host send
// together must be below 2 GiB, even if they send all of it.
std::uint64_t most_by_leaders(MPI_Comm comm) {
  const auto ranks = static_cast<std::uint64_t>(size_of(comm));
  return std::min(runtime::kTacAlltoall.value - 1, std::numeric_limits<int>::max() / ranks);
}

}  // namespace

Interposer& Interposer::get() {
  static auto* const only = new Interposer;
  return *only;
}

bool Interposer::is_bypassed() const {
  return is_inside || !active_.load(std::memory_order_acquire);
}

void Interposer::started() {
  if (was_started_) return;
  was_started_ = true;
  const Inside inside;
  if (guarded([this] { start(); }) != MPI_SUCCESS) active_ = false;
}

void Interposer::start() {
  try {
    shared_ = share_settings(MPI_COMM_WORLD);
  } catch (const runtime::MpiError&) {
    throw;
  } catch (const Error& error) {  // on all ranks
    if (rank_in(MPI_COMM_WORLD) == 0)
      print_line(fmt::format("{}; MPI runs unchanged", error.what()));
    return;
  }
  if (!shared_->settings.asks_for_something() && !shared_->learns) {
    if (shared_->settings.verbose && rank_in(MPI_COMM_WORLD) == 0) {
      print_line(
          "MPI runs unchanged: none of ESPALIER_PLAN, ESPALIER_DECISIONS, ESPALIER_PLATFORM and "
          "ESPALIER_GROUPS is set");
    }
    return;
  }
  most_ranks_ = size_of(MPI_COMM_WORLD);
  if (most_ranks_ <= kTooFewRanks && !counts_calls()) return;
  maker_.emplace(*shared_);
  if (shared_->learns) {
    learner_.emplace(*shared_);
    if (can_plan()) maker_->know(learner_->known_before());
  }
  least_for_plans_ = shared_->settings.threshold;
  if (shared_->only_local()) least_for_plans_ = std::max(least_for_plans_, kLocalCalls);
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_communicator, &key_, this),
        "MPI_Comm_create_keyval");
  int finish_key = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish_first, &finish_key, this),
        "MPI_Comm_create_keyval");
  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF, whatever language it is called
  // from.
  check(PMPI_Comm_set_attr(MPI_COMM_SELF, finish_key, this), "MPI_Comm_set_attr");
  active_ = true;
}

bool Interposer::goes_to_mpi(const Call& call) const {
  if (counts_calls() || call.counts.is_given() || call.type == MPI_DATATYPE_NULL) return false;
  int element = 0;
  if (PMPI_Type_size(call.type, &element) != MPI_SUCCESS) return false;
  const double bytes = static_cast<double>(element) * static_cast<double>(call.count);
  return bytes * (call.per_rank ? most_ranks_ : 1) < static_cast<double>(least_for_plans_.value);
}

int Interposer::make(const Call& call, const CallMpi& call_mpi) {
  return make(call, call_mpi, [&] { return run(call); });
}

int Interposer::make(VaryingCall&& call, const CallMpi& call_mpi) {
  return make(call, call_mpi, [&] { return run_varying(call); });
}

int Interposer::make(const Call& call, const CallMpi& call_mpi,
                     const std::function<std::optional<Left>()>& run) {
  if (call.comm == MPI_COMM_NULL) return call_mpi();  // it reports the error best
  std::optional<Left> left;
  const int code = guarded([&] { left = run(); });
  if (code != MPI_SUCCESS) {
    // A function of the program's, which may make calls like any other, and need not return.
    PMPI_Comm_call_errhandler(call.comm, code);
    return code;
  }
  return left ? leave(call, call_mpi, *left) : MPI_SUCCESS;
}

std::optional<Interposer::Left> Interposer::run_varying(VaryingCall& call) {
  if (shared_->settings.varying == VaryingParts::kHandOn) {
    count_left_to_mpi(Reason::kVaryingParts, call);
    return Left{shared_->settings.report ? call.bytes().value_or(0) : 0};
  }
  {
    const Inside inside;
    if (!is_among_ranks(call) || !call.agree()) return Left{};
  }
  return run(call);
}

void Interposer::count_non_blocking(const Call& call) {
  if (call.comm == MPI_COMM_NULL) return;
  guarded([&] {
    count_left_to_mpi(Reason::kNonBlocking, call);
    const std::uint64_t bytes = call.bytes().value_or(0);
    if (!shared_->settings.report || bytes == 0 || !counts(call)) return;
    const std::lock_guard lock(mutex_);
    ++size_tally(call, bytes).left_to_mpi;
  });
}

std::optional<Interposer::Left> Interposer::run(const Call& call) {
  const std::optional<std::uint64_t> bytes = call.bytes();
  if (!bytes) return Left{};
  if (*bytes == 0 || *bytes < shared_->settings.threshold.value) {
    count_left_to_mpi(Reason::kBelowThreshold, call);
    return Left{*bytes};
  }
  const Inside inside;
  ReadyPlans* const ready = taken(call, *bytes);
  if (ready == nullptr) return Left{*bytes};
  const std::size_t way = ready->trials.next(*bytes);
  if (way == Trials::kMpi) {
    const bool is_trial = ready->trials.is_trial(*bytes);
    count_left_to_mpi(is_trial ? Reason::kTrial : Reason::kFaster, call);
    return Left{*bytes, is_trial ? ready : nullptr};
  }
  const double start = PMPI_Wtime();
  if (ready->is_pull(way)) {
    call.pull(*ready->pull);
  } else if (ready->leaders) {
    call.run_by_leaders(*ready->leaders);
  } else {
    call.run(ready->plans[way - 1].runner);
  }
  const double seconds = PMPI_Wtime() - start;
  ready->trials.note(*bytes, seconds, ready->comm, runtime::Timeout(shared_->settings.timeout));
  report(*ready, way, call, *bytes, seconds);
  if (ready->learns) learn(*ready, call, *bytes, seconds);
  return std::nullopt;
}

int Interposer::leave(const Call& call, const CallMpi& call_mpi, const Left& left) {
  const bool is_reported = shared_->settings.report && left.bytes > 0;
  if (left.ready == nullptr && !is_reported) return call_mpi();
  const double start = PMPI_Wtime();
  if (const int code = call_mpi(); code != MPI_SUCCESS) return code;
  const double seconds = PMPI_Wtime() - start;
  const int code = guarded([&] {
    const Inside inside;
    if (is_reported && counts(call)) {
      const std::lock_guard lock(mutex_);
      SizeTally& tally = size_tally(call, left.bytes);
      ++tally.left_to_mpi;
      tally.left_to_mpi_s += seconds;
    }
    if (left.ready == nullptr) return;
    left.ready->trials.note(left.bytes, seconds, left.ready->comm,
                            runtime::Timeout(shared_->settings.timeout));
  });
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, code);
  return code;
}

bool Interposer::is_among_ranks(const Call& call) {
  int inter = 0;
  check(PMPI_Comm_test_inter(call.comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) count_left_to_mpi(Reason::kIntercommunicator, call);
  return inter == 0 && call.root >= 0 && call.root < size_of(call.comm);
}

ReadyPlans* Interposer::taken(const Call& call, std::uint64_t bytes) {
  if (!is_among_ranks(call)) return nullptr;
  if (planner::combines(call.operation) && !goes_along_trees(call.operation, call.type, call.op)) {
    count_left_to_mpi(Reason::kNotAlongTrees, call);
    return nullptr;
  }
  if (call.has_wrong_buffers()) return nullptr;
  Communicator::Entry& entry = known(call.comm).entry_for(call, bytes, *shared_, *maker_);
  if (const Reason* reason = std::get_if<Reason>(&entry)) {
    count_left_to_mpi(*reason, call);
    return nullptr;
  }
  ReadyPlans* const ready = std::get<std::unique_ptr<ReadyPlans>>(entry).get();
  if (bytes < ready->least.value) {
    count_left_to_mpi(Reason::kOneHost, call);
    return nullptr;
  }
  if (ready->leaders && bytes > most_by_leaders(call.comm)) {
    count_left_to_mpi(Reason::kByRules, call);
    return nullptr;
  }
  return ready;
}

Communicator& Interposer::known(MPI_Comm comm) {
  void* value = nullptr;
  int is_set = 0;
  check(PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_set), "MPI_Comm_get_attr");
  if (is_set != 0) return *static_cast<Communicator*>(value);
  std::list<Communicator> fresh(1);
  check(PMPI_Comm_set_attr(comm, key_, &fresh.front()), "MPI_Comm_set_attr");
  const std::lock_guard lock(mutex_);
  communicators_.splice(communicators_.end(), fresh);
  return communicators_.back();
}

void Interposer::learn(const ReadyPlans& ready, const Call& call, std::uint64_t bytes,
                       double seconds) {
  const bool is_learnt =
      known(call.comm).learn(ready, call.operation, {bytes}, {seconds}, *learner_, *maker_);
  if (is_learnt && shared_->settings.verbose && rank_in(call.comm) == 0) {
    print_line("the network is learnt; plans are made from now on");
  }
}

void Interposer::finish() {
  active_ = false;
  runtime::keep_plugins_loaded();
  const Inside inside;
  guarded([this] {
    for (Communicator& communicator : communicators_) communicator.forget();
    if (counts_calls()) print_summaries();
    if (shared_->settings.report) print_table();
  });
}

int Interposer::forget_communicator(MPI_Comm /*comm*/, int /*key*/, void* value, void* self) {
  auto& interposer = *static_cast<Interposer*>(self);
  const Inside inside;
  return guarded([&] {
    std::list<Communicator> forgotten;  // frees its communicators without the lock
    const std::lock_guard lock(interposer.mutex_);
    const auto found =
        std::ranges::find(interposer.communicators_, value,
                          [](const Communicator& one) -> const void* { return &one; });
    if (found != interposer.communicators_.end()) {
      forgotten.splice(forgotten.end(), interposer.communicators_, found);
    }
  });
}

int Interposer::finish_first(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* self) {
  static_cast<Interposer*>(self)->finish();
  return MPI_SUCCESS;
}

}  // namespace espalier::preload
