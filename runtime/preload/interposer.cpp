#include "runtime/preload/interposer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "runtime/api/library_reduction.hpp"
#include "runtime/memory/element_shape.hpp"
#include "runtime/memory/mpi_plugins.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {
namespace {

using runtime::check;
using runtime::is_named;
using runtime::rank_in;
using runtime::size_of;

void print_line(std::string_view line) {
  fmt::print(stderr, "espalier-pmpi: {}\n", line);
}

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
// defines.
thread_local bool is_inside = false;

class Inside {
 public:
  Inside() : before_(std::exchange(is_inside, true)) {}
  ~Inside() { is_inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Inside(Inside&&) = delete;
  Inside& operator=(Inside&&) = delete;

 private:
  bool before_;
};

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
  if (!shared_->settings.asks_for_something()) {
    if (shared_->settings.verbose && rank_in(MPI_COMM_WORLD) == 0) {
      print_line(
          "MPI runs unchanged: none of ESPALIER_PLAN, ESPALIER_DECISIONS and ESPALIER_PLATFORM is "
          "set");
    }
    return;
  }
  maker_.emplace(*shared_);
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

template <class CallMpi>
int Interposer::decide(const Call& call, const CallMpi& call_mpi) {
  // Invalid calls are left to MPI, which reports them best (also for the types and roots below).
  if (call.count < 0 || call.type == MPI_DATATYPE_NULL || call.comm == MPI_COMM_NULL) {
    return call_mpi();
  }
  MPI_Count element = 0;
  if (const int code = PMPI_Type_size_x(call.type, &element); code != MPI_SUCCESS) return code;
  std::uint64_t bytes = 0;
  if (element < 0 || __builtin_mul_overflow(static_cast<std::uint64_t>(element),
                                            static_cast<std::uint64_t>(call.count), &bytes)) {
    return call_mpi();
  }
  if (bytes == 0 || bytes < shared_->settings.threshold.value) {
    count_left_to_mpi(Reason::kBelowThreshold, call);
    return call_mpi();
  }
  bool has_run = false;
  const int code = guarded([&] { has_run = run(call, bytes); });
  if (code != MPI_SUCCESS) {
    // A function of the program's, which may make calls like any other, and need not return.
    PMPI_Comm_call_errhandler(call.comm, code);
    return code;
  }
  return has_run ? MPI_SUCCESS : call_mpi();
}

bool Interposer::run(const Call& call, std::uint64_t bytes) {
  const Inside inside;
  ReadyPlan* const ready = taken(call, bytes);
  if (ready == nullptr) return false;
  const double start = PMPI_Wtime();
  const auto count = static_cast<std::size_t>(call.count);
  if (call.operation == planner::Operation::kBroadcast) {
    ready->runner.run(call.recvbuf, count, call.type);
  } else {
    ready->runner.run(call.sendbuf, call.recvbuf, count, call.type, call.op);
  }
  report(*ready, call, bytes, PMPI_Wtime() - start);
  return true;
}

int Interposer::broadcast(void* buffer, MPI_Count count, MPI_Datatype type, int root,
                          MPI_Comm comm) {
  const auto call_mpi = [&] {
#if MPI_VERSION >= 4
    return PMPI_Bcast_c(buffer, count, type, root, comm);
#else
    return PMPI_Bcast(buffer, static_cast<int>(count), type, root, comm);
#endif
  };
  return decide(
      {planner::Operation::kBroadcast, count, type, root, comm, MPI_OP_NULL, nullptr, buffer},
      call_mpi);
}

int Interposer::reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                       MPI_Op op, int root, MPI_Comm comm) {
  const auto call_mpi = [&] {
#if MPI_VERSION >= 4
    return PMPI_Reduce_c(sendbuf, recvbuf, count, type, op, root, comm);
#else
    return PMPI_Reduce(sendbuf, recvbuf, static_cast<int>(count), type, op, root, comm);
#endif
  };
  return decide({planner::Operation::kReduce, count, type, root, comm, op, sendbuf, recvbuf},
                call_mpi);
}

int Interposer::allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm) {
  const auto call_mpi = [&] {
#if MPI_VERSION >= 4
    return PMPI_Allreduce_c(sendbuf, recvbuf, count, type, op, comm);
#else
    return PMPI_Allreduce(sendbuf, recvbuf, static_cast<int>(count), type, op, comm);
#endif
  };
#ifdef OPEN_MPI
  // Other MPIs refuse equal buffers. Open MPI does not check, and the result is that of an in-place
  // call.
  if (sendbuf == recvbuf) sendbuf = MPI_IN_PLACE;
#endif
  return decide({planner::Operation::kAllreduce, count, type, 0, comm, op, sendbuf, recvbuf},
                call_mpi);
}

