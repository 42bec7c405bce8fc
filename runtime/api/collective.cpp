#include "runtime/api/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "runtime/api/bound_plan.hpp"
#include "runtime/api/engines.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/memory/direct_copies.hpp"
#include "runtime/memory/reduce_operation.hpp"
#include "runtime/memory/reducing_store.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/call_check.hpp"
#include "runtime/transport/mpi_engine.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/files.hpp"

namespace espalier::runtime {
namespace {

using planner::Operation;

constexpr std::uint64_t kPage = 4096;

std::byte* first_byte_of(void* buffer, const ElementShape& shape) {
  return static_cast<std::byte*>(moved(buffer, shape.true_low));
}

// The reason why `count` elements cannot be in memory; empty if they can.
std::string size_fault(std::size_t count, std::size_t element_bytes) {
  if (count <=
      std::numeric_limits<std::size_t>::max() / 2 / std::max<std::size_t>(element_bytes, 1))
    return {};
  return fmt::format("{} elements of {} bytes exceed the address space", count, element_bytes);
}

// While a call is in progress, which only one thread at a time may make.
class InCall {
 public:
  explicit InCall(std::atomic<bool>& flag) : flag_(flag) {
    if (!flag.exchange(true)) return;
    throw InputError("a call of this collective is in progress, maybe of another thread");
  }
  ~InCall() { flag_ = false; }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
  InCall(InCall&&) = delete;
  InCall& operator=(InCall&&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

struct Collective::State {
  BoundPlan bound;
  std::unique_ptr<MpiEngine> engine;
  std::unique_ptr<MpiEngine> without_rings;  // for messages that cannot use them; made when needed
  ScratchWindows scratch;
  std::optional<CallCheck> call;  // of the call in progress
  std::atomic<bool> in_call = false;
  bool uses_rings = false;
  bool broken = false;

  State(const OwnedComm& comm, const planner::Plan& plan, const CollectiveOptions& options,
        Expects expects)
      : bound(comm, plan, options, [&] { require(plan, expects); }) {
    RingsOfPlan planned;
    if (copies_directly()) {
      copy_directly();
      planned = rings_of(bound);
    }
    std::vector<RingPlan> all = planned.sums;
    all.insert(all.end(), planned.copies.begin(), planned.copies.end());
    std::shared_ptr<HostRings> rings = share_rings(bound.comm.get(), std::move(all));
    uses_rings = rings != nullptr;
    engine = engine_of(bound, std::move(rings), planned);
  }

  static void require(const planner::Plan& plan, Expects expects) {
    if (expects == Expects::kBroadcast) {
      planner::require_operation(plan, Operation::kBroadcast, {});
    } else if (expects == Expects::kReduction && !planner::reduces(plan.operation)) {
      throw InputError({}, "/operation",
                       "a plan for a broadcast; expected a plan for a reduce or an allreduce");
    }
  }

  // Runs `act`; after an exception nothing runs any more.
  template <class Act>
  auto unless_broken(const Act& act) {
    if (broken || bound.comm.is_abandoned())
      throw std::logic_error("a collective that failed cannot run again");
    try {
      return act();
    } catch (...) {
      broken = true;
      engine->transport.abandon();
      if (without_rings) without_rings->transport.abandon();
      bound.comm.abandon();
      throw;
    }
  }

  // --- broadcasts ---

  // Otherwise segments go along the plan's edges.
  [[nodiscard]] bool copies_directly() const {
    const CollectiveOptions& options = bound.options;
    return options.direct_copies && !options.rounds && !options.schedule && options.ports == 0;
  }

  void copy_directly() {
    std::vector<int> host_of_node;
    for (const int of_node : bound.rank_of_node) {
      host_of_node.push_back(bound.hosts_of[static_cast<std::size_t>(of_node)]);
    }
    for (planner::PlanTree& tree : bound.plan.broadcast_trees) {
      if (tree.exchange.empty()) tree = with_direct_copies(tree, host_of_node);
    }
  }

  // The engine of a message that may or may not pass through rings.
  MpiEngine& engine_for(bool may_use_rings) {
    if (may_use_rings || !uses_rings) return *engine;
    if (!without_rings) without_rings = engine_of(bound);
    return *without_rings;
  }

  // A stream's buffers are smaller than the message, and a store may fail: not with rings.
  Outcome broadcast(const SegmentGrid& grid, SegmentStore& store, bool stoppable) {
    call.emplace(grid.message);
    const std::array ranges{engine::Range{0, grid}};
    MpiEngine& by = engine_for(!stoppable);
    try {
      by.prepare({.stoppable = stoppable}, ranges,
                 {MPI_BYTE, 1, grid.message, bound.options.check_sizes ? &*call : nullptr});
    } catch (const std::bad_alloc&) {
      refuse(fmt::format("rank {}: no memory for a message of {} bytes", bound.rank, grid.message));
    }
    return by.run(store, bound.timeout_with_all(grid.message, grid.segment));
  }

  void broadcast_buffer(void* buffer, std::size_t count, MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) refuse("MPI_DATATYPE_NULL is not a type");
    const ElementShape shape = element_shape_of(type);
    if (const std::string fault = size_fault(count, shape.bytes); !fault.empty()) refuse(fault);
    MPI_Comm comm = bound.comm.get();
    const std::uint64_t bytes = count * shape.bytes;
    const SegmentGrid grid{bytes, bound.segment_of(bytes)};
    if (is_plain(comm, type)) {
      MemoryStore store(first_byte_of(buffer, shape));
      broadcast(grid, store, false);
      return;
    }
    std::optional<PackedStore> store;
    try {
      store.emplace(comm, buffer, count, type, shape.bytes, grid);
    } catch (const InputError& error) {
      refuse(error.what());
    } catch (const std::bad_alloc&) {
      refuse(fmt::format("rank {}: no memory to pack {} bytes", bound.rank, bytes));
    }
    broadcast(grid, *store, false);
  }

  // --- reductions ---

  [[nodiscard]] std::uint64_t segment_elements(std::uint64_t message, std::uint64_t element) const {
    return std::max<std::uint64_t>(bound.segment_of(message) / element, 1);
  }

  // The error of a call that this rank can find alone; empty if there is none.
  [[nodiscard]] std::string fault_of(const void* sendbuf, std::size_t count, MPI_Datatype type,
                                     MPI_Op op) const {
    if (type == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL is not a type";
    if (std::string fault = operation_fault(type, op); !fault.empty()) return fault;
    if (sendbuf == MPI_IN_PLACE && !bound.has_result()) {
      return "MPI_IN_PLACE on a rank that is not the root";
    }
    const ElementShape shape = element_shape_of(type);
    const auto extent = static_cast<std::size_t>(std::max<MPI_Aint>(shape.extent, 0));
    return size_fault(count, std::max(extent, shape.bytes));
  }

  // For calls that do not use the plan's trees.
  void compare(CallCheck with) {
    call = std::move(with);
    MPI_Request request = MPI_REQUEST_NULL;
    call->begin(bound.comm.get(), request);
    try {
      Timeout(bound.options.timeout).wait(request, kComparingCalls);
    } catch (...) {
      call->leave_to_mpi();
      throw;
    }
  }

  // Informs the other ranks, which may have found no error.
  [[noreturn]] void refuse(const std::string& fault) {
    try {
      if (bound.options.check_sizes) compare(CallCheck::refusal());
    } catch (const TimedOut&) {
      // The others have not even begun: this rank's fault says more.
    }
    throw InputError(fault);
  }

  void reduce(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op) {
    if (const std::string fault = fault_of(sendbuf, count, type, op); !fault.empty()) refuse(fault);
    const ElementShape shape = element_shape_of(type);
    const Operation operation = bound.plan.operation;
    const bool along_trees = bound.plan.nodes.size() > 1 && goes_along_trees(operation, type, op);
    const std::uint64_t bytes = count * shape.bytes;
    CallCheck mine(bytes, reduction_kind(type, op) + (along_trees ? 1 : 0));
    if (!along_trees) {
      if (bound.options.check_sizes) {
        compare(std::move(mine));
        call->judge(bound.rank);
      }
      return reduce_by_library(bound.comm.get(), operation, bound.root, sendbuf, recvbuf, count,
                               type, op);
    }
    call = std::move(mine);
    void* const own = sendbuf == MPI_IN_PLACE ? recvbuf : const_cast<void*>(sendbuf);
    const SegmentGrid grid{count, segment_elements(bytes, shape.bytes)};
    reduce_along_trees({shape, type, op, grid, own, bound.has_result() ? recvbuf : nullptr}, bytes);
  }

  void reduce_along_trees(const ReductionJob& job, std::uint64_t bytes) {
    // An element may be larger than a segment, and than what MPI sends eagerly.
    const engine::Message message{.element_bytes = job.shape.bytes,
                                  .is_risky = job.grid.segment == 1};
    const std::array<engine::Range, 2> ranges{{{0, job.grid}, {0, job.grid}}};
    std::optional<ReducingStore> store;
    // A ring's cells hold the bytes of any part of a segment.
    MpiEngine& by = engine_for(job.shape.true_low == 0 && is_plain(bound.comm.get(), job.type));
    try {
      by.prepare(message, std::span(ranges).first(bound.is_allreduce() ? 2 : 1),
                 {job.type, job.shape.bytes, bytes, bound.options.check_sizes ? &*call : nullptr});
      std::vector<std::uint64_t> ends;
      for (std::size_t tree = 0; tree < by.transport.roles().size(); ++tree) {
        ends.push_back(by.flows.segments_of(tree));
      }
      store.emplace(job, by.transport.roles(), by.transport.windows(), ends, scratch);
    } catch (const std::bad_alloc&) {
      refuse(fmt::format("rank {}: no memory for the windows of segments of {} bytes", bound.rank,
                         job.grid.segment * job.shape.bytes));
    }
    by.run(*store);
  }
};

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
Collective::~Collective() = default;
Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&&) noexcept = default;

Operation Collective::operation() const {
  return state_->bound.plan.operation;
}
int Collective::root() const {
  return state_->bound.root;
}
const std::string& Collective::node() const {
  return state_->bound.node;
}

std::uint64_t Collective::segment_bytes(std::uint64_t message_bytes,
                                        std::uint64_t element_bytes) const {
  const std::uint64_t unit = state_->bound.reduces() ? element_bytes : 1;
  return state_->segment_elements(message_bytes, unit) * unit;
}

Seconds Collective::predicted_time(std::uint64_t message_bytes, std::uint64_t segment_bytes) const {
  return state_->bound.predicted_time(message_bytes, segment_bytes);
}

void Collective::run(void* buffer, std::size_t count, MPI_Datatype type) {
  const InCall only(state_->in_call);
  State::require(state_->bound.plan, Expects::kBroadcast);
  state_->unless_broken([&] { state_->broadcast_buffer(buffer, count, type); });
}

void Collective::run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type,
                     MPI_Op op) {
  const InCall only(state_->in_call);
  State::require(state_->bound.plan, Expects::kReduction);
  state_->unless_broken([&] { state_->reduce(sendbuf, recvbuf, count, type, op); });
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
  const std::uint64_t trees = bound.plan.broadcast_trees.size();
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
  const InCall only(state_->in_call);
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
  const auto broadcast = [&] {
    return state_->broadcast({bytes, shape.segment_bytes}, store, true);
  };
  return state_->unless_broken(broadcast) == Outcome::kComplete;
}

planner::Plan checked_plan(const std::string& text, const std::string& file) {
  planner::Plan plan = planner::parse_plan(text, file);
  planner::check_structure(plan, file);
  return plan;
}

planner::Plan share_plan(MPI_Comm comm, const std::string& file) {
  return checked_plan(share_file(comm, file), display_name(file));
}

}  // namespace espalier::runtime
