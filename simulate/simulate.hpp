// A discrete-event simulation of one message under a plan, segment by segment, with the contention
// model that the plan was made for. Use it where the steady state is not enough: for messages of
// finite size, links with latencies, and plans of several trees.
//
// Hosts act as the executor's ranks do (docs/runtime.md):
// - planner/segment_assignment assigns segments to the trees of each kind. The source of a
//   broadcast has all data at time 0. It injects segments in the order of the message, at most a
//   lookahead beyond the oldest segment that it has not sent to all its children.
// - A host posts a segment for its children, in plan order, as soon as it has the whole segment and
//   the window allows it. The window is the number of sends per child that are posted and not
//   ended.
// - In a reduction a host's processor adds its children's segments to the host's own, one at a
//   time: of a segment child after child in plan order, of a tree segment after segment, the trees
//   in turns. Adding takes time by Options::compute; the network continues meanwhile. A host sends
//   a segment to its parent when those of all children are added; leaves may send from the start.
//   The window is a number of sends per tree. A send begins when the parent has a buffer for the
//   segment. The parent has buffers for `receives` segments of a child that are not added yet. For
//   the first child (in whose buffers the sum is made) it has `window` more, each in use until the
//   sum has been sent. A host that keeps the result (the root of a reduce, all hosts of an
//   allreduce) does not need the latter. The root accepts segments at most a lookahead beyond the
//   oldest that is not combined.
// - In an allreduce the root injects a segment as soon as it is combined, in the order of the
//   message. Both directions share ports and links.
// - At one time, first all ends and arrivals take effect, then hosts combine and post, then sends
//   begin.
//
// Resources of a send. A send of s bytes along edge e keeps every resource r of its path busy for
// A[r, e] s seconds. The path is divided into stretches. Under the one-port models a stretch is an
// arc, whose ports are busy at the same time. Under the others each resource is a stretch, in the
// order sender, link, shared links, receiver. A stretch begins when all its resources are free and
// the previous stretch has begun. It occupies all its resources at once, and releases each when
// that resource's time is over. So ports, links and shared links serve one segment at a time,
// relays cut through, and a segment that waits in the network does not delay its sender. A send
// ends with the last of its stretches. The segment arrives after the latencies of the path have
// passed as well. Latencies occupy no resource and do not count against the window, unless a send
// lasts until it is received (Options::until_received). They do count against a parent's buffers,
// as receives are posted ahead.
//
// Shared resources (Options::sharing). A send then occupies all resources of its path at the same
// time, at a rate that is max-min fair with weights inverse to the latency of its edge, as TCP
// flows and SimGrid divide a port by round-trip times. It ends when all its bytes have passed, but
// not before earlier segments to the same child. If windows are enlarged for latencies, segments
// also keep the executor's pace (planner::keeps_pace). A followed schedule needs none of this, as
// it never shares a resource.
//
// Order of sends. Sends begin in the order of the message's segments, with each host one segment of
// the tree behind its parent: the nth segment of a tree at depth d of it ranks with the source's
// (n + d)th. So a child on a fast link does not get ahead of one on a slow link, and trees proceed
// in step, as in a periodic schedule. Towards the root the same holds in reverse: a host at depth d
// of a tree of depth D is D - d segments behind the deepest host, and an allreduce's root sends
// behind by the depth of its deepest reduce tree. A send that cannot begin occupies nothing, and
// later ones may pass it.
//
// This is what the models mean, and under one-port a single tree reaches its throughput. With
// several trees, or with one port for both directions, a host that finds the other end busy leaves
// its own port idle or sends another segment first. Such a greedy order may stay below the sum of
// the rates, because the rates only ensure that no resource is overloaded. The same is true of the
// two directions of an allreduce, even with one tree each. The order of a plan's periodic schedule
// attains the rates. It is followed if the plan has one (simulate/transport/follow_schedule.hpp).
//
// Time is counted in ticks of a power of two, as fine as 62 bits allow for the longest possible
// run, so that simultaneous events are recognized exactly. Memory: a few counters per edge, per
// resource and per send in progress; nothing grows with the number of segments. Work: O(log n) per
// send and resource; with sharing O(n log n) for the n sends that share resources, whenever one
// begins or ends.
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
  // Outstanding sends, 1 to kMostWindow, per child of a broadcast tree or per reduce tree. Unset:
  // the executor's default for the plan's operation (window_for).
  std::optional<std::uint64_t> window{};
  // For reductions: segments of a child for which its parent has buffers, 1 to kMostWindow.
  std::uint64_t receives = planner::kReceivesInFlight;
  // For reductions: bytes per second that a processor adds, above 0. Unset: adding takes no time.
  std::optional<BytesPerSecond> compute{};
  bool follow_schedule = true;  // if the plan has one
  // A send ends when the segment has arrived, not when it has left, so latencies count against the
  // windows. Windows and the source's lookahead are then enlarged for high-latency links as the
  // executor's (planner/plan/send_windows.hpp). MPI's sends end so in its rendezvous protocol.
  bool until_received = false;
  Sharing sharing = Sharing::kTurns;  // no effect if a schedule is followed
};
inline constexpr std::uint64_t kMostWindow = 1024;
// The executor's default.
constexpr std::uint64_t window_for(planner::Operation operation) {
  return planner::reduces(operation) ? planner::kReductionSendsInFlight : planner::kSendsInFlight;
}

