#include "runtime/measure/steps/grouping.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "runtime/measure/arc_rates.hpp"
#include "runtime/measure/clusters.hpp"
#include "runtime/measure/steps/tournament.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kRoundsPerDoubling = 8;
constexpr std::size_t kStepsPerDoubling = 4;  // between clusters
// Each rank is measured with so many of its cluster, if it has as many. With fewer, a rank that
// was joined to a cluster by mistake would remain in it.
constexpr std::size_t kPartners = 3;
constexpr std::size_t kStratum = 4;

std::size_t doublings(std::size_t ranks) {
  return static_cast<std::size_t>(std::bit_width(ranks - 1));
}

// The flows of an experiment under load that are measured: the first ones, with ends of their own.
std::vector<Flow> pairs_of(const Experiment& experiment) {
  const std::vector<bool> own_ends = have_own_ends(experiment.flows);
  std::vector<Flow> pairs;
  for (std::size_t i = 0; i < own_ends.size(); ++i) {
    if (own_ends[i]) pairs.push_back(experiment.flows[i]);
  }
  return pairs;
}

// The rounds measured so far, without the rest of the measurements.
struct Rounds {
  explicit Rounds(const Measurements& all) : measured{all.hosts, {}, {}} {
    std::set<Flow> seen;
    for (const Experiment& experiment : all.experiments) {
      if (experiment.purpose != Purpose::kRound) continue;
      const std::vector<Flow> pairs = pairs_of(experiment);
      if (!pairs.empty() && pairs.size() < experiment.flows.size()) {
        ++count;
        measured.experiments.push_back(experiment);
        seen.insert(pairs.begin(), pairs.end());
        incomplete = {pairs, {}};
        incomplete->load.assign(
            experiment.flows.begin() + static_cast<std::ptrdiff_t>(pairs.size()),
            experiment.flows.end());
      } else if (incomplete && incomplete->pairs == experiment.flows) {
        measured.experiments.push_back(experiment);
        incomplete.reset();
      }
    }
    std::ranges::copy_if(all.timings, std::back_inserter(measured.timings),
                         [&](const Timing& timing) { return seen.contains(timing.flow); });
  }
  Measurements measured;
  std::size_t count = 0;
  std::optional<GroupingRound> incomplete{};
};

