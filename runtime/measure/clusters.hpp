// Clusters of ranks: the arcs within a cluster are as fast as their ends, alone and in rounds, and
// not far (average linkage; the distance is the share of measured arcs that are otherwise).
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/measurements.hpp"

namespace espalier::runtime::probe {

// The number of each rank's cluster; clusters are numbered by their lowest rank.
std::vector<std::size_t> clusters_of(const ArcRates& rates);

// The numbers of the clusters that an arc leads from and to.
using ArcClass = std::pair<std::size_t, std::size_t>;

struct Clusters {
  explicit Clusters(const ArcRates& rates);

  [[nodiscard]] std::size_t count() const { return members.size(); }
  [[nodiscard]] ArcClass class_of(const Flow& arc) const {
    return {of_rank[arc.from], of_rank[arc.to]};
  }
  std::vector<std::size_t> of_rank;
  std::vector<std::vector<std::size_t>> members;  // of each cluster, ascending
};

// The rates of all arcs; doubtful ones get the rate of other arcs between the same clusters
// (ArcRates::adopt_class_rates).
ArcRates rates_by_clusters(const Measurements& measurements);

struct Turn {
  Flow arc;
  std::size_t number;  // how many arcs between the same clusters precede it or were measured alone
};

// The doubtful arcs, in turns over all pairs of clusters.
std::vector<Turn> doubtful_in_turns(const ArcRates& rates);

}  // namespace espalier::runtime::probe
