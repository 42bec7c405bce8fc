#include "runtime/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/flow.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/request_names.hpp"
#include "runtime/request_table.hpp"
#include "runtime/size_check.hpp"
#include "runtime/stop_words.hpp"

namespace espalier::runtime {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

// A source that polls takes its share of the processor and does little with it, for its children's
// MPI copies. Others have copies to make; where they doze, processors stand idle. Below this size a
// doze is longer than what it waits for.
constexpr std::uint64_t kWorthDozing = std::uint64_t{1} << 20;

}  // namespace

class Engine::Run {
 public:
  Run(MPI_Comm comm, int source, std::vector<TreeRole> roles, planner::SliceDealer dealer,
      EngineOptions options)
      : comm_(comm),
        rank_(rank_in(comm)),
        source_(source),
        roles_(std::move(roles)),
        dealer_(std::move(dealer)),
        options_(std::move(options)),
        lookahead_(planner::source_lookahead(roles_.size(), options_.sends_in_flight)),
        requests_(roles_, options_.receives_in_flight, options_.sends_in_flight),
        flows_(roles_.size()),
        names_(roles_, dealer_, flows_, options_.receives_in_flight, options_.sends_in_flight),
        stop_words_(comm_, rank_, source_, static_cast<int>(roles_.size()), requests_.stop_word()) {
    if (!options_.rounds.empty()) rounds_.emplace(options_.rounds);
  }
  ~Run() = default;
  Run(const Run&) = delete;  // its parts refer to one another
  Run& operator=(const Run&) = delete;
  Run(Run&&) = delete;
  Run& operator=(Run&&) = delete;

  Outcome run(const SliceGrid& grid, SliceStore& store, bool stoppable) {
    if (broken_) throw std::logic_error("a broadcast that failed cannot run again");
    try {
      begin(grid, store, stoppable);
      while (!is_done()) {
        const bool polls = store_->has_work();
        for (const auto& completion :
             polls ? requests_.test_some() : requests_.wait_for_some(waiting_)) {
          handle(completion);
        }
        if (polls) store_->work();
        move_on();
      }
      return stoppable && stop_words_.settle() ? Outcome::kStopped : Outcome::kComplete;
    } catch (...) {
      broken_ = true;
      requests_.abandon();
      throw;
    }
  }

 private:
  using Kind = RequestTable::Kind;

  [[nodiscard]] bool is_source() const { return rank_ == source_; }

  [[nodiscard]] Slice slice_at(std::size_t tree, std::uint64_t nth) const {
    const std::uint64_t index = dealer_.slice_of(tree, nth);
    return {index, tree, nth, grid_.offset(index), static_cast<std::size_t>(grid_.length(index))};
  }

  // --- the course of a run ---