class Choice {
 public:
  explicit Choice(const Rounds& rounds)
      : rates_(rounds.measured),
        clusters_(rates_),
        place_of_(ranks()),
        partners_(ranks()),
        is_busy_(ranks()),
        wanted_((ranks() + 1) / 4),
        random_(rounds.count) {
    // Ranks on one host are adjacent.
    std::map<std::string, std::size_t> first;
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      const auto host = first.emplace(rounds.measured.hosts[rank], rank).first;
      places.emplace_back(host->second, rank);
    }
    std::ranges::sort(places);
    for (const auto& [host, rank] : places) order_.push_back(rank);
    for (std::size_t place = 0; place < ranks(); ++place) place_of_[order_[place]] = place;
    count_measured();
  }

  // Empty if none is needed.
  std::vector<Flow> pairs() {
    leave_to_load();
    choose_all();
    if (!chosen_.empty()) return chosen_;
    is_busy_.assign(ranks(), false);
    choose_all();
    return chosen_;
  }

  // The ranks without a pair, in a circle of random order.
  std::vector<Flow> load() {
    std::vector<std::size_t> others;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      const auto has_end = [&](const Flow& pair) { return pair.from == rank || pair.to == rank; };
      if (std::ranges::none_of(chosen_, has_end)) others.push_back(rank);
    }
    shuffle(others);
    return circle_of(others);
  }

 private:
  struct Distance {
    std::size_t tried = 0;
    std::size_t near = 0;  // pairs of one cluster
    std::size_t next = 0;  // place
    // The share of near pairs to be expected of the next ones.
    [[nodiscard]] double chance() const {
      return static_cast<double>(near + 1) / static_cast<double>(tried + 2);
    }
  };

  [[nodiscard]] std::size_t ranks() const { return rates_.ranks(); }
  [[nodiscard]] std::size_t cluster(std::size_t rank) const { return clusters_.of_rank[rank]; }
  [[nodiscard]] bool was_measured(std::size_t a, std::size_t b) const {
    return rates_.was_measured({a, b}) || rates_.was_measured({b, a});
  }

  void count_measured() {
    distances_.resize(ranks());
    for (std::size_t a = 0; a < ranks(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (!was_measured(a, b)) continue;
        const auto [low, high] = std::minmax(place_of_[a], place_of_[b]);
        Distance& distance = distances_[high - low];
        ++distance.tried;
        decide(a, b);
        if (cluster(a) != cluster(b)) continue;
        ++distance.near;
        ++partners_[a];
        ++partners_[b];
      }
    }
  }

  void decide(std::size_t a, std::size_t b) {
    decided_.insert(std::minmax(cluster(a), cluster(b)));
    met_.insert({a, cluster(b)});
    met_.insert({b, cluster(a)});
  }
  [[nodiscard]] bool are_undecided(std::size_t a, std::size_t b) const {
    if (cluster(a) == cluster(b)) return false;
    return !decided_.contains(std::minmax(cluster(a), cluster(b))) || may_belong(a, b) ||
           may_belong(b, a);
  }
  // Ranks of a small cluster may have been joined by mistake, before they met others of their own.
  [[nodiscard]] bool may_belong(std::size_t rank, std::size_t other) const {
    return size_of_its_cluster(rank) <= kPartners && size_of_its_cluster(other) > kPartners &&
           !met_.contains({rank, cluster(other)});
  }
  [[nodiscard]] std::size_t size_of_its_cluster(std::size_t rank) const {
    return clusters_.members[cluster(rank)].size();
  }
  [[nodiscard]] bool lack_partners(std::size_t a, std::size_t b) const {
    if (cluster(a) != cluster(b) || was_measured(a, b)) return false;
    const std::size_t enough = std::min(kPartners, size_of_its_cluster(a) - 1);
    return std::min(partners_[a], partners_[b]) < enough;
  }

  void shuffle(std::span<std::size_t> ranks) {  // std::shuffle depends on the library
    for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random_() % i]);
  }

  // Half of the ranks, of all parts of the network, can have no pair, so that they load it; rather
  // those that have partners.
  void leave_to_load() {
    for (std::size_t first = 0; first < ranks(); first += kStratum) {
      std::vector<std::size_t> some(
          order_.begin() + static_cast<std::ptrdiff_t>(first),
          order_.begin() + static_cast<std::ptrdiff_t>(std::min(first + kStratum, ranks())));
      shuffle(some);
      std::ranges::stable_sort(some, std::greater<>(), [this](std::size_t rank) {
        return std::min(partners_[rank], kPartners);
      });
      for (std::size_t i = 0; i < some.size() / 2; ++i) is_busy_[some[i]] = true;
    }
  }

  void choose_all() {
    choose([this](std::size_t a, std::size_t b) { return are_undecided(a, b); },
           [](const Distance& distance) { return distance.chance(); });
    // At all distances, since clusters joined by mistake differ at some.
    choose([this](std::size_t a, std::size_t b) { return lack_partners(a, b); },
           [this](const Distance&) { return static_cast<double>(random_() % ranks()); });
  }

  // Adds pairs of ranks that fit, at distances of the highest value.
  void choose(const auto& fits, const auto& value_of) {
    using Entry = std::tuple<double, std::size_t>;  // minus the value, distance: the least first
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    for (std::size_t apart = 1; apart < ranks(); ++apart) {
      distances_[apart].next = 0;
      queue.emplace(-value_of(distances_[apart]), apart);
    }
    while (!queue.empty() && chosen_.size() < wanted_) {
      const std::size_t apart = std::get<std::size_t>(queue.top());
      queue.pop();
      Distance& distance = distances_[apart];
      for (; distance.next + apart < ranks(); ++distance.next) {
        const std::size_t low = order_[distance.next];
        const std::size_t high = order_[distance.next + apart];
        if (is_busy_[low] || is_busy_[high] || !fits(low, high)) continue;
        add(low, high);
        ++distance.tried;
        queue.emplace(-value_of(distance), apart);
        break;
      }
    }
  }

  // Each rank sends and receives, if it has several pairs.
  void add(std::size_t low, std::size_t high) {
    const auto unknown = [this](std::size_t from, std::size_t to) {
      return (rates_.sends_bps(from) > 0 ? 0 : 1) + (rates_.receives_bps(to) > 0 ? 0 : 1);
    };
    const int preferred = unknown(low, high) - unknown(high, low);
    const bool up = preferred == 0 ? random_() % 2 == 0 : preferred > 0;
    chosen_.push_back(up ? Flow{low, high} : Flow{high, low});
    is_busy_[low] = is_busy_[high] = true;
    decide(low, high);
  }

  ArcRates rates_;
  Clusters clusters_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> place_of_;  // in the order
  std::vector<std::size_t> partners_;  // of each rank, in its cluster
  std::vector<bool> is_busy_;
  std::size_t wanted_;
  std::vector<Distance> distances_{};
  std::set<std::pair<std::size_t, std::size_t>> decided_{};  // pairs of clusters
  std::set<std::pair<std::size_t, std::size_t>> met_{};      // ranks, and clusters
  std::vector<Flow> chosen_{};
  std::mt19937_64 random_;
};

}  // namespace

