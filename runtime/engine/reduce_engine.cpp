#include "runtime/engine/reduce_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/engine/flow.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

constexpr std::string_view kComparingCalls = "comparing the calls of the ranks";

}  // namespace

ReduceEngine::ReduceEngine(MPI_Comm comm, std::vector<TreeRole> roles,
                           planner::SegmentAssignment assignment, ReduceEngineOptions options)
    : comm_(comm),
      roles_(std::move(roles)),
      assignment_(std::move(assignment)),
      options_(std::move(options)),
      timeout_(options_.timeout),
      requests_(roles_, even_windows(roles_, options_.sends_in_flight, options_.receives_in_flight),
                RequestTable::Direction::kUp),
      flows_(roles_.size()),
      awaits_segments_(std::ranges::any_of(
          roles_, [](const TreeRole& role) { return !role.children.empty(); })) {
  rank_ = rank_in(comm_);
}

// --- the course of a run ---

void ReduceEngine::set_windows() {
  keeps_pace_ = planner::keeps_pace(options_.most_in_flight, segment_);
  const auto at_least = [this](std::uint64_t base) {
    return planner::window_holding(options_.least_in_flight, segment_, base);
  };
  const std::uint64_t receives = at_least(options_.receives_in_flight);
  const std::uint64_t sends = at_least(options_.sends_in_flight);
  std::vector<TreeWindows> windows = windows_up(roles_, receives, sends, segment_);
  lookahead_ = lookahead_over(windows, receives);
  if (std::ranges::equal(windows, requests_.windows())) return;
  requests_ = RequestTable(roles_, std::move(windows), RequestTable::Direction::kUp);
}

std::uint64_t ReduceEngine::ring_of(std::size_t tree, std::size_t child, bool keeps_result) const {
  const TreeWindows& windows = requests_.windows()[tree];
  // The first child's buffers also hold combined segments until they have been sent.
  return windows.children[child] + (child == 0 && !keeps_result ? windows.parent : 0);
}

void ReduceEngine::reserve(const ReduceJob& job) {
  segment_ = {std::max<std::uint64_t>(job.grid.segment * job.shape.bytes, 1)};
  set_windows();
  const std::uint64_t segments = job.grid.count();
  assignment_.end_at(segments, segment_);
  const bool to_result = job.result != nullptr && job.result != job.own;
  ScratchWindows::Rings rings;
  for (std::size_t tree = 0; tree < roles_.size(); ++tree) {
    const std::uint64_t end = assignment_.count(tree, segments);
    auto& of_tree = rings.emplace_back();
    for (std::size_t child = 0; child < roles_[tree].children.size(); ++child) {
      std::uint64_t ring = ring_of(tree, child, job.result != nullptr);
      if (child == 0 && to_result) ring = 0;
      of_tree.push_back(std::min(ring, end));
    }
  }
  const std::uint64_t longest = std::min(job.grid.segment, job.grid.message);
  scratch_.reserve(rings, job.shape, std::max<std::uint64_t>(longest, 1));
}

void ReduceEngine::begin(const ReduceJob& job) {
  job_ = job;
  next_ = done_bytes_ = 0;
  outstanding_ = 0;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    Inflow& flow = flows_[tree];
    flow = Inflow{};
    flow.end = assignment_.count(tree, job.grid.count());
    flow.children.resize(roles_[tree].children.size());
    if (flow.children.empty()) flow.combined = flow.end;
  }
  if (job_->check != nullptr) job_->check->begin(comm_, requests_.size_check());
  timeout_.begin();
  move_on();
}

void ReduceEngine::wait_for_some() {
  if (pacing_.any()) {
    pacing_.doze(awaits_segments_);
    return poll();
  }
  const auto completions = requests_.wait_for_some(RequestTable::Waiting::kBusy, timeout_);
  if (!completions) give_up();
  note(*completions);
  move_on();
}

void ReduceEngine::poll() {
  const auto completions = requests_.test_some();
  note(completions);
  const bool moved = move_on() || !completions.empty();
  if (moved || pacing_.any() || is_done()) return timeout_.begin();
  if (timeout_.is_over()) give_up();
}

bool ReduceEngine::is_done() const {
  if (is_under_comparison()) return false;
  return std::all_of(flows_.begin(), flows_.end(), [this](const Inflow& flow) {
    return (is_root() ? flow.combined : flow.sent) == flow.end;
  });
}

bool ReduceEngine::has_combined(std::uint64_t index) const {
  if (is_under_comparison()) return false;
  const std::size_t tree = assignment_.tree_of(index);
  return assignment_.count(tree, index) < flows_[tree].combined;
}

bool ReduceEngine::is_finished_with(std::uint64_t index) const {
  if (is_under_comparison()) return false;
  const std::size_t tree = assignment_.tree_of(index);
  const Inflow& flow = flows_[tree];
  if (flow.children.empty() && job_->result != job_->own) return true;
  return assignment_.count(tree, index) < (is_root() ? flow.combined : flow.sent);
}

void ReduceEngine::abandon() noexcept {
  if (job_ && job_->check != nullptr && is_under_comparison()) job_->check->leave_to_mpi();
  requests_.abandon();
}

