// The calls of a collective whose blocks copy, and what all calls share.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "runtime/api/collective_state.hpp"
#include "runtime/api/engines.hpp"
#include "runtime/memory/direct_copies.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

using planner::Operation;

namespace {

std::byte* first_byte_of(void* buffer, const ElementShape& shape) {
  return static_cast<std::byte*>(moved(buffer, shape.true_low));
}

}  // namespace

std::string size_fault(std::size_t count, std::size_t element_bytes) {
  if (count <=
      std::numeric_limits<std::size_t>::max() / 2 / std::max<std::size_t>(element_bytes, 1))
    return {};
  return fmt::format("{} elements of {} bytes exceed the address space", count, element_bytes);
}

Collective::State::State(const OwnedComm& comm, const planner::Plan& plan,
                         const CollectiveOptions& options, Expects expects)
    : bound(comm, plan, options, [&] { require(plan, expects); }) {
  std::shared_ptr<HostRings> rings;
  if (copies_directly()) {
    copy_directly();
    rings = share_rings(bound.comm.get(), rings_of(bound));
  }
  uses_rings = rings != nullptr;
  if (planner::routes(bound.plan.operation)) routes.emplace(bound);
  engine = engine_of(bound, std::move(rings));
}

void Collective::State::require(const planner::Plan& plan, Expects expects) {
  if (expects == Expects::kBroadcast) {
    planner::require_operation(plan, Operation::kBroadcast, {});
  } else if (expects == Expects::kReduction &&
             (!planner::reduces(plan.operation) || planner::has_no_data(plan.operation))) {
    throw InputError({}, "/operation",
                     fmt::format("a plan for {}; expected a plan for a reduce or an allreduce",
                                 planner::with_article(plan.operation)));
  }
}

void Collective::State::compare_call() {
  MPI_Request request = MPI_REQUEST_NULL;
  call->begin(bound.comm.get(), request);
  try {
    Timeout(bound.options.timeout).wait(request, kComparingCalls);
  } catch (...) {
    call->leave_to_mpi();
    throw;
  }
}

void Collective::State::judge_call() {
  if (!bound.options.check_sizes) return;
  compare_call();
  call->judge(bound.rank);
}

void Collective::State::refuse(const std::string& fault) {
  try {
    call = CallCheck::refusal();
    if (bound.options.check_sizes) compare_call();
  } catch (const TimedOut&) {
    // The others have not even begun: this rank's fault says more.
  }
  throw InputError(fault);
}

bool Collective::State::copies_directly() const {
  const CollectiveOptions& options = bound.options;
  return options.direct_copies && !options.rounds && !options.schedule && options.ports == 0 &&
         bound.plan.has_one_root();
}

void Collective::State::copy_directly() {
  std::vector<int> host_of_node;
  for (const int of_node : bound.rank_of_node) {
    host_of_node.push_back(bound.hosts_of[static_cast<std::size_t>(of_node)]);
  }
  for (planner::PlanTree& tree : bound.plan.broadcast_trees) {
    if (tree.exchange.empty()) tree = with_direct_copies(tree, host_of_node);
  }
  bound.pipeline.emplace(bound.plan);
}

MpiEngine& Collective::State::engine_for(bool may_use_rings) {
  if (may_use_rings || !uses_rings) return *engine;
  if (!without_rings) without_rings = engine_of(bound);
  return *without_rings;
}

Collective::State*& Collective::State::starting() {
  thread_local State* starting = nullptr;
  return starting;
}

std::vector<Collective::State*>& Collective::State::in_progress() {
  thread_local std::vector<State*> calls;
  return calls;
}

void Collective::State::give_up() {
  std::erase(in_progress(), this);
  broken = true;
  engine->transport.abandon();
  if (without_rings) without_rings->transport.abandon();
  bound.comm.abandon();
}

void Collective::State::carry_out(Begun prepared_call) {
  if (starting() == this) {
    begun = std::move(prepared_call);
    begun->by->flows.begin(*begun->store);
    in_progress().push_back(this);
    return;
  }
  prepared_call.by->run(*prepared_call.store);
  if (prepared_call.finish) prepared_call.finish();
}

