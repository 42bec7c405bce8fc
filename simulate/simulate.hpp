// What a plan does in time: a discrete-event simulation of one message, segment by segment, under
// the contention model that the plan was made for. When to use it: where the steady state does not
// say enough, for messages that end, links with latencies, and plans of several trees.
//
// Hosts act as the executor's ranks do (docs/runtime.md):
// - Segments are assigned to the trees of each kind by planner/segment_assignment. The source of a
// broadcast
//   has all the data at time 0 and lets segments go in the order of the message, at most a
//   lookahead beyond the oldest that it has not sent to all its children.
// - A host posts a segment for its children in plan order as soon as it has all of it, as far as
// the
//   window allows: so many sends a child may be posted and not ended.
// - In a reduction a host adds its children's segments to its own on its processor, one after the
//   other: of a segment child after child in plan order, of a tree segment after segment, the trees
//   in turns. That takes Options::compute, and the network goes on meanwhile. It sends a segment to
//   its parent when those of all children are added; leaves may send from the start. The window is
//   one of sends a tree. A send begins when the parent has room for it: for `receives` segments of
//   a child that are not added yet, and with the first child's (where the sum is made) for `window`
//   more until they have been sent on. A host that keeps the result, the root of a reduce and all
//   hosts of an allreduce, has no need of those. The root takes segments at most a lookahead beyond
//   the oldest that is not combined.
// - In an allreduce the root lets a segment go as soon as it is combined, in the order of the
//   message. Both ways share ports and links.
// - At one moment, first all ends and arrivals take effect; then hosts combine and post; then sends
//   begin.
//
// What a send occupies. A send of s bytes along an edge keeps every resource r of its way busy for
// A[r, e] s seconds. The way is cut into stretches. Under the one-port models a stretch is an arc,
// whose ports are busy at the same time; under the others every resource is one, in the order
// sender, link, shared links, receiver. A stretch begins when all that it needs is free and the one
// before it has begun, takes it all at once, and lets each go when its own time is over. So ports,
// links and shared links serve one segment at a time, relays cut through, and what a segment waits
// for in flight does not hold up its sender. A send ends with the last of its stretches, and the
// segment is there when the latencies of the way are over too; these occupy nothing, nor do they
// count against the window (unless a send lasts until it has been received:
// Options::until_received); of a parent's room, whose receives are posted ahead, they take their
// time.
//
// Where sends share instead (Options::sharing), one keeps all resources of its way at a time and
// gets a rate on them: max-min fair, inverse to the latency of its edge, as TCP's flows and SimGrid
// divide a port by their round trips. It ends when all of it is through, a segment not before those
// that went to the same child ahead of it. Where windows are larger for latencies, segments also
// keep the pace that the executor has them keep (planner::keeps_pace). A followed schedule needs
// nothing of this: there nothing is to be shared.
//
// What begins first. Segment by segment of the message, as if every host were a segment of the tree
// behind its parent: the nth segment of a tree at depth d of it stands where the source's (n + d)th
// does. So a child on a fast link does not run ahead of one on a slow link, and trees keep in step,
// as in a periodic schedule. Towards the root the same holds backwards: a host at depth d of a tree
// of depth D stands D - d segments behind the deepest, and the root of an allreduce sends as far
// behind as its deepest reduce tree is deep. What cannot begin holds nothing, and what comes after
// it may pass it.
//
// That is what the models mean, and a single tree under one-port reaches its throughput so. With
// several trees, or one port for both ways, a host that finds the other end busy lets its own port
// stand idle or takes another segment first: such a greedy order may stay below the sum of the
// rates, which only says that no resource is given more work than time. The same goes for both ways
// of an allreduce, even with one tree each. A plan's periodic schedule has an order that keeps the
// rates, and is followed where there is one (simulate/transport/follow_schedule.hpp).
//
// Time runs in whole ticks of a power of two, as fine as the longest possible run allows in 62
// bits: what happens at the same moment is known to. Memory: a few counters an edge, a resource and
// a send in progress; nothing grows with the number of segments. Work: O(log n) a send and
// resource; where sends share, O(n log n) for the n that share something, whenever one begins or
// ends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/model/sharing.hpp"
#include "simulate/transport/flows.hpp"

