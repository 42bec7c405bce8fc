#include "runtime/api/broadcast.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "planner/plan/segment_choice.hpp"
#include "planner/plan/send_windows.hpp"
#include "runtime/api/plan_binding.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/engine/rounds.hpp"
#include "runtime/engine/timetable.hpp"
#include "runtime/memory/direct_copies.hpp"
#include "runtime/memory/host_ring.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "runtime/transport/timeout.hpp"
#include "support/files.hpp"

namespace espalier::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;

// Checks specific to a broadcast, in addition to those of bind_plan()
// (runtime/api/plan_binding.hpp).
void check_plan(const planner::Plan& plan, const BroadcastOptions& options) {
  if (options.rounds) require_rounds(plan);
  if (options.schedule) require_timetable(plan);
  planner::require_operation(plan, planner::Operation::kBroadcast, {});
  if (options.ports != 0 && options.rounds) {
    throw InputError("ports and rounds exclude each other: in a round a rank sends one segment");
  }
  if (options.schedule && (options.ports != 0 || options.rounds)) {
    throw InputError(
        "a schedule cannot be combined with ports or rounds: it fixes the order of all sends");
  }
  if (!options.tuned.empty() &&
      (options.segment_bytes != 0 || options.rounds || options.schedule)) {
    throw InputError(
        "tuned segments cannot be combined with a fixed segment size, rounds or a schedule");
  }
  if (!(options.tuned_within >= 1)) throw InputError(kNoTunedWithin);
  if (options.timeout && !(options.timeout->value > 0 && std::isfinite(options.timeout->value))) {
    throw InputError(fmt::format("a timeout of {} s; it must be finite and greater than 0",
                                 options.timeout->value));
  }
}

std::vector<std::uint64_t> fingerprint(const planner::Plan& plan, const BroadcastOptions& options) {
  std::vector<std::uint64_t> numbers = fingerprint(plan, binding_options(options));
  numbers.insert(
      numbers.end(),
      {options.rounds ? 1U : 0U, options.schedule ? 1U : 0U, options.direct_copies ? 1U : 0U,
       std::bit_cast<std::uint64_t>(options.timeout.value_or(Seconds{}).value)});
  return numbers;
}

// An invalid timeout is refused later, when the refusal can reach all ranks.
std::optional<Seconds> usable(std::optional<Seconds> timeout) {
  return timeout && timeout->value > 0 ? timeout : std::nullopt;
}

}  // namespace

struct Broadcast::State {
  OwnedComm comm;
  PlanBinding binding;
  planner::Plan plan;
  planner::SegmentCosts costs;
  BroadcastOptions options;
  std::vector<int> hosts_of;   // each rank's host
  std::optional<Slots> slots;  // by schedule
  std::unique_ptr<Engine> engine;
  bool uses_rings = false;

  State(MPI_Comm of, const planner::Plan& of_plan, const BroadcastOptions& wanted)
      : comm(of, Timeout(usable(wanted.timeout))), plan(of_plan), options(wanted) {
    if (!options.schedule) forget_schedule();
    binding = bind_plan(
        comm, plan, binding_options(options), fingerprint(of_plan, options),
        [&] { check_plan(plan, options); }, Timeout(usable(options.timeout)));
    hosts_of = hosts_of_ranks(comm.get());
    if (ranks_here() < comm.size()) costs.eager = kEagerOverTcp;
    if (options.schedule) slots.emplace(plan);
    forget_schedule();
    if (copies_directly()) copy_directly();
    std::vector<std::vector<int>> readers_of;
    if (copies_directly()) {
      readers_of = ring_readers(plan.broadcast_trees, binding.rank_of_node, hosts_of);
    }
    make_engine(share_rings(comm.get(), readers_of), readers_of);
  }

