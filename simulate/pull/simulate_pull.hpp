// A broadcast or an allgather without a plan in virtual time: every host runs the rule of the pull
// (engine/pull/puller.hpp, decision 0018), unchanged, over the links of a platform that none of
// them knows. Use it to see how near the rule comes to the best possible on a network.
//
// Hosts that no path through relays connects do not serve each other. Control messages take the
// latency of their path and no bandwidth. A host looks at what has arrived 20,000 times a second,
// or four times in the shortest time of a segment, and asks then and every Rule::poll_s; less often
// while nothing happens for long.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/pull/pulled_message.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/transport/flows.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

struct PullOptions {
  std::optional<Bytes>
      segment{};  // at least 1 byte; unset: as the executor chooses (engine::pull::grid_of)
  std::uint64_t seed = 1;  // of the hosts' random choices
};

// A broadcast's message, or without a source that of an allgather, in equal parts of the hosts.
// segment: of the options.
engine::pull::PulledMessage pulled_message(const platforms::Platform& platform,
                                           std::optional<platforms::NodeId> source, Bytes message,
                                           std::optional<Bytes> segment);

struct PullOutcome {
  Seconds makespan;           // until the last host has the message
  BytesPerSecond achieved;    // message / makespan; 0 for an empty message
  std::vector<Seconds> done;  // per host
  Bytes segment;
  std::uint64_t segments = 0;   // of the message
  std::uint64_t requests = 0;   // for segments
  std::uint64_t bulletins = 0;  // control messages, which also carry the requests
};

// A segment on its way from one host to another, numbered by their places among all.
struct PullTransfer {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t segment;
  Seconds start;
  Seconds duration;                   // without latency
  std::span<const Holding> holdings;  // the rows of A that it uses all the time
};
// Called when a segment has passed; may be empty, and may throw.
using OnPullTransfer = std::function<void(const PullTransfer&)>;

// As pulled_message(). Deterministic. Throws InputError when the source is a relay, for fewer than
// two hosts and for too many segments; InfeasibleError naming a host that cannot be reached from
// the source, or for an allgather two hosts between which there are no paths both ways, not even by
// way of other hosts that each other have.
PullOutcome simulate_pull(const platforms::Platform& platform,
                          std::optional<platforms::NodeId> source, platforms::Model model,
                          Bytes message, const PullOptions& options = {},
                          const OnPullTransfer& on_transfer = {});

}  // namespace espalier::simulate
