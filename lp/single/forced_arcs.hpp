// Implications, without an LP, of decisions about arcs for spanning trees that load no resource
// above a capacity: arcs that must be in, arcs that cannot be in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lp/graph/host_arcs.hpp"

namespace espalier::lp {

enum class ArcState : std::uint8_t { kFree, kOut, kIn };

struct ArcDecision {
  std::uint32_t arc;
  ArcState state;  // kOut or kIn
};

class ForcedArcs {
 public:
  struct Member {
    std::uint32_t arc;
    double seconds_per_byte;
  };

  // Keeps a reference to `arcs`. excluded: per arc, not 0 where it is out from the start; empty: no
  // arc is excluded. This and `follow` throw LimitReached when the deadline passes.
  ForcedArcs(const HostArcs& arcs, std::uint32_t root, std::vector<char> excluded = {},
             const Deadline& deadline = Deadline());

  // false: no spanning tree of that capacity (seconds per byte) agrees with the decisions.
  bool follow(std::span<const ArcDecision> decisions, double capacity);
  // Per arc, after follow() was true.
  [[nodiscard]] const std::vector<ArcState>& states() const { return states_; }

  // All hosts, including the root.
  [[nodiscard]] const std::vector<std::uint32_t>& hosts() const { return hosts_; }
  // Per resource the arcs that use it, the heaviest first.
  [[nodiscard]] const std::vector<std::vector<Member>>& members() const { return members_; }

 private:
  void begin(double capacity);
  void put_out(std::uint32_t arc);
  void put_in(std::uint32_t arc);
  void follow_arc_in(std::uint32_t arc);
  void put_out_cycles();
  [[nodiscard]] bool all_reached() const;

  const HostArcs& arcs_;
  std::uint32_t root_;
  std::vector<char> excluded_;
  DeadlineWatch watch_;
  std::vector<std::uint32_t> hosts_;
  std::vector<std::vector<Member>> members_;

  double capacity_ = 0;
  bool contradiction_ = false;
  std::vector<ArcState> states_;
  std::vector<std::uint32_t> parent_arc_;  // per node: the arc that is in, if any
  std::vector<double> spare_;  // per resource: capacity minus the load of the arcs that are in
  std::vector<std::size_t> choices_;  // per node: arcs into it that are not out
  std::vector<std::uint32_t> fresh_;  // arcs in, whose implications are still to be derived
};

}  // namespace espalier::lp