  // readers_of: the readers of each rank's ring; empty without rings.
  void make_engine(std::shared_ptr<HostRings> rings, std::span<const std::vector<int>> readers_of) {
    using Waiting = BroadcastOptions::Waiting;
    const bool crowded = ranks_here() > static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    const bool doze = options.source_waiting == Waiting::kAuto
                          ? crowded
                          : options.source_waiting == Waiting::kDozing;
    std::vector<TreeRole> roles =
        roles_of(plan.broadcast_trees, binding.rank_of_node, comm.rank(), hosts_of);
    uses_rings = rings != nullptr;
    if (uses_rings) {
      use_rings(roles, plan.broadcast_trees, binding.rank_of_node, hosts_of, comm.rank(),
                readers_of);
    }
    std::optional<Timetable> timetable;
    if (slots) timetable = slots->of_rank(binding.rank_of_node, comm.rank(), roles);
    engine = std::make_unique<Engine>(
        comm.get(), binding.root, std::move(roles), assignment(),
        EngineOptions{options.sends_in_flight, options.receives_in_flight, costs,
                      planner::most_bytes_in_flight(plan.broadcast_trees), options.check_sizes,
                      segments_vary(), segments_vary() && !are_always_eager(), options.ports,
                      options.rounds ? rounds_of(plan, binding.rank_of_node, comm.rank())
                                     : std::vector<TreeRounds>{},
                      std::move(timetable), doze, options.timeout, std::move(rings),
                      options.transfers, options.on_progress});
  }

  // Streams have buffers smaller than the message and stop when a store fails.
  void forget_rings() {
    if (uses_rings && !comm.is_abandoned()) make_engine(nullptr, {});
  }

  [[nodiscard]] std::size_t ranks_here() const { return ranks_on_host_of(comm.rank(), hosts_of); }

  // In rounds every tree has its turn until the end of the message.
  [[nodiscard]] planner::SegmentAssignment assignment() const {
    if (slots) return slots->assignment();
    return options.rounds ? planner::assignment_for(plan.broadcast_trees)
                          : planner::assignment_down(plan);
  }

  // The schedule's slots have segments of the plan's size; a run's segments may be smaller.
  void forget_schedule() {
    plan.schedule.reset();
    plan.segment.value = std::min(plan.segment.value, kLargestSegment);
  }

  // Otherwise segments go along the plan's edges.
  [[nodiscard]] bool copies_directly() const {
    return options.direct_copies && !options.rounds && !options.schedule && options.ports == 0;
  }

  void copy_directly() {
    std::vector<int> host_of_node;
    for (const int rank : binding.rank_of_node) {
      host_of_node.push_back(hosts_of[static_cast<std::size_t>(rank)]);
    }
    for (planner::PlanTree& tree : plan.broadcast_trees) {
      if (tree.exchange.empty()) tree = with_direct_copies(tree, host_of_node);
    }
  }

  // On a single host there are no links to keep busy, and each segment costs processor time.
  [[nodiscard]] bool fits_segments() const {
    return options.segment_bytes == 0 && !options.rounds && !slots && costs.eager;
  }

  [[nodiscard]] std::uint64_t segment_of(std::uint64_t message) const {
    if (const auto segment = segment_tuned_for(options.tuned, message, options.tuned_within)) {
      return *segment != 0 ? *segment : undivided_segment(message, plan.broadcast_trees.size());
    }
    if (fits_segments()) return planner::fitted_segment(plan, {message}, costs);
    return options.segment_bytes != 0 ? options.segment_bytes : plan.segment.value;
  }

  [[nodiscard]] bool segments_vary() const { return fits_segments() || !options.tuned.empty(); }

  // Whether the segments of every message are within the eager size.
  [[nodiscard]] bool are_always_eager() const {
    const auto is_eager = [this](const TunedSegment& tuned) {
      return tuned.segment_bytes != 0 && !costs.asks({tuned.segment_bytes});
    };
    return planner::are_always_eager(plan, costs) && std::ranges::all_of(options.tuned, is_eager);
  }

  // The largest window that a message of `message` bytes uses.
  [[nodiscard]] std::uint64_t window(std::uint64_t base, std::uint64_t message) const {
    const Bytes segment{segment_of(message)};
    return planner::send_window(base, planner::most_bytes_in_flight(plan), segment,
                                costs.asks(segment));
  }

  [[nodiscard]] Seconds predicted_time(std::uint64_t message, std::uint64_t segment) const {
    Seconds time = planner::pipelined_time(plan, {message}, {segment}, costs.overhead);
    if (slots) time.value += slots->fill({segment}).value;
    return time;
  }

  // For waits in which all other ranks may still be busy with the message.
  [[nodiscard]] Timeout timeout_with_all(const SegmentGrid& grid) const {
    if (!options.timeout) return Timeout();
    return Timeout(
        Seconds{options.timeout->value + 2 * predicted_time(grid.message, grid.segment).value});
  }

