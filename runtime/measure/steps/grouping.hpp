// Which pairs of many ranks to measure so that their clusters become known: some n log n of the
// n^2 / 2 pairs.
//
// Each pair is measured twice: while all other ranks send to one another, and without them. Ranks
// of one cluster notice no difference. A pair tells of its two clusters, as far as they are known
// by then: of one cluster, they become one; of two, no other pair of them needs to be measured. So
// this sorts ranks into equivalence classes by tests of pairs, of which each rank has one at a time
// (Devanny, Goodrich, Jetviroj, "Parallel Equivalence Class Sorting", SPAA 2016,
// doi:10.1145/2935764.2935778). Ranks are usually numbered by host and rack, in blocks or
// cyclically, so pairs are tried at the distances at which others were of one cluster.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/clusters.hpp"
#include "runtime/measure/measurements.hpp"
#include "runtime/measure/steps/step.hpp"

namespace espalier::runtime::probe {

struct GroupingRound {
  std::vector<Flow> pairs;  // disjoint
  std::vector<Flow> load;   // each of the other ranks sends to one and receives from one
  // Both, for the measurement under load.
  [[nodiscard]] std::vector<Flow> together() const;
};

// The rounds after which no more are proposed.
std::size_t most_grouping_rounds(std::size_t ranks);
// About the number of rounds if all ranks are of one cluster.
std::size_t least_grouping_rounds();

// The next round, or the last one if its measurement is incomplete; none if the clusters are known,
// or after the most rounds. Depends only on the rounds among the measurements, so that an
// interrupted probe continues with the same. For four ranks or more.
std::optional<GroupingRound> next_grouping_round(const Measurements& measurements);

// For each ordered pair of clusters that still lacks an arc as fast as its ends, one arc between
// fast ranks, beside those of other clusters; for as many pairs as a number of steps that grows
// like log n allows.
std::vector<Step> steps_between_clusters(const ArcRates& rates, const Clusters& clusters);

}  // namespace espalier::runtime::probe
