#include "runtime/preload/interposer.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "runtime/mpi_error.hpp"

namespace espalier::preload {
namespace {

using runtime::check;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

void say(std::string_view line) {
  fmt::print(stderr, "espalier-pmpi: {}\n", line);
}

// Runs `act`; what it throws becomes one line and an error code, for exceptions may not cross MPI.
template <class Act>
int guarded(const Act& act) noexcept {
  try {
    act();
    return MPI_SUCCESS;
  } catch (const runtime::MpiError& error) {
    say(error.what());
    return error.code();
  } catch (const InputError& error) {  // a slice of another length than was due
    say(error.what());
    return MPI_ERR_TRUNCATE;
  } catch (const std::bad_alloc&) {
    say("no memory for a broadcast");
    return MPI_ERR_NO_MEM;
  } catch (const std::exception& error) {
    say(error.what());
    return MPI_ERR_OTHER;
  }
}

}  // namespace

// The runtime calls MPI by its usual names, which are this library's as well.
class Interposer::Inside {
 public:
  explicit Inside(Interposer& self) : self_(self), before_(self.inside_) { self_.inside_ = true; }
  ~Inside() { self_.inside_ = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Inside(Inside&&) = delete;
  Inside& operator=(Inside&&) = delete;

 private:
  Interposer& self_;
  bool before_;
};

Interposer& Interposer::get() {
  static auto* const only = new Interposer;
  return *only;
}

void Interposer::started() {
  if (was_started_) return;
  was_started_ = true;
  const Inside inside(*this);
  if (guarded([this] { start(); }) != MPI_SUCCESS) active_ = false;
}

void Interposer::start() {
  try {
    shared_ = share_settings(MPI_COMM_WORLD);
  } catch (const runtime::MpiError&) {
    throw;
  } catch (const Error& error) {  // on all ranks alike
    if (rank_in(MPI_COMM_WORLD) == 0) say(fmt::format("{}; MPI_Bcast is left alone", error.what()));
    return;
  }
  int threads = MPI_THREAD_SINGLE;
  check(PMPI_Query_thread(&threads), "MPI_Query_thread");
  int most_threads = threads;
  check(PMPI_Allreduce(&threads, &most_threads, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD),
        "MPI_Allreduce");
  const bool useful = shared_->settings.asks_for_something();
  if (!useful || most_threads == MPI_THREAD_MULTIPLE) {
    if (shared_->settings.verbose && rank_in(MPI_COMM_WORLD) == 0) {
      say(fmt::format("MPI_Bcast is left alone: {}",
                      useful ? "the program may call MPI from several threads at once "
                               "(MPI_THREAD_MULTIPLE)"
                             : "neither ESPALIER_PLAN nor ESPALIER_PLATFORM is set"));
    }
    return;
  }
  maker_.emplace(*shared_);
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_communicator, &key_, this),
        "MPI_Comm_create_keyval");
  int finish_key = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish_first, &finish_key, this),
        "MPI_Comm_create_keyval");
  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF, in whatever language it is called.
  check(PMPI_Comm_set_attr(MPI_COMM_SELF, finish_key, this), "MPI_Comm_set_attr");
  active_ = true;
}

int Interposer::broadcast(void* buffer, MPI_Count count, MPI_Datatype type, int root,
                          MPI_Comm comm) {
  // What is wrong with a call, MPI itself says best. (So it does for the types and roots below.)
  const auto hand_on = [&] {
#if MPI_VERSION >= 4
    return PMPI_Bcast_c(buffer, count, type, root, comm);
#else
    return PMPI_Bcast(buffer, static_cast<int>(count), type, root, comm);
#endif
  };
  if (count < 0 || type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL) return hand_on();
  MPI_Count element = 0;
  if (const int code = PMPI_Type_size_x(type, &element); code != MPI_SUCCESS) return code;
  std::uint64_t bytes = 0;
  if (element < 0 || __builtin_mul_overflow(static_cast<std::uint64_t>(element),
                                            static_cast<std::uint64_t>(count), &bytes)) {
    return hand_on();
  }
  if (bytes == 0 || bytes < shared_->settings.threshold.value) {
    if (shared_->settings.verbose) count_handed_on(Reason::kBelowThreshold, root, comm);
    return hand_on();
  }
  ReadyBroadcast* ready = nullptr;
  const Inside inside(*this);
  const int code = guarded([&] {
    ready = taken(root, comm);
    if (ready != nullptr) run(*ready, buffer, count, type, root, comm, bytes);
  });
  if (code != MPI_SUCCESS) {
    PMPI_Comm_call_errhandler(comm, code);
    return code;
  }
  return ready != nullptr ? MPI_SUCCESS : hand_on();
}