  Outcome run(const SegmentGrid& grid, SegmentStore& store, bool stoppable) {
    try {
      return engine->run(grid, store, stoppable, timeout_with_all(grid));
    } catch (...) {
      comm.abandon();
      throw;
    }
  }
};

Broadcast::Broadcast(MPI_Comm comm, const planner::Plan& plan, const BroadcastOptions& options)
    : state_(std::make_unique<State>(comm, plan, options)) {}
Broadcast::~Broadcast() = default;
Broadcast::Broadcast(Broadcast&&) noexcept = default;
Broadcast& Broadcast::operator=(Broadcast&&) noexcept = default;

int Broadcast::root() const {
  return state_->binding.root;
}
const std::string& Broadcast::node() const {
  return state_->binding.node;
}
std::uint64_t Broadcast::segment_bytes(std::uint64_t message_bytes) const {
  return state_->segment_of(message_bytes);
}

Seconds Broadcast::predicted_time(std::uint64_t message_bytes, std::uint64_t segment_bytes) const {
  return state_->predicted_time(message_bytes, segment_bytes);
}

void Broadcast::run(void* buffer, std::size_t count, MPI_Datatype type) {
  const TypeShape shape = shape_of(state_->comm.get(), type);
  if (shape.bytes != 0 && count > std::numeric_limits<std::size_t>::max() / 2 / shape.bytes) {
    throw InputError(
        fmt::format("{} elements of {} bytes exceed the address space", count, shape.bytes));
  }
  const std::uint64_t bytes = count * shape.bytes;
  const SegmentGrid grid{bytes, state_->segment_of(bytes)};
  if (shape.is_plain) {
    MemoryStore store(first_byte_of(buffer, shape));
    state_->run(grid, store, false);
  } else {
    PackedStore store(state_->comm.get(), buffer, count, type, shape.bytes, grid);
    state_->run(grid, store, false);
  }
}

Broadcast::StreamShape Broadcast::stream_shape(std::uint64_t message_bytes,
                                               std::uint64_t buffer_bytes) const {
  // Buffers for the posted receives, for the outstanding sends, and for one segment in between.
  // Fewer where many trees would make the segments so small that their number costs more than the
  // overlap gains.
  constexpr std::uint64_t kSmallSegment = std::uint64_t{64} << 10;
  const std::uint64_t trees = state_->plan.broadcast_trees.size();
  const std::uint64_t least = state_->slots ? state_->slots->buffer_segments() : 2;
  const std::uint64_t wanted = state_->window(state_->options.receives_in_flight, message_bytes) +
                               state_->window(state_->options.sends_in_flight, message_bytes) +
                               (state_->slots ? least : 1);
  const std::uint64_t slots =
      std::clamp(buffer_bytes / trees / kSmallSegment, least, std::max(wanted, least));
  std::uint64_t segment = std::max(buffer_bytes / trees / slots, std::uint64_t{1});
  if (segment > kPage) segment -= segment % kPage;
  return {std::min(segment, state_->segment_of(message_bytes)), slots, trees};
}

bool Broadcast::stream(std::uint64_t bytes, const StreamShape& shape, SegmentStore& store) {
  if (state_->options.ports != 0) {
    throw InputError("ports need the whole message in memory");
  }
  // The next segment arrives while the current one is sent to its second child.
  if (state_->options.rounds && shape.segments_per_tree < 2) {
    throw InputError("rounds need buffers for two segments of each tree");
  }
  if (state_->slots && shape.segments_per_tree < state_->slots->buffer_segments()) {
    throw InputError(fmt::format("the schedule needs buffers for {} segments of each tree, not {}",
                                 state_->slots->buffer_segments(), shape.segments_per_tree));
  }
  const SegmentGrid grid{bytes, shape.segment_bytes};
  state_->forget_rings();
  return state_->run(grid, store, true) == Outcome::kComplete;
}

planner::Plan share_plan(MPI_Comm comm, const std::string& file) {
  planner::Plan plan = planner::parse_plan(share_file(comm, file), display_name(file));
  planner::check_structure(plan, display_name(file));
  return plan;
}

}  // namespace espalier::runtime
