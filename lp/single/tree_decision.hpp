// Is there a spanning tree that loads no resource above a capacity? Branch and cut, with the
// constraints and inequalities of docs/methods.md, "Deciding a capacity".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lp/graph/host_arcs.hpp"
#include "lp/single/forced_arcs.hpp"
#include "lp/single/root_cuts.hpp"
#include "lp/solver/linear_program.hpp"
#include "support/deadline.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

enum class Verdict : std::uint8_t {
  kFound,      // tree() is one
  kNoTree,     // proven: there is none
  kUnknown,    // limit of work reached, or a numerical failure of GLPK in some branch
  kTimeLimit,  // no time was left
};

class TreeDecision {
 public:
  // Keeps references to `arcs` and `rules`, both of the same problem. capacity: seconds per byte.
  // This and `run` throw LimitReached when the deadline passes between two LPs.
  TreeDecision(const HostArcs& arcs, std::uint32_t root, ForcedArcs& rules, double capacity,
               const Deadline& deadline = Deadline());

  struct Limits {
    double work;  // in simplex pivots times rows: independent of the machine
    std::function<std::optional<Seconds>()> time_left;  // called before each LP; unset: no limit
  };
  Verdict run(const Limits& limits);

  // The arcs of the tree found.
  [[nodiscard]] const std::vector<std::uint32_t>& tree() const { return tree_; }
  [[nodiscard]] std::size_t branches() const { return branches_; }
  [[nodiscard]] double work() const { return work_; }

 private:
  struct Branch {
    double bound;  // z of its parent's relaxation
    std::size_t number;
    std::vector<ArcDecision> decisions;
    // Best first; of equal bounds, the newer branch.
    bool operator<(const Branch& other) const {
      return bound > other.bound || (bound == other.bound && number < other.number);
    }
  };
  enum class Relaxation : std::uint8_t {
    kEmpty,
    kFractional,
    kTree,
    kTrouble,
    kWorkLimit,
    kTimeLimit
  };

  void build(std::uint32_t root);
  Relaxation relax(const std::vector<ArcDecision>& decisions, const Limits& limits);
  void fix_columns();
  bool add_covers();
  void add_cover(const std::vector<ForcedArcs::Member>& members);
  void add_clique(const std::vector<ForcedArcs::Member>& members);
  bool add_cuts();
  void add_row(Bounds bounds, const std::vector<std::uint32_t>& arcs);
  void drop_slack_rows();
  [[nodiscard]] std::uint32_t branching_arc() const;

  const HostArcs& arcs_;
  ForcedArcs& rules_;
  double capacity_;
  DeadlineWatch watch_;
  RootCuts root_cuts_;
  std::vector<std::uint32_t> in_play_;    // the arcs that are columns: those that may be in
  std::vector<std::uint32_t> column_of_;  // per arc
  LinearProgram lp_{Sense::kMinimise};
  std::uint32_t z_ = 0;
  std::uint32_t first_cut_ = 0;  // rows from here on are covers and cuts
  std::vector<double> x_;        // of the last relaxation, per arc
  std::vector<ArcState> fixed_;
  std::vector<std::uint32_t> tree_;
  std::size_t branches_ = 0;
  double work_ = 0;
};

}  // namespace espalier::lp