bool Collective::State::progress_all() {
  bool any = false;
  for (State* const state : in_progress()) {
    Begun& call = *state->begun;
    if (call.is_done()) continue;
    try {
      any = call.by->flows.progress() || any;
    } catch (...) {
      call.failure = std::current_exception();  // for who waits for it
    }
  }
  return any;
}

bool Collective::State::is_complete() {
  if (!begun->is_done()) progress_all();
  if (!begun->is_done()) return false;
  std::erase(in_progress(), this);
  const Begun ended = *std::exchange(begun, std::nullopt);
  if (ended.failure) std::rethrow_exception(ended.failure);
  if (ended.finish) ended.finish();
  return true;
}

void Collective::State::await_begun() {
  while (!begun->is_done()) {
    if (in_progress().size() == 1) {
      begun->by->flows.wait();
    } else if (!progress_all()) {
      begun->by->transport.relax(0, true);
    }
  }
  is_complete();
}

// A stream's buffers are smaller than the message, and a store may fail: not with rings.
MpiEngine& Collective::State::prepared(const engine::SegmentGrid& grid, bool stoppable) {
  call.emplace(grid.message);
  const std::array ranges{engine::Range{0, grid}};
  MpiEngine& by = engine_for(!stoppable);
  try {
    by.prepare({.stoppable = stoppable}, ranges,
               {MPI_BYTE, 1, grid.message, bound.options.check_sizes ? &*call : nullptr});
  } catch (const std::bad_alloc&) {
    refuse(fmt::format("rank {}: no memory for a message of {} bytes", bound.rank, grid.message));
  }
  return by;
}

Outcome Collective::State::stream(const engine::SegmentGrid& grid, SegmentStore& store) {
  return prepared(grid, true).run(store, bound.timeout_with_all(grid.message, grid.segment));
}

void Collective::State::broadcast_buffer(void* buffer, std::size_t count, MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) refuse("MPI_DATATYPE_NULL is not a type");
  const ElementShape shape = element_shape_of(type);
  if (const std::string fault = size_fault(count, shape.bytes); !fault.empty()) refuse(fault);
  MPI_Comm comm = bound.comm.get();
  const std::uint64_t bytes = count * shape.bytes;
  const engine::SegmentGrid grid{bytes, bound.segment_of(bytes)};
  if (is_plain(comm, type)) {
    const auto store = std::make_shared<MemoryStore>(first_byte_of(buffer, shape));
    return carry_out({&prepared(grid, false), store, {}});
  }
  std::shared_ptr<PackedStore> store;
  try {
    store = std::make_shared<PackedStore>(comm, buffer, count, type, shape.bytes, grid);
  } catch (const InputError& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse(fmt::format("rank {}: no memory to pack {} bytes", bound.rank, bytes));
  }
  carry_out({&prepared(grid, false), store, {}});
}

void Collective::State::allgather(const void* sendbuf, void* recvbuf, const Parts& given,
                                  MPI_Datatype type) {
  const auto placed = std::make_shared<PlacedParts>(given);
  const Parts parts = placed->parts();
  if (type == MPI_DATATYPE_NULL) refuse("MPI_DATATYPE_NULL is not a type");
  const ElementShape shape = element_shape_of(type);
  if (const std::string fault = parts_fault(parts, bound, shape); !fault.empty()) {
    refuse(fault);
  }
  const std::uint64_t bytes = parts.total() * shape.bytes;
  const auto own = static_cast<std::size_t>(bound.rank);
  std::shared_ptr<PartsInMemory> gathered;
  call.emplace(bytes, parts.kind());
  try {
    gathered = std::make_shared<PartsInMemory>(bound.comm.get(), recvbuf, parts, type, shape);
    if (sendbuf == MPI_IN_PLACE) {
      gathered->pack(own);
    } else {
      gathered->take(own, const_cast<void*>(sendbuf));
    }
    engine->prepare(
        {},
        ranges_of(bound, {parts.counts, gathered->first()}, shape.bytes, bound.segment_of(bytes)),
        {MPI_BYTE, 1, bytes, bound.options.check_sizes ? &*call : nullptr});
  } catch (const InputError& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse(fmt::format("rank {}: no memory for a message of {} bytes", bound.rank, bytes));
  }
  carry_out({engine.get(), std::make_shared<MemoryStore>(gathered->bytes()),
             [lists = placed, gathered, own] { gathered->unpack_all(own); }});
}

}  // namespace espalier::runtime
