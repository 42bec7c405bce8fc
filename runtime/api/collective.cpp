#include "runtime/api/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/plan/plan_bytes.hpp"
#include "planner/plan/send_windows.hpp"
#include "runtime/api/collective_state.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/files.hpp"

namespace espalier::runtime {
namespace {

using planner::Operation;

constexpr std::uint64_t kPage = 4096;

// While a call is in progress, which only one thread at a time may make.
template <class State>
class InCall {
 public:
  explicit InCall(State& state) : state_(state) {
    if (!state.in_call.exchange(true)) return;
    throw InputError("a call of this collective is in progress, maybe of another thread");
  }
  ~InCall() { state_.in_call = state_.begun.has_value(); }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
  InCall(InCall&&) = delete;
  InCall& operator=(InCall&&) = delete;

 private:
  State& state_;
};

}  // namespace

Collective::Collective(MPI_Comm comm, const planner::Plan& plan, const CollectiveOptions& options)
    : Collective(comm, plan, options, Expects::kAny) {}
Collective::Collective(const OwnedComm& comm, const planner::Plan& plan,
                       const CollectiveOptions& options)
    : Collective(comm, plan, options, Expects::kAny) {}
Collective::Collective(MPI_Comm comm, const planner::Plan& plan, const CollectiveOptions& options,
                       Expects expects)
    : Collective(OwnedComm(comm, BoundPlan::usable(options.timeout)), plan, options, expects) {}
Collective::Collective(const OwnedComm& comm, const planner::Plan& plan,
                       const CollectiveOptions& options, Expects expects)
    : state_(std::make_unique<State>(comm, plan, options, expects)) {}
Collective::~Collective() {
  if (state_ && state_->begun) state_->give_up();
}
Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Operation Collective::operation() const {
  return state_->bound.plan.operation;
}
std::vector<double> Collective::shares() const {
  const BoundPlan& bound = state_->bound;
  const std::vector<double> of_node = planner::shares_of(bound.plan);
  const std::size_t nodes = bound.rank_of_node.size();
  const auto rank_of = [&](std::size_t node) {
    return static_cast<std::size_t>(bound.rank_of_node[node]);
  };
  std::vector<double> of_rank(of_node.size());
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    const std::size_t sender = i / nodes;  // 0 where each node has one part
    const std::size_t before = of_node.size() > nodes ? rank_of(sender) * nodes : 0;
    of_rank[before + rank_of(i % nodes)] = of_node[i];
  }
  return of_rank;
}
int Collective::root() const {
  return state_->bound.root;
}
bool Collective::receives_all() const {
  const BoundPlan& bound = state_->bound;
  const auto here = std::ranges::find(bound.rank_of_node, bound.rank);
  return !bound.plan.helps(static_cast<std::uint32_t>(here - bound.rank_of_node.begin()));
}
std::size_t Collective::ranks() const {
  return state_->bound.comm.size();
}
const std::string& Collective::node() const {
  return state_->bound.node;
}

std::uint64_t Collective::segment_bytes(std::uint64_t message_bytes,
                                        std::uint64_t element_bytes) const {
  const std::uint64_t unit = planner::combines(state_->bound.plan.operation) ? element_bytes : 1;
  return state_->segment_elements(message_bytes, unit) * unit;
}

Seconds Collective::predicted_time(std::uint64_t message_bytes, std::uint64_t segment_bytes) const {
  return state_->bound.predicted_time(message_bytes, segment_bytes);
}

void Collective::run(void* buffer, std::size_t count, MPI_Datatype type) {
  const InCall only(*state_);
  State::require(state_->bound.plan, Expects::kBroadcast);
  state_->unless_broken([&] { state_->broadcast_buffer(buffer, count, type); });
}

void Collective::run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type,
                     MPI_Op op) {
  const InCall only(*state_);
  State::require(state_->bound.plan, Expects::kReduction);
  state_->unless_broken([&] { state_->reduce(sendbuf, recvbuf, count, type, op); });
}

void Collective::allgather(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                           std::span<const std::size_t> first, MPI_Datatype type) {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kAllgather, {});
  state_->unless_broken([&] { state_->allgather(sendbuf, recvbuf, {counts, first}, type); });
}

void Collective::reduce_scatter(const void* sendbuf, void* recvbuf,
                                std::span<const std::size_t> counts, MPI_Datatype type, MPI_Op op) {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kReduceScatter, {});
  const PlacedParts placed({counts, {}});
  state_->unless_broken(
      [&] { state_->reduce_scatter(sendbuf, recvbuf, placed.parts(), type, op); });
}

void Collective::scatter(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                         std::span<const std::size_t> first, MPI_Datatype type) {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kScatter, {});
  state_->unless_broken([&] { state_->route_with_root(sendbuf, recvbuf, {counts, first}, type); });
}

void Collective::gather(const void* sendbuf, void* recvbuf, std::span<const std::size_t> counts,
                        std::span<const std::size_t> first, MPI_Datatype type) {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kGather, {});
  state_->unless_broken([&] { state_->route_with_root(sendbuf, recvbuf, {counts, first}, type); });
}

