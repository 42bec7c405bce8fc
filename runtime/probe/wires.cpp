#include "runtime/probe/wires.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace espalier::runtime::probe {
namespace {

constexpr double kFurthestInCluster = 0.3;
constexpr std::size_t kMostFlows = 32;    // of a test
constexpr std::size_t kMostClasses = 24;  // of which each two are tested
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Of the arcs between two ranks, the share that was slower than its ends, alone or in a round.
double distance(const ArcRates& rates, std::size_t a, std::size_t b) {
  double slow = 0;
  double seen = 0;
  for (const Flow arc : {Flow{a, b}, Flow{b, a}}) {
    const auto is_slow = [&](const std::optional<double>& rate) {
      return rate && !rates.is_as_fast_as_its_ends(arc, *rate);
    };
    if (rates.rate_bps(arc) <= 0) continue;
    seen += 1;
    if (is_slow(rates.alone_bps(arc)) || is_slow(rates.in_round_bps(arc))) slow += 1;
  }
  return seen > 0 ? slow / seen : 0;
}

// Arcs from one cluster to another.
using ArcClass = std::pair<std::size_t, std::size_t>;

struct Clusters {
  std::vector<std::size_t> of_rank;
  std::vector<std::vector<std::size_t>> members;

  explicit Clusters(const ArcRates& rates) : of_rank(clusters_of(rates)) {
    for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
      if (of_rank[rank] >= members.size()) members.resize(of_rank[rank] + 1);
      members[of_rank[rank]].push_back(rank);
    }
  }
  [[nodiscard]] ArcClass class_of(const Flow& arc) const {
    return {of_rank[arc.from], of_rank[arc.to]};
  }
};

// Disjoint flows of the classes in turns.
std::vector<Flow> disjoint_flows(const Clusters& clusters, const std::vector<ArcClass>& classes) {
  std::vector<bool> is_busy(clusters.of_rank.size());
  const auto idle_in = [&](std::size_t cluster) {
    const auto& members = clusters.members[cluster];
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](std::size_t rank) { return !is_busy[rank]; });
    return found == members.end() ? kNone : *found;
  };
  std::vector<Flow> flows;
  for (bool found = true; found && flows.size() < kMostFlows;) {
    found = false;
    for (const auto& [from, to] : classes) {
      const Flow flow{idle_in(from), idle_in(to)};
      if (flow.from == kNone || flow.to == kNone) continue;
      is_busy[flow.from] = is_busy[flow.to] = true;
      flows.push_back(flow);
      found = true;
    }
  }
  return flows;
}

// Classes between clusters of several ranks with an arc that was disturbed.
std::vector<ArcClass> suspected_classes(const ArcRates& rates, const Clusters& clusters) {
  std::set<ArcClass> classes;
  for (std::size_t from = 0; from < rates.ranks(); ++from) {
    for (std::size_t to = 0; to < rates.ranks(); ++to) {
      const Flow arc{from, to};
      if (from == to || !rates.was_disturbed(arc)) continue;
      const auto [first, second] = clusters.class_of(arc);
      if (first == second) continue;
      if (clusters.members[first].size() < 2 || clusters.members[second].size() < 2) continue;
      classes.insert({first, second});
    }
  }
  std::vector<ArcClass> all(classes.begin(), classes.end());
  if (all.size() > kMostClasses) all.resize(kMostClasses);
  return all;
}

// What the tests say of each class and of each two of them.
class Evidence {
 public:
  Evidence(const Measurements& measurements, const ArcRates& rates, const Clusters& clusters)
      : rates_(&rates) {
    // Those of one class come first, for the others are judged by them.
    for (const std::size_t count : {1U, 2U}) {
      for (const Experiment& experiment : measurements.experiments) {
        if (experiment.purpose != Purpose::kWires) continue;
        std::map<ArcClass, std::vector<Flow>> by_class;
        for (const Flow& flow : experiment.flows) by_class[clusters.class_of(flow)].push_back(flow);
        const bool leaves_clusters = std::ranges::none_of(
            by_class, [](const auto& entry) { return entry.first.first == entry.first.second; });
        if (by_class.size() == count && leaves_clusters) weigh(experiment, by_class);
      }
    }
  }

