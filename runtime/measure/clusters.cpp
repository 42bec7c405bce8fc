#include "runtime/measure/clusters.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace espalier::runtime::probe {
namespace {

constexpr double kFurthestInCluster = 0.3;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The share of the arcs between two ranks that were slower than their ends, alone or in a round.
double distance(const ArcRates& rates, std::size_t a, std::size_t b) {
  double slow = 0;
  double seen = 0;
  for (const Flow arc : {Flow{a, b}, Flow{b, a}}) {
    const auto is_slow = [&](const std::optional<double>& rate) {
      return rate && !rates.reaches_rate_of_ends(arc, *rate);
    };
    if (rates.rate_bps(arc) <= 0) continue;
    seen += 1;
    if (is_slow(rates.alone_bps(arc)) || is_slow(rates.in_round_bps(arc))) slow += 1;
  }
  return seen > 0 ? slow / seen : 0;
}

}  // namespace

std::vector<std::size_t> clusters_of(const ArcRates& rates) {
  const std::size_t ranks = rates.ranks();
  std::vector<std::size_t> cluster(ranks);
  std::iota(cluster.begin(), cluster.end(), std::size_t{0});
  std::vector<double> size(ranks, 1);
  std::vector<std::vector<double>> between(ranks, std::vector<double>(ranks));
  for (std::size_t a = 0; a < ranks; ++a) {
    for (std::size_t b = 0; b < ranks; ++b) {
      if (a != b) between[a][b] = distance(rates, a, b);
    }
  }
  while (true) {
    double nearest = kFurthestInCluster;
    std::pair<std::size_t, std::size_t> best{kNone, kNone};
    for (std::size_t a = 0; a < ranks; ++a) {
      for (std::size_t b = a + 1; b < ranks; ++b) {
        if (size[a] == 0 || size[b] == 0 || between[a][b] >= nearest) continue;
        nearest = between[a][b];
        best = {a, b};
      }
    }
    const auto [kept, gone] = best;
    if (kept == kNone) break;
    for (std::size_t other = 0; other < ranks; ++other) {
      between[kept][other] = between[other][kept] =
          (size[kept] * between[kept][other] + size[gone] * between[gone][other]) /
          (size[kept] + size[gone]);
    }
    size[kept] += size[gone];
    size[gone] = 0;
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
