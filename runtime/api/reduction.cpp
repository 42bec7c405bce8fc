#include "runtime/api/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "planner/plan/segment_choice.hpp"
#include "planner/plan/send_windows.hpp"
#include "runtime/api/call_check.hpp"
#include "runtime/api/library_reduction.hpp"
#include "runtime/api/plan_binding.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/engine/reduce_engine.hpp"
#include "runtime/engine/reduce_operation.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/owned_comm.hpp"

namespace espalier::runtime {
namespace {

using planner::Operation;

// Checks specific to a reduction, in addition to those of bind_plan()
// (runtime/api/plan_binding.hpp).
void check_plan(const planner::Plan& plan, const ReductionOptions& options) {
  if (plan.operation == Operation::kBroadcast) {
    throw InputError({}, "/operation",
                     "a plan for a broadcast; expected a plan for a reduce or an allreduce");
  }
  if (!options.tuned.empty() && options.segment_bytes != 0) {
    throw InputError("tuned segments cannot be combined with a fixed segment size");
  }
  if (!(options.tuned_within >= 1)) throw InputError(kNoTunedWithin);
}

// The result of an allreduce, which is broadcast while it is being computed.
class ReducedStore : public MemoryStore {
 public:
  ReducedStore(std::byte* result, ReduceEngine& reduce) : MemoryStore(result), reduce_(&reduce) {}
  [[nodiscard]] bool is_ready(const Segment& segment) const override {
    return reduce_->has_combined(segment.index);
  }
  [[nodiscard]] bool is_free(const Segment& segment) const override {
    return reduce_->is_finished_with(segment.index);
  }
  [[nodiscard]] bool has_work() const override { return !reduce_->is_done(); }
  void work() override { reduce_->poll(); }

 private:
  ReduceEngine* reduce_;
};

}  // namespace

bool goes_along_trees(Operation operation, MPI_Datatype type, MPI_Op op) {
  if (!operation_fault(type, op).empty()) return false;
  int commutes = 0;
  check(MPI_Op_commutative(op, &commutes), "MPI_Op_commutative");
  const ElementShape shape = element_shape_of(type);
  if (commutes == 0 || shape.extent <= 0 || shape.bytes == 0) return false;
  return operation == Operation::kReduce ||
         (shape.bytes <= kLargestSegment && shape_of(MPI_COMM_SELF, type).is_plain);
}

struct Reduction::State {
  OwnedComm comm;
  PlanBinding binding;
  int rank = 0;
  planner::Plan plan;
  planner::SegmentCosts costs;
  ReductionOptions options;
  std::unique_ptr<ReduceEngine> reduce;
  std::unique_ptr<Engine> broadcast;  // second half of an allreduce
  std::optional<CallCheck> call;      // of the run in progress
  bool broken = false;

  State(MPI_Comm of, const planner::Plan& of_plan, const ReductionOptions& wanted)
      : comm(of), rank(comm.rank()), plan(of_plan), options(wanted) {
    plan.segment.value = std::min(plan.segment.value, kLargestSegment);
    const PlanBindingOptions common = binding_options(options);
    binding = bind_plan(comm, plan, common, fingerprint(of_plan, common),
                        [&] { check_plan(plan, options); });
    const std::vector<int> hosts_of = hosts_of_ranks(comm.get());
    if (ranks_on_host_of(rank, hosts_of) < comm.size()) costs.eager = kEagerOverTcp;
    make_engines(hosts_of);
  }

  [[nodiscard]] bool is_allreduce() const { return plan.operation == Operation::kAllreduce; }
  [[nodiscard]] bool has_result() const { return is_allreduce() || rank == binding.root; }

  // For ReduceEngineOptions::sends_at_once. False within a host, where MPI may copy directly from
  // process to process.
  [[nodiscard]] std::vector<bool> sends_at_once(std::span<const int> hosts_of) const {
    const bool are_eager = options.segment_bytes == 0
                               ? options.tuned.empty() && planner::are_always_eager(plan, costs)
                               : costs.eager && !costs.asks({options.segment_bytes});
    std::vector<bool> at_once;
    for (const int host : hosts_of) {
      at_once.push_back(are_eager && host != hosts_of[static_cast<std::size_t>(rank)]);
    }
    return at_once;
  }

  void make_engines(std::span<const int> hosts_of) {
    ReduceEngineOptions up;
    up.sends_in_flight = options.sends_in_flight;
    up.receives_in_flight = options.receives_in_flight;
    up.ports = options.ports;
    up.most_in_flight = planner::most_bytes_in_flight(plan.reduce_trees);
    up.sends_at_once = sends_at_once(hosts_of);
    if (!is_allreduce()) up.on_progress = options.on_progress;
    if (is_allreduce()) {
      EngineOptions down;
      down.sends_in_flight = options.sends_in_flight;
      down.receives_in_flight = options.receives_in_flight;
      down.costs = costs;
      down.most_in_flight = planner::most_bytes_in_flight(plan.broadcast_trees);
      down.check_sizes = false;  // the reduction has compared them before anything is received
      down.ports = options.ports;
      down.on_progress = options.on_progress;
      broadcast = std::make_unique<Engine>(
          comm.get(), binding.root, roles_of(plan.broadcast_trees, binding.rank_of_node, rank),
          planner::assignment_down(plan), std::move(down));
      if (costs.eager) up.least_in_flight = planner::kAllreduceInFlight;
      up.first_tag = static_cast<int>(plan.broadcast_trees.size()) + 1;  // after the broadcast's
    }
    reduce = std::make_unique<ReduceEngine>(comm.get(),
                                            roles_of(plan.reduce_trees, binding.rank_of_node, rank),
                                            planner::assignment_up(plan), std::move(up));
  }