ReadyBroadcast* Interposer::taken(int root, MPI_Comm comm) {
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) {
    count_handed_on(Reason::kIntercommunicator, root, comm);
    return nullptr;
  }
  if (root < 0 || root >= size_of(comm)) return nullptr;
  Communicator::Entry& entry = known(comm).entry_for(comm, root, *shared_, *maker_);
  if (const Reason* reason = std::get_if<Reason>(&entry)) {
    count_handed_on(*reason, root, comm);
    return nullptr;
  }
  return std::get<std::unique_ptr<ReadyBroadcast>>(entry).get();
}

Communicator& Interposer::known(MPI_Comm comm) {
  void* value = nullptr;
  int is_set = 0;
  check(PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &is_set), "MPI_Comm_get_attr");
  if (is_set != 0) return *static_cast<Communicator*>(value);
  Communicator& fresh = communicators_.emplace_back();
  check(PMPI_Comm_set_attr(comm, key_, &fresh), "MPI_Comm_set_attr");
  return fresh;
}

void Interposer::run(ReadyBroadcast& ready, void* buffer, MPI_Count count, MPI_Datatype type,
                     int root, MPI_Comm comm, std::uint64_t bytes) {
  const double start = PMPI_Wtime();
  ready.broadcast.run(buffer, static_cast<std::size_t>(count), type);
  if (!shared_->settings.verbose || rank_in(comm) != root) return;
  const double seconds = PMPI_Wtime() - start;
  ++tally_.taken;
  tally_.taken_bytes += bytes;
  const BytesPerSecond achieved{static_cast<double>(bytes) / seconds};
  say(fmt::format("{} from rank {} to {} ranks: {}, {} tree{}, {} at the root, {} of {} planned",
                  format_size({bytes}), root, size_of(comm), printable(ready.algorithm),
                  ready.trees, ready.trees == 1 ? "" : "s", format_duration({seconds}),
                  format_rate(achieved), format_rate(ready.planned)));
}

void Interposer::count_handed_on(Reason reason, int root, MPI_Comm comm) {
  if (!shared_->settings.verbose) return;
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  const bool is_root = inter != 0 ? root == MPI_ROOT : root == rank;
  if (is_root) ++tally_.handed_on[static_cast<std::size_t>(reason)];
}

void Interposer::print_summary() const {
  std::array<std::uint64_t, 2 + kReasons> mine{tally_.taken, tally_.taken_bytes};
  std::copy(tally_.handed_on.begin(), tally_.handed_on.end(), mine.begin() + 2);
  std::array<std::uint64_t, 2 + kReasons> all{};
  check(PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM,
                    0, MPI_COMM_WORLD),
        "MPI_Reduce");
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  Tally total{all[0], all[1], {}};
  std::copy(all.begin() + 2, all.end(), total.handed_on.begin());
  say(summary(total));
}

void Interposer::finish() {
  active_ = false;
  const Inside inside(*this);
  guarded([this] {
    for (Communicator& communicator : communicators_) communicator.forget();
    if (shared_->settings.verbose) print_summary();
  });
}

int Interposer::forget_communicator(MPI_Comm /*comm*/, int /*key*/, void* value, void* self) {
  auto& interposer = *static_cast<Interposer*>(self);
  const Inside inside(interposer);
  return guarded([&] {
    interposer.communicators_.remove_if(
        [value](const Communicator& communicator) { return &communicator == value; });
  });
}

int Interposer::finish_first(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* self) {
  static_cast<Interposer*>(self)->finish();
  return MPI_SUCCESS;
}

}  // namespace espalier::preload