std::vector<Flow> GroupingRound::together() const {
  std::vector<Flow> flows = pairs;
  flows.insert(flows.end(), load.begin(), load.end());
  return flows;
}

std::size_t most_grouping_rounds(std::size_t ranks) {
  return kRoundsPerDoubling * doublings(ranks);
}

std::size_t least_grouping_rounds() {
  return 2 * kPartners + 1;
}

std::optional<GroupingRound> next_grouping_round(const Measurements& measurements) {
  const Rounds rounds(measurements);
  if (rounds.incomplete) return rounds.incomplete;
  if (rounds.count >= most_grouping_rounds(measurements.hosts.size())) return std::nullopt;
  Choice choice(rounds);
  GroupingRound round{choice.pairs(), {}};
  if (round.pairs.empty()) return std::nullopt;
  round.load = choice.load();
  return round;
}

std::vector<Step> steps_between_clusters(const ArcRates& rates, const Clusters& clusters) {
  std::set<ArcClass> known;
  std::vector<std::size_t> sender;  // the fastest of each cluster
  std::vector<std::size_t> receiver;
  for (const auto& members : clusters.members) {
    sender.push_back(*std::ranges::max_element(
        members, {}, [&](std::size_t rank) { return rates.sends_bps(rank); }));
    receiver.push_back(*std::ranges::max_element(
        members, {}, [&](std::size_t rank) { return rates.receives_bps(rank); }));
  }
  for (std::size_t from = 0; from < rates.ranks(); ++from) {
    for (std::size_t to = 0; to < rates.ranks(); ++to) {
      const Flow arc{from, to};
      const bool reaches = from != to && rates.was_measured(arc) &&
                           rates.reaches_rate_of_ends(arc, rates.rate_bps(arc));
      const auto [first, second] = clusters.class_of(arc);
      // A slow rank shows too little of what is between.
      const double most =
          std::min(rates.sends_bps(sender[first]), rates.receives_bps(receiver[second]));
      if (reaches && rates.rate_bps(arc) >= (1 - rates.tolerance()) * most)
        known.insert({first, second});
    }
  }
  std::vector<Step> steps;
  for (const auto& round : ordered_pairs(clusters.count())) {
    Step step{Purpose::kAlone, {}};
    for (const auto& [from, to] : round) {
      if (!known.contains({from, to})) step.experiments.push_back({{sender[from], receiver[to]}});
    }
    if (!step.experiments.empty()) steps.push_back(std::move(step));
  }
  const std::size_t most = kStepsPerDoubling * doublings(rates.ranks());
  if (steps.size() <= most) return steps;
  std::vector<Step> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(steps[i * steps.size() / most]);
  return some;
}

}  // namespace espalier::runtime::probe