// Throws std::invalid_argument unless both windows are 1 to kMostWindow.
void require_windows(const std::optional<std::uint64_t>& window, std::uint64_t receives);
// Throws std::invalid_argument unless `compute` is unset, or above 0 and `operation` is a
// reduction.
void require_compute(const std::optional<BytesPerSecond>& compute, planner::Operation operation);

// One segment on one stretch of its path along an edge; of a schedule: an uninterrupted piece of
// one or several segments. Or one child's segment that its parent adds to its own.
struct Send {
  enum class Kind : std::uint8_t {
    kUp,         // from child to parent
    kDown,       // from parent to child
    kCombining,  // on the parent's processor
  };
  Kind kind;
  std::uint32_t tree;    // index into the plan's reduce_trees; of kDown: broadcast_trees
  std::uint32_t parent;  // index into Plan::nodes
  std::uint32_t child;
  std::uint64_t segment;  // of the tree's segments, from 0; of a piece: the first one in it
  Seconds start;
  // What is busy from `start` on, and for how long. Resources, then processors, as in
  // Simulation::busy.
  std::span<const Holding> holdings;
};
// Called for each stretch when it begins, in order of time (of a schedule: period by period). With
// sharing: called for each send when it has ended, with all its resources for its whole duration.
using OnSend = std::function<void(const Send&)>;

struct Simulation {
  Seconds makespan;         // until the last host is done
  BytesPerSecond achieved;  // message / makespan; 0 for an empty message
  // Per node of the plan: when it has the whole result; 0 for the source of a broadcast. In a
  // reduce, for all nodes except the root: when it has sent its last segment.
  std::vector<Seconds> done;
  // Per resource of Simulator::resources, and in a reduction then per node's processor: how long it
  // is occupied.
  std::vector<Seconds> busy;
  std::uint64_t segments = 0;     // of the message
  std::uint64_t sends = 0;        // segments times the edges that they cross
  Seconds tick;                   // all times are multiples of it; 0 for a schedule
  std::uint64_t most_events = 0;  // most events queued at a time; 0 for a schedule
};

class Simulator {
 public:
  // Keeps references to both, which must outlive it.
  // Throws InputError (JSON pointer and reason, no file) when the plan has a structural fault or
  // does not fit the platform (names, nodes, links), or when its schedule is to be followed, but
  // ports and links cannot keep it or another segment size is given. Throws std::invalid_argument
  // for an option out of range, or for a compute rate when nothing is combined. Rates that overload
  // a resource are accepted: the simulation shows their effect.
  Simulator(const planner::Plan& plan, const platforms::Platform& platform,
            const Options& options = {});

  // The sends of a message: its segments times the edges that each crosses.
  [[nodiscard]] double sends_of(Bytes message) const;
  // Simulates one message. Throws InputError when its time exceeds the range of a double.
  [[nodiscard]] Simulation run(Bytes message, const OnSend& on_send = {}) const;

  [[nodiscard]] bool follows_schedule() const { return follows_schedule_; }
  [[nodiscard]] Bytes segment() const { return occupying_.segment; }
  [[nodiscard]] std::uint64_t window() const { return window_; }
  // The rows of A.
  [[nodiscard]] std::span<const platforms::Resource> resources() const {
    return occupation_.resources;
  }

 private:
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
