// What a message takes where sends share ports, as TCP's do: a host that receives several parts at
// once has each of them late, and sends nothing on meanwhile, while with turns whole parts look as
// good as short segments (docs/decisions/0029-finalists-share-ports.md). It is the mean of two
// times: with a share of a port for each edge, as TCP has, and with one for each send, as SimGrid
// has.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "planner/plan/plan.hpp"
#include "platforms/core/platform.hpp"
#include "simulate/simulate.hpp"
#include "support/quantities.hpp"

namespace espalier::simulate {

inline constexpr Seconds kUntimed{std::numeric_limits<double>::infinity()};

// A plan in segments of one size.
struct Timed {
  Bytes segment{0};
  double sends = 0;
  Seconds makespan = kUntimed;  // with turns
  Seconds judged = kUntimed;    // by what trials are compared: longer, for what turns leave out
};

// `run` with this segment size and sharing.
Options options_with(const Options& run, Bytes segment, Sharing sharing);

// In segments of this size; two simulations. network: with overheads.
Seconds time_with_shared_ports(const planner::Plan& plan, const platforms::Platform& network,
                               Bytes message, const Options& run, Bytes segment);

// Simulates as many sends as that is fast for.
class SharedPorts {
 public:
  // network: with overheads; must outlive it. routes: whether plans route parts. left: time; unset:
  // no limit.
  SharedPorts(const platforms::Platform& network, Bytes message, const Options& run, bool routes,
              std::optional<Seconds> left);

  // Those of a plan's trials, from the longest segments to the shortest, that take at most
  // `longest` with turns, as they are judged then: from the shortest segments to longer ones until
  // these are worse. Empty: all need too many sends. What sharing costs decreases with the
  // segments, at least as their root: so shorter ones than can be simulated are judged.
  std::vector<Timed> judge(const planner::Plan& plan, std::span<const Timed> trials,
                           Seconds longest);
  [[nodiscard]] std::size_t simulations() const { return simulations_; }

 private:
  const platforms::Platform& network_;
  Bytes message_;
  Options run_;
  double sends_left_;
  std::size_t simulations_ = 0;
};

}  // namespace espalier::simulate
