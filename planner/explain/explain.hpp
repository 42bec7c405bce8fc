// Why the optimum is what it is: what binds, and what the optimum would be if that were faster.
// Each answer comes from the packing LP of the changed platform, solved again: prices only say
// where to look, for they hold for small changes and leave open which of several equal bottlenecks
// they name.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/explain/bottlenecks.hpp"
#include "planner/problem/collective.hpp"
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
  std::vector<WhatIf> outcomes;  // one a factor, in their order; fewer when the time was up
};

struct ExplainOptions {
  std::size_t top = 5;                    // of resources, of links and of sets, each at most
  std::vector<double> factors{1.1, 2.0};  // above 1
  // Arborescences priced for one change at most: a few changed platforms tail off, and what is
  // known of them by then says enough. Their gaps stay open, which is no failure.
  std::size_t most_work = 1000;
  // gap and time_limit, the latter for all the work together; on_progress is called by the first
  // proof.
  AlgorithmOptions limits;
  // Called before each further proof with how many are done, of how many; may be empty.
  std::function<void(Seconds elapsed, std::size_t done, std::size_t total)> on_step;
};

struct Explanation {
  Outcome optimum;                 // trees, bound and prices of the platform as it is
  BytesPerSecond reached;          // what its trees carry, of either kind
  std::vector<Upgrade> resources;  // dearest first
  std::vector<Upgrade> links;      // as Bottlenecks::links
  std::vector<Upgrade> sets;       // as Bottlenecks::sets
  std::optional<Upgrade> all;      // looked at only when none of the above helps
  // kTimeLimit or kStalled when that befell any of the proofs, or some were left out for it.
  Termination termination = Termination::kDone;
};

// Throws InputError when a raised figure is no longer finite.
Explanation explain(const Collective& collective, const ExplainOptions& options = {});

// Whether raising it is proven to raise the optimum, at the largest factor.
bool helps(const Upgrade& upgrade, const Explanation& explanation);

// What a change brings, relative: at least `least` and at most `most` for sure, for the optimum
// before and after are each known within a gap; about `likely`, from what is reached.
struct Gain {
  double least;
  double likely;
  double most;
};
Gain gain_of(const WhatIf& what_if, const Explanation& explanation);

}  // namespace espalier::planner