void ReduceEngine::note(std::span<const RequestTable::Completion> completions) {
  for (const RequestTable::Completion& completion : completions) {
    if (completion.error != MPI_SUCCESS) {
      if (completion.entry.kind == RequestTable::Kind::kReceive) await_comparison();
      throw MpiError(completion.error, context() + describe(completion.entry) +
                                           others_of(requests_.outstanding(), naming()));
    }
    if (completion.entry.kind == RequestTable::Kind::kReceive) check_received(completion);
    if (completion.entry.kind == RequestTable::Kind::kSend) --outstanding_;
    if (completion.entry.kind == RequestTable::Kind::kSizeCheck) job_->check->judge(rank_);
  }
}

void ReduceEngine::check_received(const RequestTable::Completion& completion) {
  const auto& [kind, tree, child, slot] = completion.entry;
  const std::uint64_t nth = nth_of(completion.entry);
  const int due = elements_of(assignment_.segment_of(tree, nth));
  int elements = 0;
  check(MPI_Get_count(completion.status, job_->type, &elements), "MPI_Get_count");
  if (elements == due) return;
  await_comparison();
  const std::string got =
      elements == MPI_UNDEFINED ? "a part of an element" : fmt::format("{} elements", elements);
  throw InputError(context() + receiving(tree, child, nth) +
                   fmt::format(": {} arrived, expected {}", got, due));
}

// A wrong segment usually means that the ranks' calls differ; that makes the better error message.
void ReduceEngine::await_comparison() {
  if (job_->check == nullptr) return;
  timeout_.wait(requests_.size_check(), kComparingCalls);
  job_->check->judge(rank_);
}

void ReduceEngine::give_up() {
  throw TimedOut(fmt::format("rank {}: {}; {}", rank_, timeout_.complaint(),
                             waiting_for(requests_.outstanding(), naming())));
}

// Combines one segment of each tree at a time, so that sends start as early as possible.
bool ReduceEngine::move_on() {
  bool has_combined = false;
  bool combines = true;
  while (combines) {
    combines = false;
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      note_arrivals_and_sends(tree);
      combines = combine_one(tree) || combines;
    }
    start_sends();
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) post_receives(tree);
    has_combined = has_combined || combines;
  }
  return has_combined;
}

void ReduceEngine::note_arrivals_and_sends(std::size_t tree) {
  Inflow& flow = flows_[tree];
  for (std::size_t child = 0; child < flow.children.size(); ++child) {
    auto& [posted, here] = flow.children[child];
    while (here < posted && requests_.receive_up(tree, child, here) == MPI_REQUEST_NULL) ++here;
  }
  while (flow.sent < flow.started && requests_.send_up(tree, flow.sent) == MPI_REQUEST_NULL) {
    if (!is_root()) add_progress(job_->grid.length(assignment_.segment_of(tree, flow.sent)));
    ++flow.sent;
  }
}

// --- combining ---

bool ReduceEngine::combine_one(std::size_t tree) {
  Inflow& flow = flows_[tree];
  if (flow.combined == flow.end || flow.children[flow.added].here <= flow.combined) return false;
  const std::size_t child = flow.added;
  const std::uint64_t nth = flow.combined;
  const std::uint64_t index = assignment_.segment_of(tree, nth);
  // The first child's segment is where the sum is to be, unless the rank's own elements are.
  const bool own_is_added = child == 0 && job_->result != job_->own;
  const void* const added =
      own_is_added ? place_in(job_->own, index) : buffer_for(tree, child, nth);
  check(MPI_Reduce_local(added, sum_of(tree, nth), elements_of(index), job_->type, job_->op),
        context() + "combining after " + receiving(tree, child, nth));
  if (++flow.added < flow.children.size()) return true;
  flow.added = 0;
  ++flow.combined;
  if (is_root()) add_progress(job_->grid.length(index));
  return true;
}

void* ReduceEngine::place_in(void* buffer, std::uint64_t index) const {
  return moved(buffer, static_cast<MPI_Aint>(job_->grid.offset(index)) * job_->shape.extent);
}

void* ReduceEngine::buffer_for(std::size_t tree, std::size_t child, std::uint64_t nth) {
  if (child == 0 && comes_to_result())
    return place_in(job_->result, assignment_.segment_of(tree, nth));
  return scratch_.buffer_for(tree, child, nth);
}

void* ReduceEngine::sum_of(std::size_t tree, std::uint64_t nth) {
  if (flows_[tree].children.empty()) return place_in(job_->own, assignment_.segment_of(tree, nth));
  if (job_->result != nullptr) return place_in(job_->result, assignment_.segment_of(tree, nth));
  return buffer_for(tree, 0, nth);
}

std::uint64_t ReduceEngine::freed(std::size_t tree, std::size_t child) const {
  const Inflow& flow = flows_[tree];
  if (child == 0 && job_->result == nullptr) return flow.sent;
  return flow.combined + (flow.added > child ? 1 : 0);
}

// --- sends and receives ---