void Collective::alltoall(const void* sendbuf, void* recvbuf, std::size_t count,
                          MPI_Datatype type) {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kAlltoall, {});
  state_->unless_broken([&] { state_->alltoall(sendbuf, recvbuf, count, type); });
}

void Collective::alltoallv(const void* sendbuf, std::span<const std::size_t> sendcounts,
                           std::span<const std::size_t> sendfirst, void* recvbuf,
                           std::span<const std::size_t> recvcounts,
                           std::span<const std::size_t> recvfirst, MPI_Datatype type) {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kAlltoall, {});
  state_->unless_broken([&] {
    state_->alltoallv(sendbuf, {sendcounts, sendfirst}, recvbuf, {recvcounts, recvfirst}, type);
  });
}

void Collective::barrier() {
  const InCall only(*state_);
  planner::require_operation(state_->bound.plan, Operation::kBarrier, {});
  std::byte* const own = state_->arrivals.data();
  state_->unless_broken([&] { state_->reduce(own, own + 1, 1, MPI_BYTE, MPI_BOR); });
}

void Collective::start(const std::function<void(Collective&)>& call) {
  State* const before = std::exchange(State::starting(), state_.get());
  try {
    call(*this);
  } catch (...) {
    State::starting() = before;
    throw;
  }
  State::starting() = before;
}

bool Collective::test() {
  if (!state_->begun) return true;
  const bool is_complete = state_->unless_broken([&] { return state_->is_complete(); });
  if (is_complete) state_->in_call = false;
  return is_complete;
}

void Collective::wait() {
  if (!state_->begun) return;
  state_->unless_broken([&] { state_->await_begun(); });
  state_->in_call = false;
}

Collective::StreamShape Collective::stream_shape(std::uint64_t message_bytes,
                                                 std::uint64_t buffer_bytes) const {
  // Buffers for the posted receives, for the outstanding sends, and for one segment in between.
  // Fewer where many trees would make the segments so small that their number costs more than the
  // overlap gains.
  constexpr std::uint64_t kSmallSegment = std::uint64_t{64} << 10;
  const BoundPlan& bound = state_->bound;
  const Bytes usual{bound.segment_of(message_bytes)};
  const double in_flight = planner::most_bytes_in_flight(bound.plan);
  const auto window = [&](std::uint64_t base) {
    return planner::send_window(base, in_flight, usual, bound.costs.asks(usual));
  };
  const std::uint64_t trees = planner::tree_count(bound.plan);
  const std::uint64_t least = bound.slots ? bound.slots->buffer_segments() : 2;
  const std::uint64_t wanted = window(bound.options.receives_in_flight) +
                               window(bound.options.sends_in_flight) + (bound.slots ? least : 1);
  const std::uint64_t slots =
      std::clamp(buffer_bytes / trees / kSmallSegment, least, std::max(wanted, least));
  std::uint64_t segment = std::max(buffer_bytes / trees / slots, std::uint64_t{1});
  if (segment > kPage) segment -= segment % kPage;
  return {std::min(segment, usual.value), slots, trees};
}

bool Collective::stream(std::uint64_t bytes, const StreamShape& shape, SegmentStore& store) {
  const InCall only(*state_);
  const BoundPlan& bound = state_->bound;
  State::require(bound.plan, Expects::kBroadcast);
  if (bound.options.ports != 0) throw InputError("ports need the whole message in memory");
  // The next segment arrives while the current one is sent to its second child.
  if (bound.options.rounds && shape.segments_per_tree < 2) {
    throw InputError("rounds need buffers for two segments of each tree");
  }
  if (bound.slots && shape.segments_per_tree < bound.slots->buffer_segments()) {
    throw InputError(fmt::format("the schedule needs buffers for {} segments of each tree, not {}",
                                 bound.slots->buffer_segments(), shape.segments_per_tree));
  }
  const auto broadcast = [&] { return state_->stream({bytes, shape.segment_bytes}, store); };
  return state_->unless_broken(broadcast) == Outcome::kComplete;
}

planner::Plan checked_plan(const std::string& text, const std::string& file, planner::Roots roots) {
  planner::Plan plan = planner::parse_plan(text, file, roots);
  planner::check_structure(plan, file);
  return plan;
}

planner::Plan share_plan(MPI_Comm comm, const std::string& file, planner::Roots roots) {
  // One rank parses and checks: each of ten thousand would need seconds for a plan
  // of a hundred megabytes.
  planner::Plan plan;
  std::string bytes;
  const bool reads = rank_in(comm) == 0;
  collective_try(comm, [&] {
    if (!reads) return;
    plan = checked_plan(read_text(file), display_name(file), roots);
    bytes = planner::to_bytes(plan);
  });
  share_text(comm, 0, bytes);
  return reads ? plan : planner::from_bytes(bytes);
}

}  // namespace espalier::runtime