namespace espalier::simulate {

struct Combining;
struct Task;

struct Options {
  std::optional<Bytes> segment{};  // instead of the plan's
  // Sends outstanding, 1 to kMostWindow: per child of a broadcast tree, per reduce tree. Unset: the
  // executor's default for the plan's operation (window_for).
  std::optional<std::uint64_t> window{};
  // Of a reduction: segments of a child that its parent has room for, 1 to kMostWindow.
  std::uint64_t receives = planner::kReceivesInFlight;
  // Of a reduction: bytes of a child's that a processor adds in a second, above 0; unset: at once.
  std::optional<BytesPerSecond> compute{};
  bool follow_schedule = true;  // where the plan has one
  // A send ends when the segment is there, not when it has left, so that latencies count against
  // the windows; these and how far the source goes ahead are then as the executor's, larger where
  // links are long (planner/plan/send_windows.hpp). MPI does so with segments for which it asks the
  // receiver.
  bool until_received = false;
  Sharing sharing = Sharing::kTurns;  // without effect where a schedule is followed
};
inline constexpr std::uint64_t kMostWindow = 1024;
// What the executor has where nothing else is said.
constexpr std::uint64_t window_for(planner::Operation operation) {
  return planner::reduces(operation) ? planner::kReductionSendsInFlight : planner::kSendsInFlight;
}

// std::invalid_argument unless each is 1 to kMostWindow, and unset or above 0 where `operation`
// combines something.
void require_windows(const std::optional<std::uint64_t>& window, std::uint64_t receives);
void require_compute(const std::optional<BytesPerSecond>& compute, planner::Operation operation);

// One segment on one stretch of its way along an edge; of a schedule one uninterrupted piece of it
// or of several. Or one segment of a child's that its parent adds to its own.
struct Send {
  enum class Kind : std::uint8_t {
    kUp,         // from child to parent
    kDown,       // from parent to child
    kCombining,  // on the parent's processor
  };
  Kind kind;
  std::uint32_t tree;    // index into the plan's reduce_trees, or its broadcast_trees of kDown
  std::uint32_t parent;  // index into Plan::nodes
  std::uint32_t child;
  std::uint64_t segment;  // of the tree's segments, from 0; of a piece the first that it belongs to
  Seconds start;
  // What is busy since `start`, and for how long: resources, and after them processors, as in
  // Simulation::busy.
  std::span<const Holding> holdings;
};
// Told of each stretch when it begins, in the order of time (of a schedule period by period); where
// sends share, of each send when it has ended, with all its resources for as long as it lasted.
using OnSend = std::function<void(const Send&)>;

struct Simulation {
  Seconds makespan;         // until the last host is done
  BytesPerSecond achieved;  // message / makespan; 0 for an empty message
  // Of each node of the plan: when it has all of the result; in a reduce, which leaves it to the
  // root alone, when it has sent its part of all. The source of a broadcast at 0.
  std::vector<Seconds> done;
  // Of each of Simulator::resources, and in a reduction then of each node's processor: while it is
  // occupied.
  std::vector<Seconds> busy;
  std::uint64_t segments = 0;     // of the message
  std::uint64_t sends = 0;        // segments times edges that they go along
  Seconds tick;                   // all times are multiples of it; 0 for a schedule
  std::uint64_t most_events = 0;  // things in progress at a time; 0 for a schedule
};

class Simulator {
 public:
  // Keeps references to both, which must outlive it.
  // Throws InputError (JSON pointer and reason, no file) when the plan has a structural fault or
  // does not fit the platform: names, nodes, links; when its schedule is to be followed and ports
  // and links cannot keep it, or another segment is asked for. std::invalid_argument for an option
  // out of range, or a compute rate where nothing is combined. Rates that overload a resource are
  // no fault here: what becomes of them is the question.
  Simulator(const planner::Plan& plan, const platforms::Platform& platform,
            const Options& options = {});

  // Sends one message. Throws InputError when it would take longer than a double can count.
  [[nodiscard]] Simulation run(Bytes message, const OnSend& on_send = {}) const;

  [[nodiscard]] bool follows_schedule() const { return follows_schedule_; }
  [[nodiscard]] Bytes segment() const { return occupying_.segment; }
  [[nodiscard]] std::uint64_t window() const { return window_; }
  // The rows of A.
  [[nodiscard]] std::span<const platforms::Resource> resources() const {
    return occupation_.resources;
  }

 private:
  [[nodiscard]] Combining combining_of(Bytes message) const;
  void add_busy(const Task& task, Simulation& result) const;

  const planner::Plan* plan_;
  const platforms::Platform* platform_;
  std::uint64_t window_;
  std::uint64_t receives_;
  bool until_received_;
  Sharing sharing_;
  std::optional<BytesPerSecond> compute_;
  bool follows_schedule_;
  platforms::Model model_;
  platforms::OccupationOptions occupying_;
  platforms::Occupation occupation_;
  Flows flows_;
  Holdings full_;  // of a whole segment
};

}  // namespace espalier::simulate