void ReduceEngine::post_receives(std::size_t tree) {
  Inflow& flow = flows_[tree];
  for (std::size_t child = 0; child < flow.children.size(); ++child) {
    std::uint64_t& posted = flow.children[child].posted;
    while (may_receive(tree, child)) {
      const int code = MPI_Irecv(
          buffer_for(tree, child, posted), elements_of(assignment_.segment_of(tree, posted)),
          job_->type, roles_[tree].children[child], options_.first_tag + static_cast<int>(tree),
          comm_, &requests_.receive_up(tree, child, posted));
      if (code != MPI_SUCCESS) throw MpiError(code, context() + receiving(tree, child, posted));
      ++posted;
    }
  }
}

bool ReduceEngine::may_receive(std::size_t tree, std::size_t child) {
  const Inflow& flow = flows_[tree];
  const auto& [posted, here] = flow.children[child];
  if (posted == flow.end || is_at_risk(roles_[tree].children[child])) return false;
  if (posted - here >= requests_.windows()[tree].children[child]) return false;
  if (posted - freed(tree, child) >= ring_of(tree, child, job_->result != nullptr)) return false;
  return !is_root() || !is_too_far_ahead(assignment_.segment_of(tree, posted));
}

// Before the ranks' calls are known to match, a longer message might overflow its buffer (Open MPI
// 4.1 writes all of it before it reports the truncation). So might an element that is larger than a
// segment.
bool ReduceEngine::is_at_risk(int from) const {
  if (!is_under_comparison()) return false;
  return options_.sends_at_once.empty() || job_->grid.segment == 1 ||
         !options_.sends_at_once[static_cast<std::size_t>(from)];
}

bool ReduceEngine::is_too_far_ahead(std::uint64_t index) const {
  if (index < lookahead_) return false;
  for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
    const Inflow& flow = flows_[tree];
    if (flow.combined < flow.end &&
        assignment_.segment_of(tree, flow.combined) <= index - lookahead_) {
      return true;
    }
  }
  return false;
}

void ReduceEngine::start_sends() {
  pacing_.forget();
  if (is_root()) return;
  if (options_.ports == 0) {
    for (std::size_t tree = 0; tree < flows_.size(); ++tree) {
      while (start_send(tree)) {
      }
    }
    return;
  }
  while (outstanding_ < options_.ports && next_ < job_->grid.count() &&
         start_send(assignment_.tree_of(next_))) {
    ++next_;
  }
}

bool ReduceEngine::start_send(std::size_t tree) {
  Inflow& flow = flows_[tree];
  if (flow.started == flow.combined) return false;
  if (flow.started - flow.sent >= requests_.windows()[tree].parent) return false;
  if (pacing_.holds(flow.due_s)) return false;
  const int code = MPI_Issend(sum_of(tree, flow.started),
                              elements_of(assignment_.segment_of(tree, flow.started)), job_->type,
                              roles_[tree].parent, options_.first_tag + static_cast<int>(tree),
                              comm_, &requests_.send_up(tree, flow.started));
  if (code != MPI_SUCCESS) throw MpiError(code, context() + sending(tree, flow.started));
  if (keeps_pace_) flow.due_s = MPI_Wtime() + planner::pace(roles_[tree].rate, segment_).value;
  ++flow.started;
  ++outstanding_;
  return true;
}

void ReduceEngine::add_progress(std::uint64_t elements) {
  done_bytes_ += elements * job_->shape.bytes;
  if (options_.on_progress) options_.on_progress(done_bytes_);
}

// --- descriptions for error messages ---

std::string ReduceEngine::receiving(std::size_t tree, std::size_t child, std::uint64_t nth) const {
  return fmt::format("receiving {} from rank {}", name_of_segment(assignment_, tree, nth),
                     roles_[tree].children[child]);
}

std::string ReduceEngine::sending(std::size_t tree, std::uint64_t nth) const {
  return fmt::format("sending {} to rank {}", name_of_segment(assignment_, tree, nth),
                     roles_[tree].parent);
}

std::uint64_t ReduceEngine::nth_of(const RequestTable::Entry& entry) const {
  const auto& [kind, tree, child, slot] = entry;
  const TreeWindows& windows = requests_.windows()[tree];
  return kind == RequestTable::Kind::kSend
             ? segment_in_slot(flows_[tree].sent, slot, windows.parent)
             : segment_in_slot(flows_[tree].children[child].here, slot, windows.children[child]);
}

std::string ReduceEngine::describe(const RequestTable::Entry& entry) const {
  if (entry.kind == RequestTable::Kind::kSizeCheck) {
    return std::string(kComparingCalls) + " (some have not begun)";
  }
  return entry.kind == RequestTable::Kind::kSend
             ? sending(entry.tree, nth_of(entry))
             : receiving(entry.tree, entry.child, nth_of(entry));
}

RequestNaming ReduceEngine::naming() const {
  return {[this](const RequestTable::Entry& entry) { return describe(entry); },
          [this](const RequestTable::Entry& entry) { return nth_of(entry); }};
}

std::string ReduceEngine::context() const {
  return fmt::format("rank {}, ", rank_);
}

}  // namespace espalier::runtime