  [[nodiscard]] std::uint64_t segment_elements(std::uint64_t message, std::uint64_t element) const {
    const auto tuned = segment_tuned_for(options.tuned, message, options.tuned_within);
    std::uint64_t bytes = tuned.value_or(options.segment_bytes);
    if (tuned == std::uint64_t{0}) {
      bytes = undivided_segment(message, plan.reduce_trees.size());
    } else if (bytes == 0) {
      // On a single host there are no links to keep busy, and each segment costs processor time.
      bytes = costs.eager ? planner::fitted_segment(plan, {message}, costs) : plan.segment.value;
    }
    return std::max<std::uint64_t>(bytes / element, 1);
  }

  // The error of a call that this rank can find alone; empty if there is none.
  [[nodiscard]] std::string fault_of(const void* sendbuf, std::size_t count, MPI_Datatype type,
                                     MPI_Op op) const {
    if (type == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL is not a type";
    if (std::string fault = operation_fault(type, op); !fault.empty()) return fault;
    if (sendbuf == MPI_IN_PLACE && !has_result()) {
      return "MPI_IN_PLACE on a rank that is not the root";
    }
    const ElementShape shape = element_shape_of(type);
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
    const auto extent = static_cast<std::size_t>(std::max<MPI_Aint>(shape.extent, 1));
    if (count > kMost / std::max(extent, std::max<std::size_t>(shape.bytes, 1))) {
      return fmt::format("{} elements of {} bytes exceed the address space", count,
                         std::max(extent, shape.bytes));
    }
    return {};
  }

  // For reductions that do not use the plan's trees.
  void compare() {
    MPI_Request request = MPI_REQUEST_NULL;
    call->begin(comm.get(), request);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    call->judge(rank);
  }

  // Informs the other ranks, which may have found no error.
  [[noreturn]] void refuse(const std::string& fault) {
    if (options.check_sizes) {
      call = CallCheck::refusal();
      MPI_Request request = MPI_REQUEST_NULL;
      call->begin(comm.get(), request);
      check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
    throw InputError(fault);
  }

  void run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type, MPI_Op op) {
    if (const std::string fault = fault_of(sendbuf, count, type, op); !fault.empty()) refuse(fault);
    const ElementShape shape = element_shape_of(type);
    const bool along_trees = plan.nodes.size() > 1 && goes_along_trees(plan.operation, type, op);
    call.emplace(count * shape.bytes, reduction_kind(type, op) + (along_trees ? 1 : 0));
    if (!along_trees) {
      if (options.check_sizes) compare();
      reduce_by_library(comm.get(), plan.operation, binding.root, sendbuf, recvbuf, count, type,
                        op);
      return;
    }
    void* const own = sendbuf == MPI_IN_PLACE ? recvbuf : const_cast<void*>(sendbuf);
    const SegmentGrid grid{count, segment_elements(count * shape.bytes, shape.bytes)};
    const ReduceJob job{shape,
                        type,
                        op,
                        grid,
                        own,
                        has_result() ? recvbuf : nullptr,
                        options.check_sizes ? &*call : nullptr};
    try {
      reduce->reserve(job);
    } catch (const std::bad_alloc&) {
      refuse(fmt::format("rank {}: no memory for the windows of segments of {} bytes", rank,
                         grid.segment * shape.bytes));
    }
    reduce->begin(job);
    if (!is_allreduce()) {
      while (!reduce->is_done()) reduce->wait_for_some();
      return;
    }
    ReducedStore store(static_cast<std::byte*>(moved(recvbuf, shape.true_low)), *reduce);
    broadcast->run({count * shape.bytes, grid.segment * shape.bytes}, store, false, Timeout());
  }
};

Reduction::Reduction(MPI_Comm comm, const planner::Plan& plan, const ReductionOptions& options)
    : state_(std::make_unique<State>(comm, plan, options)) {}
Reduction::~Reduction() = default;
Reduction::Reduction(Reduction&&) noexcept = default;
Reduction& Reduction::operator=(Reduction&&) noexcept = default;

void Reduction::run(const void* sendbuf, void* recvbuf, std::size_t count, MPI_Datatype type,
                    MPI_Op op) {
  if (state_->broken) throw std::logic_error("a reduction that failed cannot run again");
  try {
    state_->run(sendbuf, recvbuf, count, type, op);
  } catch (...) {
    state_->broken = true;
    state_->reduce->abandon();
    state_->comm.abandon();
    throw;
  }
}

Operation Reduction::operation() const {
  return state_->plan.operation;
}
int Reduction::root() const {
  return state_->binding.root;
}
const std::string& Reduction::node() const {
  return state_->binding.node;
}
std::uint64_t Reduction::segment_bytes(std::uint64_t message_bytes,
                                       std::uint64_t element_bytes) const {
  return state_->segment_elements(message_bytes, element_bytes) * element_bytes;
}

Seconds Reduction::predicted_time(std::uint64_t message_bytes, std::uint64_t segment_bytes) const {
  return planner::pipelined_time(state_->plan, {message_bytes}, {segment_bytes},
                                 state_->costs.overhead);
}

}  // namespace espalier::runtime