ReadyPlan* Interposer::taken(const Call& call, std::uint64_t bytes) {
  int inter = 0;
  check(PMPI_Comm_test_inter(call.comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) {
    count_left_to_mpi(Reason::kIntercommunicator, call);
    return nullptr;
  }
  if (call.root < 0 || call.root >= size_of(call.comm)) return nullptr;
  if (call.operation != planner::Operation::kBroadcast &&
      !goes_along_trees(call.operation, call.type, call.op)) {
    count_left_to_mpi(Reason::kNotAlongTrees, call);
    return nullptr;
  }
  if (has_wrong_buffers(call)) return nullptr;
  Communicator::Entry& entry =
      known(call.comm).entry_for(call.comm, call.operation, call.root, bytes, *shared_, *maker_);
  if (const Reason* reason = std::get_if<Reason>(&entry)) {
    count_left_to_mpi(*reason, call);
    return nullptr;
  }
  ReadyPlan* const ready = std::get<std::unique_ptr<ReadyPlan>>(entry).get();
  if (bytes < ready->least.value) {
    count_left_to_mpi(Reason::kOneHost, call);
    return nullptr;
  }
  return ready;
}

bool Interposer::has_wrong_buffers(const Call& call) {
  if (call.operation == planner::Operation::kBroadcast) {
    // MPI_BOTTOM, which is null, is valid for types with absolute addresses.
    return call.recvbuf == MPI_IN_PLACE || (call.recvbuf == nullptr && is_named(call.type));
  }
  if (call.sendbuf == nullptr) return true;
  const bool has_result =
      call.operation == planner::Operation::kAllreduce || rank_in(call.comm) == call.root;
  if (!has_result) return call.sendbuf == MPI_IN_PLACE;
  return call.recvbuf == nullptr || call.recvbuf == MPI_IN_PLACE || call.recvbuf == call.sendbuf;
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

void Interposer::report(const ReadyPlan& ready, const Call& call, std::uint64_t bytes,
                        double seconds) {
  if (!shared_->settings.verbose || rank_in(call.comm) != call.root) return;
  {
    const std::lock_guard lock(mutex_);
    Tally& tally = tallies_[static_cast<std::size_t>(call.operation)];
    ++tally.taken;
    tally.taken_bytes += bytes;
  }
  const auto ranks = static_cast<std::size_t>(size_of(call.comm));
  const BytesPerSecond achieved{static_cast<double>(bytes) / seconds};
  BytesPerSecond planned = ready.planned;
  if (ready.decided) {
    const runtime::Decision& decision = decision_for(*shared_->decisions_for(call.operation),
                                                     static_cast<std::uint32_t>(ranks), bytes);
    if (decision.predicted.value > 0) {
      planned = {static_cast<double>(decision.message_bytes) / decision.predicted.value};
    }
  }
  std::string segments;
  if (ready.decided || ready.tuned) {
    MPI_Count element = 1;
    PMPI_Type_size_x(call.type, &element);
    segments = fmt::format(
        ", segments of {}",
        format_size({ready.runner.segment_bytes(bytes, static_cast<std::uint64_t>(element))}));
  }
  print_line(fmt::format("{} {}: {}, {}{}, {} at {}, {} of {} {}", format_size({bytes}),
                         ranks_text(call.operation, call.root, ranks), printable(ready.algorithm),
                         counted(ready.trees, "tree"), segments, format_duration({seconds}),
                         call.operation == planner::Operation::kAllreduce ? "rank 0" : "the root",
                         format_rate(achieved), format_rate(planned),
                         ready.decided ? "predicted" : "planned"));
}

void Interposer::count_left_to_mpi(Reason reason, const Call& call) {
  if (!shared_->settings.verbose) return;
  int inter = 0;
  PMPI_Comm_test_inter(call.comm, &inter);
  int rank = 0;
  PMPI_Comm_rank(call.comm, &rank);
  const bool is_root = inter != 0 ? call.root == MPI_ROOT : call.root == rank;
  if (!is_root) return;
  const std::lock_guard lock(mutex_);
  ++tallies_[static_cast<std::size_t>(call.operation)]
        .left_to_mpi[static_cast<std::size_t>(reason)];
}

void Interposer::print_summaries() const {
  constexpr std::size_t kFigures = 2 + kReasons;
  std::array<std::uint64_t, 3 * kFigures> mine{};
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    const Tally& tally = tallies_[i];
    mine[i * kFigures] = tally.taken;
    mine[i * kFigures + 1] = tally.taken_bytes;
    std::copy(tally.left_to_mpi.begin(), tally.left_to_mpi.end(), &mine[i * kFigures + 2]);
  }
  std::array<std::uint64_t, 3 * kFigures> all{};
  check(PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM,
                    0, MPI_COMM_WORLD),
        "MPI_Reduce");
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    const std::uint64_t* const figures = &all[i * kFigures];
    const auto operation = static_cast<planner::Operation>(i);
    const bool any = std::any_of(figures, figures + kFigures, [](auto n) { return n != 0; });
    if (!any && operation != planner::Operation::kBroadcast) continue;
    Tally total{figures[0], figures[1], {}};
    std::copy_n(figures + 2, kReasons, total.left_to_mpi.begin());
    print_line(summary(runtime::library_function(operation), total));
  }
}

void Interposer::finish() {
  active_ = false;
  runtime::keep_plugins_loaded();
  const Inside inside;
  guarded([this] {
    for (Communicator& communicator : communicators_) communicator.forget();
    if (shared_->settings.verbose) print_summaries();
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