  [[nodiscard]] bool share(const ArcClass& a, const ArcClass& b) const {
    return together_.contains(std::minmax(a, b));
  }
  // Wires as sets of classes: each pair that shares is in one.
  [[nodiscard]] std::vector<std::vector<ArcClass>> cliques() const {
    std::vector<std::vector<ArcClass>> cliques;
    for (const auto& entry : together_) {
      const auto& pair = entry.first;  // clang captures no structured bindings
      const bool is_covered = std::any_of(cliques.begin(), cliques.end(), [&](const auto& clique) {
        return contains(clique, pair.first) && contains(clique, pair.second);
      });
      if (is_covered) continue;
      std::vector<ArcClass> clique = {pair.first};
      if (pair.first != pair.second) clique.push_back(pair.second);
      for (const ArcClass& other : classes()) {
        const bool fits = std::all_of(clique.begin(), clique.end(), [&](const ArcClass& member) {
          return member != other && share(member, other);
        });
        if (fits) clique.push_back(other);
      }
      cliques.push_back(std::move(clique));
    }
    return cliques;
  }
  // The most that a test of these classes carried where it showed that they share.
  [[nodiscard]] double bandwidth_bps(const std::vector<ArcClass>& clique) const {
    double most = 0;
    for (const auto& [pair, rate] : together_) {
      if (contains(clique, pair.first) && contains(clique, pair.second))
        most = std::max(most, rate);
    }
    return most;
  }

 private:
  static bool contains(const std::vector<ArcClass>& clique, const ArcClass& one) {
    return std::find(clique.begin(), clique.end(), one) != clique.end();
  }
  [[nodiscard]] std::set<ArcClass> classes() const {
    std::set<ArcClass> all;
    for (const auto& [pair, rate] : together_) all.insert({pair.first, pair.second});
    return all;
  }
  void weigh(const Experiment& experiment, const std::map<ArcClass, std::vector<Flow>>& by_class) {
    double carried = 0;
    for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
      carried += experiment.rate_bps(flow);
    }
    double expected = 0;
    for (const auto& [arc_class, flows] : by_class) {
      double sum = 0;
      for (const Flow& flow : flows) sum += rates_->rate_bps(flow);
      const auto own = together_.find({arc_class, arc_class});
      expected += own == together_.end() ? sum : std::min(sum, own->second);
    }
    if (carried >= (1 - rates_->tolerance()) * expected) return;
    const auto pair = std::minmax(by_class.begin()->first, by_class.rbegin()->first);
    double& rate = together_[{pair.first, pair.second}];
    rate = std::max(rate, carried);
  }

  const ArcRates* rates_;
  std::map<std::pair<ArcClass, ArcClass>, double>
      together_;  // what they carry; a class with itself too
};

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

std::vector<std::vector<Flow>> wire_tests(const ArcRates& rates) {
  const Clusters clusters(rates);
  const std::vector<ArcClass> classes = suspected_classes(rates, clusters);
  std::vector<std::vector<Flow>> tests;
  tests.reserve(classes.size());
  for (const ArcClass& one : classes) tests.push_back(disjoint_flows(clusters, {one}));
  for (std::size_t second = 0; second < classes.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      std::vector<Flow> flows = disjoint_flows(clusters, {classes[first], classes[second]});
      if (flows.size() >= 2) tests.push_back(std::move(flows));
    }
  }
  return tests;
}

std::vector<Wire> shared_wires(const Measurements& measurements, const ArcRates& rates) {
  const Clusters clusters(rates);
  const Evidence evidence(measurements, rates, clusters);
  std::vector<Wire> wires;
  for (const auto& clique : evidence.cliques()) {
    Wire wire{{}, evidence.bandwidth_bps(clique)};
    for (const auto& [from, to] : clique) {
      for (const std::size_t sender : clusters.members[from]) {
        for (const std::size_t receiver : clusters.members[to]) {
          if (rates.rate_bps({sender, receiver}) > 0) wire.arcs.push_back({sender, receiver});
        }
      }
    }
    if (wire.arcs.empty() || wire.bandwidth_Bps <= 0) continue;  // tested, but never measured
    std::sort(wire.arcs.begin(), wire.arcs.end());
    wires.push_back(std::move(wire));
  }
  return wires;
}

double carried_together_bps(const std::vector<Flow>& flows, const ArcRates& rates,
                            const std::vector<Wire>& wires) {
  double sum = 0;
  std::vector<double> through(wires.size());
  for (const Flow& flow : flows) {
    const auto wire = std::find_if(wires.begin(), wires.end(), [&](const Wire& one) {
      return std::binary_search(one.arcs.begin(), one.arcs.end(), flow);
    });
    if (wire == wires.end()) {
      sum += rates.rate_bps(flow);
    } else {
      through[static_cast<std::size_t>(wire - wires.begin())] += rates.rate_bps(flow);
    }
  }
  for (std::size_t i = 0; i < wires.size(); ++i)
    sum += std::min(through[i], wires[i].bandwidth_Bps);
  return sum;
}

}  // namespace espalier::runtime::probe