  void begin(const SliceGrid& grid, SliceStore& store, bool stoppable) {
    grid_ = grid;
    store_ = &store;
    stoppable_ = stoppable;
    const bool dozes = options_.source_dozes && is_source() && grid.message >= kWorthDozing;
    waiting_ = dozes ? RequestTable::Waiting::kDozing : RequestTable::Waiting::kBusy;
    let_go_ = oldest_ = done_bytes_ = 0;
    under_way_ = 0;
    stopping_ = false;
    if (rounds_) rounds_->reset();
    if (options_.check_sizes) sizes_.begin(comm_, grid_.message, requests_.size_check());
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      Flow& flow = flows_[tree];
      flow = Flow{};
      flow.end = dealer_.count(tree, grid_.count());
      flow.children.resize(roles_[tree].children.size());
      flow.at_once = flow.children.size();
      // Otherwise the room of what is held back is wanted for what comes.
      if (store.slices_per_tree() >= flow.end) flow.at_once -= roles_[tree].exchanges;
      if (!is_source()) post_receives(tree);
    }
    stop_words_.begin(stoppable_);
    move_on();
  }

  [[nodiscard]] bool is_done() {
    return requests_.size_check() == MPI_REQUEST_NULL && flows_are_done() && !store_->has_work();
  }

  [[nodiscard]] bool flows_are_done() const {
    return std::all_of(flows_.begin(), flows_.end(),
                       [](const Flow& flow) { return flow.is_done(); });
  }

  void handle(const RequestTable::Completion& completion) {
    if (completion.error != MPI_SUCCESS) fail(completion);
    switch (completion.entry.kind) {
      case Kind::kReceive:
        on_received(completion.entry.tree, completion.entry.slot, *completion.status);
        break;
      case Kind::kSizeCheck:
        sizes_.judge(rank_);
        break;
      case Kind::kStopWord:
        if (is_source()) {
          stop_words_.hear();
          stop_all_flows();
        }
        break;
      case Kind::kSend:
        --under_way_;  // of the send itself its null request tells
        break;
    }
  }

  // Whatever has become possible.
  void move_on() {
    do {
      if (is_source()) let_go();
      for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
        if (!flows_[tree].is_done()) advance(tree);
      }
      if (is_source()) let_go();  // for what has just been sent makes room
      if (stoppable_ && !stop_words_.said() && store_->failed()) say_stop();
    } while (begin_next_round());
  }

  // False: without rounds; while this round's receive or send is under way; when all is done.
  bool begin_next_round() {
    if (!rounds_ || flows_are_done()) return false;
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      const Flow& flow = flows_[tree];
      if (!is_source() && flow.here < std::min(flow.end, rounds_->receives_due(tree))) return false;
      for (std::size_t child = 0; child < flow.children.size(); ++child) {
        const std::uint64_t due = std::min(flow.end, rounds_->sends_due(tree, child));
        if (flow.children[child].sent < due) return false;
      }
    }
    rounds_->next();
    return true;
  }

  void advance(std::size_t tree) {
    Flow& flow = flows_[tree];
    if (!is_source()) {
      while (flow.here < flow.posted && requests_.receive(tree, flow.here) == MPI_REQUEST_NULL) {
        ++flow.here;
      }
    }
    start_sends(tree);
    if (!is_source()) keep_arrived(tree);
    free_sent(tree);
    if (!is_source()) post_receives(tree);
  }

  // --- the source ---

  void let_go() {
    const std::uint64_t slices = grid_.count();
    while (!stopping_ && let_go_ < slices && !store_->failed()) {
      const std::size_t tree = dealer_.tree_of(let_go_);
      Flow& flow = flows_[tree];
      free_sent(tree);
      if (flow.here - flow.freed >= store_->slices_per_tree() || is_too_far_ahead()) return;
      if (!store_->is_ready(slice_at(tree, flow.here))) return;
      store_->load(slice_at(tree, flow.here));
      if (store_->failed()) break;  // move_on sees to it
      ++flow.here;
      ++let_go_;
      start_sends(tree);
    }
  }

  // Looks for the oldest slice on its way only when the one that it knows of is too old.
  [[nodiscard]] bool is_too_far_ahead() {
    if (let_go_ - oldest_ < lookahead_) return false;
    oldest_ = let_go_;
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      free_sent(tree);
      const Flow& flow = flows_[tree];
      if (flow.passed_on < flow.here) {
        oldest_ = std::min(oldest_, dealer_.slice_of(tree, flow.passed_on));
      }
    }
    return let_go_ - oldest_ >= lookahead_;
  }

  // Ends each flow that is not all let go with an empty message.
  void stop_all_flows() {
    if (stopping_) return;
    stopping_ = true;
    for (Flow& flow : flows_) {
      if (flow.here == flow.end) continue;
      flow.end = ++flow.here;
      flow.stopped = true;
    }
  }

  // --- sends and receives ---

  // Slice by slice, and each slice to the children in the order of the plan.
  void start_sends(std::size_t tree) {
    if (options_.ports != 0) return start_oldest_sends();
    bool any = true;
    while (any) {
      any = false;
      for (std::size_t child = 0; child < flows_[tree].children.size(); ++child) {
        any = start_send(tree, child) || any;
      }
    }
  }

  void start_oldest_sends() {
    while (under_way_ < options_.ports) {
      std::optional<std::pair<std::size_t, std::size_t>> next;
      std::uint64_t oldest = UINT64_MAX;
      for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
        for (std::size_t child = 0; child < flows_[tree].children.size(); ++child) {
          if (!may_send(tree, child)) continue;
          const std::uint64_t slice = dealer_.slice_of(tree, flows_[tree].children[child].started);
          if (slice >= oldest) continue;
          oldest = slice;
          next = {tree, child};
        }
      }
      if (!next) return;
      start_send(next->first, next->second);
    }
  }

  [[nodiscard]] bool may_send(std::size_t tree, std::size_t child) {
    note_sent(tree, child);
    const auto& [started, sent] = flows_[tree].children[child];
    return started < sendable(tree, child) && started - sent < options_.sends_in_flight;
  }

  bool start_send(std::size_t tree, std::size_t child) {
    if (!may_send(tree, child)) return false;
    Flow& flow = flows_[tree];
    std::uint64_t& started = flow.children[child].started;
    const bool stop = flow.is_stop_word(started);
    const Slice slice = stop ? Slice{} : slice_at(tree, started);
    const int code =
        MPI_Isend(stop ? nullptr : store_->room_for(slice), static_cast<int>(slice.bytes), MPI_BYTE,
                  roles_[tree].children[child], static_cast<int>(tree), comm_,
                  &requests_.send(tree, child, started));
    if (code != MPI_SUCCESS) {
      throw MpiError(code, context() + names_.sending(tree, child, started));
    }
    ++started;
    ++under_way_;
    return true;
  }

  // How many of the tree's slices this child may have been sent by now.
  [[nodiscard]] std::uint64_t sendable(std::size_t tree, std::size_t child) const {
    const Flow& flow = flows_[tree];
    if (rounds_) return std::min(flow.here, rounds_->sends_due(tree, child));
    return child < flow.at_once || flow.is_passed_on() ? flow.here : 0;
  }

  void note_sent(std::size_t tree, std::size_t child) {
    auto& [started, sent] = flows_[tree].children[child];
    while (sent < started && requests_.send(tree, child, sent) == MPI_REQUEST_NULL) ++sent;
  }

  void keep_arrived(std::size_t tree) {
    Flow& flow = flows_[tree];
    for (; flow.kept < flow.here; ++flow.kept) {
      if (flow.is_stop_word(flow.kept)) continue;
      const Slice slice = slice_at(tree, flow.kept);
      store_->arrived(slice);
      add_progress(slice.bytes);
    }
  }

  void free_sent(std::size_t tree) {
    Flow& flow = flows_[tree];
    std::uint64_t freed = is_source() ? flow.here : flow.kept;
    flow.passed_on = freed;
    for (std::size_t child = 0; child < flow.children.size(); ++child) {
      note_sent(tree, child);
      freed = std::min(freed, flow.children[child].sent);
      if (child < flow.at_once) flow.passed_on = freed;
    }
    if (!is_source()) {
      flow.freed = freed;
      return;
    }
    for (; flow.freed < freed; ++flow.freed) {
      if (!flow.is_stop_word(flow.freed)) add_progress(slice_at(tree, flow.freed).bytes);
    }
  }

  void post_receives(std::size_t tree) {
    Flow& flow = flows_[tree];
    const std::uint64_t end = rounds_ ? std::min(flow.end, rounds_->receives_due(tree)) : flow.end;
    while (flow.posted < end && flow.posted - flow.here < options_.receives_in_flight &&
           flow.posted - flow.freed < store_->slices_per_tree()) {
      const Slice slice = slice_at(tree, flow.posted);
      if (is_at_risk(slice) || !store_->is_free(slice)) return;
      const int code = MPI_Irecv(store_->room_for(slice), static_cast<int>(slice.bytes), MPI_BYTE,
                                 roles_[tree].parent, static_cast<int>(tree), comm_,
                                 &requests_.receive(tree, flow.posted));
      if (code != MPI_SUCCESS)
        throw MpiError(code, context() + names_.receiving(tree, flow.posted));
      ++flow.posted;
    }
  }

  // Whether a longer slice may come than there is room for, because the ranks' messages differ:
  // Open MPI (4.1: its "get" protocols) writes all of it before it reports the truncation.
  [[nodiscard]] bool is_at_risk(const Slice& slice) {
    return requests_.size_check() != MPI_REQUEST_NULL &&
           (options_.slices_vary || slice.bytes < grid_.slice);
  }

  void on_received(std::size_t tree, std::uint64_t slot, const MPI_Status& status) {
    const std::uint64_t nth = names_.received_in(tree, slot);
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    if (bytes == 0) {
      stop_flow(tree, nth);
    } else if (static_cast<std::size_t>(bytes) != slice_at(tree, nth).bytes) {
      settle_sizes();
      throw InputError(
          context() + names_.receiving(tree, nth) +
          fmt::format(": {} bytes came, {} were due", bytes, slice_at(tree, nth).bytes));
    }
  }

  void stop_flow(std::size_t tree, std::uint64_t nth) {
    Flow& flow = flows_[tree];
    for (std::uint64_t later = nth + 1; later < flow.posted; ++later) {
      check(MPI_Cancel(&requests_.receive(tree, later)), "MPI_Cancel");
      check(MPI_Wait(&requests_.receive(tree, later), MPI_STATUS_IGNORE), "MPI_Wait");
    }
    flow.posted = flow.end = nth + 1;
    flow.stopped = true;
  }

  // --- stopping ---

  void say_stop() {
    stop_words_.say();
    if (!is_source()) return;
    stop_all_flows();
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) advance(tree);
  }

  // A slice of a wrong size has one likely reason; all ranks have begun the check, so that it will
  // end.
  void settle_sizes() {
    if (!options_.check_sizes) return;
    check(MPI_Wait(&requests_.size_check(), MPI_STATUS_IGNORE), "MPI_Wait");
    sizes_.judge(rank_);
  }

  [[nodiscard]] std::string context() const { return fmt::format("rank {}, ", rank_); }

  [[noreturn]] void fail(const RequestTable::Completion& completion) {
    if (completion.entry.kind == Kind::kReceive) settle_sizes();
    std::string what = context() + names_.describe(completion.entry);
    const std::vector<RequestTable::Entry> others = requests_.outstanding();
    if (!others.empty()) {
      what +=
          fmt::format(" ({} more under way, first: {})", others.size(), names_.describe(others[0]));
    }
    throw MpiError(completion.error, what);
  }

  void add_progress(std::uint64_t bytes) {
    done_bytes_ += bytes;
    if (options_.on_progress) options_.on_progress(done_bytes_);
  }

  MPI_Comm comm_;
  int rank_;
  int source_;
  std::vector<TreeRole> roles_;
  planner::SliceDealer dealer_;
  EngineOptions options_;
  std::uint64_t lookahead_;
  RequestTable requests_;
  std::vector<Flow> flows_;
  RequestNames names_;
  StopWords stop_words_;
  std::optional<RoundClock> rounds_;  // unset: every slice goes as soon as it can
  bool broken_ = false;

  SliceGrid grid_;
  SliceStore* store_ = nullptr;
  std::uint64_t let_go_ = 0;  // slices, on the source
  std::uint64_t oldest_ = 0;  // no slice before it is on its way (on the source)
  std::uint64_t done_bytes_ = 0;
  std::size_t under_way_ = 0;  // sends
  RequestTable::Waiting waiting_ = RequestTable::Waiting::kBusy;
  bool stoppable_ = false;
  bool stopping_ = false;  // the source: flows were cut short
  SizeCheck sizes_;
};

Engine::Engine(MPI_Comm comm, int source, std::vector<TreeRole> roles, planner::SliceDealer dealer,
               EngineOptions options)
    : run_(std::make_unique<Run>(comm, source, std::move(roles), std::move(dealer),
                                 std::move(options))) {}

Engine::~Engine() = default;

Outcome Engine::run(const SliceGrid& grid, SliceStore& store, bool stoppable) {
  return run_->run(grid, store, stoppable);
}

}  // namespace espalier::runtime
