// What limits the optimum, and what the optimum would be if that were faster. Each answer comes
// from solving the packing LP of the changed platform again. Prices only show where to look: they
// hold for small changes, and leave open which of several equal bottlenecks they name.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/explain/binding_cuts.hpp"
#include "planner/explain/bottlenecks.hpp"
#include "planner/problem/all_roots.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/multicast.hpp"
#include "planner/problem/routing.hpp"
#include "planner/registry.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

// The optimum of a platform with other figures.
struct WhatIf {
  double factor;           // what the figures were multiplied by
  BytesPerSecond optimum;  // reached
  BytesPerSecond bound;    // proven
};

struct Upgrade {
  Bottleneck what;
  std::vector<WhatIf> outcomes;  // one per factor, in their order; fewer at the time limit
};

struct ExplainOptions {
  std::size_t top = 5;                    // the most resources, links and sets, each
  std::vector<double> factors{1.1, 2.0};  // above 1
  // Limit of arborescences priced per change: a few changed platforms converge slowly, and their
  // results by then are good enough. Their gaps stay open, which is not a failure. Not of problems
  // with several roots, or parts.
  std::size_t most_work = 1000;
  // gap and deadline, the latter for the total; on_progress is called by the first proof.
  AlgorithmOptions limits;
  // Called before each further proof with the number of proofs done and the total; may be empty.
  std::function<void(Seconds elapsed, std::size_t done, std::size_t total)> on_step;
};

struct Explanation {
  Outcome optimum;                 // trees, bound and prices of the unchanged platform
  BytesPerSecond reached;          // throughput of its trees of each kind
  std::vector<BindingCut> cuts;    // that are the bound, most hosts first; of a Collective only
  std::vector<Upgrade> resources;  // highest price first
  std::vector<Upgrade> links;      // as Bottlenecks::links
  std::vector<Upgrade> sets;       // as Bottlenecks::sets
  std::optional<Upgrade> all;      // solved only when none of the above helps
  // kTimeLimit or kStalled when any of the proofs ended so, or was left out because of it.
  Termination termination = Termination::kDone;
};

// Throws InputError when a raised figure is no longer finite.
Explanation explain(const Collective& problem, const ExplainOptions& options = {});
Explanation explain(const AllRoots& problem, const ExplainOptions& options = {});
Explanation explain(const Routing& problem, const ExplainOptions& options = {});
Explanation explain(const Multicast& problem, const ExplainOptions& options = {});

// Whether the upgrade by the largest factor is proven to raise the optimum.
bool helps(const Upgrade& upgrade, const Explanation& explanation);

// The relative gain of a change. `least` and `most` are guaranteed limits, because the optimum
// before and after are each known within a gap; `likely` compares the throughputs reached.
struct Gain {
  double least;
  double likely;
  double most;
};
Gain gain_of(const WhatIf& what_if, const Explanation& explanation);

}  // namespace espalier::planner
