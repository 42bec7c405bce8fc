#include "runtime/measure/clusters.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace espalier::runtime::probe {
namespace {

constexpr double kFurthestInCluster = 0.3;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Arcs between two clusters.
struct Seen {
  double arcs = 0;
  double slow = 0;  // that were slower than their ends, alone or in a round, or far

  [[nodiscard]] double share() const { return slow / arcs; }
  // The share, as if half of one more arc had been slow: where few arcs have been measured, a
  // large sample of a few slow ones is more reliable than a single fast one.
  [[nodiscard]] double doubt() const { return (slow + 0.5) / (arcs + 1); }
  void add(const Seen& other) {
    arcs += other.arcs;
    slow += other.slow;
  }
};

Seen seen_between(const ArcRates& rates, std::size_t a, std::size_t b) {
  Seen seen;
  for (const Flow arc : {Flow{a, b}, Flow{b, a}}) {
    const auto is_slow = [&](const std::optional<double>& rate) {
      return rate && !rates.reaches_rate_of_ends(arc, *rate);
    };
    const bool slow =
        is_slow(rates.alone_bps(arc)) || is_slow(rates.in_round_bps(arc)) || rates.is_far(arc);
    // An arc that was fast alone may be slow beside others.
    if (!slow && !rates.in_round_bps(arc)) continue;
    seen.arcs += 1;
    if (slow) seen.slow += 1;
  }
  return seen;
}

}  // namespace

std::vector<std::size_t> clusters_of(const ArcRates& rates) {
  const std::size_t ranks = rates.ranks();
  std::vector<std::size_t> cluster(ranks);
  std::iota(cluster.begin(), cluster.end(), std::size_t{0});
  std::vector<std::size_t> left = cluster;  // the lowest rank of each cluster
  std::vector<std::vector<Seen>> between(ranks, std::vector<Seen>(ranks));
  for (std::size_t a = 0; a < ranks; ++a) {
    for (std::size_t b = 0; b < a; ++b) between[a][b] = between[b][a] = seen_between(rates, a, b);
  }
  while (true) {
    double least = 1;
    std::pair<std::size_t, std::size_t> best{kNone, kNone};
    for (const std::size_t a : left) {
      for (const std::size_t b : left) {
        if (b >= a) break;
        const Seen& seen = between[a][b];
        if (seen.arcs == 0 || seen.share() >= kFurthestInCluster || seen.doubt() >= least) continue;
        least = seen.doubt();
        best = {b, a};
      }
    }
    const auto [kept, gone] = best;
    if (kept == kNone) break;
    for (const std::size_t other : left) {
      between[kept][other].add(between[gone][other]);
      between[other][kept] = between[kept][other];
    }
    std::erase(left, gone);
    std::replace(cluster.begin(), cluster.end(), gone, kept);
  }
  std::map<std::size_t, std::size_t> number;
  for (std::size_t& one : cluster) one = number.emplace(one, number.size()).first->second;
  return cluster;
}

Clusters::Clusters(const ArcRates& rates) : of_rank(clusters_of(rates)) {
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    if (of_rank[rank] >= members.size()) members.resize(of_rank[rank] + 1);
    members[of_rank[rank]].push_back(rank);
  }
}

ArcRates rates_by_clusters(const Measurements& measurements) {
  ArcRates rates(measurements);
  rates.adopt_class_rates(clusters_of(rates));
  return rates;
}

std::vector<Turn> doubtful_in_turns(const ArcRates& rates) {
  const Clusters clusters(rates);
  std::map<ArcClass, std::size_t> turns_had;
  for (std::size_t from = 0; from < rates.ranks(); ++from) {
    for (std::size_t to = 0; to < rates.ranks(); ++to) {
      if (rates.alone_bps({from, to})) ++turns_had[clusters.class_of({from, to})];
    }
  }
  std::vector<Turn> turns;
  for (const Flow& arc : rates.doubtful()) {
    turns.push_back({arc, turns_had[clusters.class_of(arc)]++});
  }
  std::ranges::stable_sort(turns, {}, &Turn::number);
  return turns;
}

}  // namespace espalier::runtime::probe
