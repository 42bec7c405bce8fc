// A discrete-event simulation of one message under a plan, segment by segment, with the contention
// model that the plan was made for. Use it where the steady state is not enough: for messages of
// finite size, links with latencies, and plans of several trees. Hosts, sends and their order
// follow docs/methods.md, "The simulator".
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/plan/segment_assignment.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/model/sharing.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/flows.hpp"

namespace espalier::simulate {

struct Combining;
struct Task;

struct Options {
  std::optional<Bytes> segment{};  // instead of the plan's
  // Outstanding sends, 1 to kMostWindow, per child of a tree that copies or routes, or per tree
  // that combines. Unset: the executor's default for the plan's operation (window_for).
  std::optional<std::uint64_t> window{};
  // Where segments are combined: those of a child for which its parent has buffers, 1 to
  // kMostWindow. Where they are routed: with the window, those that a host has buffers for that
  // passes them on.
  std::uint64_t receives = planner::kReceivesInFlight;
  // Where segments are combined: bytes per second that a processor adds, above 0. Unset: adding
  // takes no time.
  std::optional<BytesPerSecond> compute{};
  bool follow_schedule = true;  // if the plan has one; then without `compute`
  // In synchronised rounds (engine/rounds.hpp), by the engine and without a schedule. The plan
  // needs colors.
  bool rounds = false;
  // A send ends when the segment has arrived, not when it has left, so latencies count against the
  // windows. Windows and the source's lookahead are then enlarged for high-latency links as the
  // executor's (planner/plan/send_windows.hpp). MPI's sends end so in its rendezvous protocol.
  bool until_received = false;
  Sharing sharing = Sharing::kTurns;  // no effect if a schedule is followed
};
inline constexpr std::uint64_t kMostWindow = 1024;
// The executor's default.
constexpr std::uint64_t window_for(planner::Operation operation) {
  return operation == planner::Operation::kBroadcast ? planner::kSendsInFlight
                                                     : planner::kReductionSendsInFlight;
}

// Throws std::invalid_argument for an option out of range, or for a compute rate when nothing is
// combined.
void require_valid(const Options& options, planner::Operation operation);

// One segment on one stretch of its path along an edge; of a schedule: an uninterrupted piece of
// one or several segments. Or one child's segment that its parent adds to its own.
struct Send {
  enum class Kind : std::uint8_t {
    kUp,         // from child to parent
    kDown,       // from parent to child
    kCombining,  // on the parent's processor
  };
  Kind kind;
  // Index into the plan's reduce_trees; of kDown: broadcast_trees; of a plan with blocks: into the
  // trees of all blocks.
  std::uint32_t tree;
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
class OnSend {
 public:
  OnSend() = default;
  // every: above 1, only each so-many-th is reported, of those on links and of those on processors:
  // enough to show progress.
  template <std::invocable<const Send&> Call>
  requires(!std::same_as<Call, OnSend>)
      OnSend(Call call,
             std::uint64_t every = 1)  // NOLINT(google-explicit-constructor): as a function
      : call_(std::move(call)), every_(every) {}

  explicit operator bool() const { return call_ != nullptr; }
  void operator()(const Send& send) const { call_(send); }
  // Whether the nth one, from 1, is to be reported.
  [[nodiscard]] bool wants(std::uint64_t nth) const { return call_ && nth % every_ == 0; }

 private:
  std::function<void(const Send&)> call_;
  std::uint64_t every_ = 1;
};

struct Simulation {
  Seconds makespan;         // until the last host is done
  BytesPerSecond achieved;  // message / makespan; 0 for an empty message
  // Per node of the plan: when it has its whole result; 0 for the source of a broadcast or scatter.
  // In a reduce and a gather, for all nodes except the root: when it has sent its last segment.
  std::vector<Seconds> done;
  // Per resource of Simulator::resources, and if segments are combined then per node's processor:
  // how long it is occupied.
  std::vector<Seconds> busy;
  std::uint64_t segments = 0;     // of the message, over all its parts
  std::uint64_t sends = 0;        // segments times the edges that they cross
  Seconds tick;                   // all times are multiples of it; 0 for a schedule
  std::uint64_t most_events = 0;  // most events queued at a time; 0 for a schedule
};

class Simulator {
 public:
  // Keeps references to both, which must outlive it. Throws InputError (JSON pointer and reason, no
  // file) when the plan has a structural fault or does not fit the platform, or when its schedule
  // is to be followed but cannot be kept, or when it cannot run in rounds and should;
  // std::invalid_argument as require_valid. Rates that overload a resource are accepted: the
  // simulation shows their effect.
  Simulator(const planner::Plan& plan, const platforms::Platform& platform,
            const Options& options = {});

  // The message is as the plan counts it: docs/formats.md, "Plan". The sends of a message: its
  // segments times the edges that each crosses.
  [[nodiscard]] double sends_of(Bytes message) const;
  // Its segments, over all its parts.
  [[nodiscard]] std::uint64_t segments_of(Bytes message) const;
  // Simulates one message. Throws InputError when its time exceeds the range of a double.
  [[nodiscard]] Simulation run(Bytes message, const OnSend& on_send = {}) const;

  [[nodiscard]] bool follows_schedule() const { return options_.follow_schedule; }
  [[nodiscard]] Bytes segment() const { return occupying_.segment; }
  [[nodiscard]] std::uint64_t window() const { return *options_.window; }
  // The rows of A.
  [[nodiscard]] std::span<const platforms::Resource> resources() const {
    return occupation_.resources;
  }

 private:
  // These return when each host is done.
  std::vector<double> run_engines(Bytes message, const OnSend& on_send, Simulation& result) const;
  std::vector<double> run_by_schedule(Bytes message, const OnSend& on_send,
                                      Simulation& result) const;
  void add_busy(const Task& task, Simulation& result) const;

  const planner::Plan* plan_;
  const platforms::Platform* platform_;
  Options options_;  // with the window, and follow_schedule only if there is one
  platforms::Model model_;
  platforms::OccupationOptions occupying_;
  platforms::Occupation occupation_;
  Assignments assignments_;  // without a message
  Flows flows_;
  Holdings full_;  // of a whole segment
};

// Names of the simulator's resources and, if data is combined, of the hosts' processors after them:
// what Simulation::busy and Send::holdings count.
std::vector<std::string> resource_names(const Simulator& simulator, const planner::Plan& plan,
                                        const platforms::Platform& platform);

}  // namespace espalier::simulate
