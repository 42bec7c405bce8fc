#include "runtime/measure/shared_links.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/measure/clusters.hpp"
#include "runtime/measure/steps/tournament.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kMostFlows = 32;    // per test
constexpr std::size_t kMostClasses = 24;  // up to which every pair is tested
constexpr std::size_t kMostAlone = 128;   // classes that are tested alone
constexpr std::size_t kNoMember = static_cast<std::size_t>(-1);

// Disjoint flows, taken from the classes in turn.
std::vector<Flow> disjoint_flows(const Clusters& clusters, const std::vector<ArcClass>& classes) {
  std::vector<bool> is_busy(clusters.of_rank.size());
  const auto idle_in = [&](std::size_t cluster) {
    const auto& members = clusters.members[cluster];
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](std::size_t rank) { return !is_busy[rank]; });
    return found == members.end() ? kNoMember : *found;
  };
  std::vector<Flow> flows;
  for (bool found = true; found && flows.size() < kMostFlows;) {
    found = false;
    for (const auto& [from, to] : classes) {
      const Flow flow{idle_in(from), idle_in(to)};
      if (flow.from == kNoMember || flow.to == kNoMember) continue;
      is_busy[flow.from] = is_busy[flow.to] = true;
      flows.push_back(flow);
      found = true;
    }
  }
  return flows;
}

// Classes with a disturbed arc between two clusters of several ranks each.
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
      // Where few arcs were measured, these may be of one direction.
      if (!rates.were_all_measured()) classes.insert({second, first});
    }
  }
  return {classes.begin(), classes.end()};
}

// All classes out of a cluster, or all into it.
std::vector<ArcClass> fan_of(const Clusters& clusters, std::size_t cluster, bool out) {
  std::vector<ArcClass> fan;
  for (std::size_t other = 0; other < clusters.count(); ++other) {
    if (other == cluster) continue;
    fan.push_back(out ? ArcClass{cluster, other} : ArcClass{other, cluster});
  }
  return fan;
}

// Each class alone, at the same time as others between other clusters.
void add_simultaneous_tests(const Clusters& clusters, const std::vector<ArcClass>& classes,
                            std::vector<Step>& tests) {
  for (const auto& round : ordered_pairs(clusters.count())) {
    Step step{Purpose::kSharedLinks, {}};
    for (const auto& [from, to] : round) {
      if (!std::ranges::binary_search(classes, ArcClass(from, to))) continue;
      step.experiments.push_back(disjoint_flows(clusters, {{from, to}}));
    }
    if (!step.experiments.empty()) tests.push_back(std::move(step));
  }
}

// Classes that share a link.
struct ClassSharedLink {
  std::vector<ArcClass> classes;
  double bandwidth_Bps = 0;
};

// The results of the tests for each class and each pair of classes or, if those are too many, for
// fans.
class Evidence {
 public:
  Evidence(const Measurements& measurements, const ArcRates& rates, const Clusters& clusters)
      : rates_(&rates),
        clusters_(&clusters),
        by_fans_(suspected_classes(rates, clusters).size() > kMostClasses) {
    // Tests of one class come first, because the others are compared with them.
    for (const bool alone : {true, false}) {
      for (const Experiment& experiment : measurements.experiments) {
        if (experiment.purpose != Purpose::kSharedLinks) continue;
        std::map<ArcClass, std::vector<Flow>> by_class;
        for (const Flow& flow : experiment.flows) by_class[clusters.class_of(flow)].push_back(flow);
        const bool leaves_clusters = std::ranges::none_of(
            by_class, [](const auto& entry) { return entry.first.first == entry.first.second; });
        if ((by_class.size() == 1) != alone || !leaves_clusters) continue;
        if (by_fans_ && !alone) {
          weigh_fan(experiment, by_class);
        } else if (by_class.size() <= 2) {
          weigh(experiment, by_class);
        }
      }
    }
  }

  [[nodiscard]] std::vector<ClassSharedLink> shared_links() const {
    std::vector<ClassSharedLink> shared_links = fans_;
    if (!by_fans_) {
      for (std::vector<ArcClass>& clique : cliques()) {
        const double bandwidth_Bps = bandwidth_bps(clique);
        shared_links.push_back({std::move(clique), bandwidth_Bps});
      }
      return shared_links;
    }
    // A class that a fan's link limits to the rate that it had alone has no link of its own.
    for (const auto& entry : together_) {
      const ArcClass& own = entry.first.first;  // clang captures no structured bindings
      const double rate_Bps = entry.second;
      const bool is_of_a_fan = std::ranges::any_of(fans_, [&](const ClassSharedLink& fan) {
        return contains(fan.classes, own) &&
               fan.bandwidth_Bps <= (1 + rates_->tolerance()) * rate_Bps;
      });
      if (!is_of_a_fan) shared_links.push_back({{own}, rate_Bps});
    }
    return shared_links;
  }

 private:
  [[nodiscard]] bool share(const ArcClass& a, const ArcClass& b) const {
    return together_.contains(std::minmax(a, b));
  }
  // Links as sets of classes; each pair of classes that share a link is in one set.
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
  // The highest rate of a test that showed two of these classes to share a link.
  [[nodiscard]] double bandwidth_bps(const std::vector<ArcClass>& clique) const {
    double most = 0;
    for (const auto& [pair, rate] : together_) {
      if (contains(clique, pair.first) && contains(clique, pair.second))
        most = std::max(most, rate);
    }
    return most;
  }
  static bool contains(const std::vector<ArcClass>& clique, const ArcClass& one) {
    return std::find(clique.begin(), clique.end(), one) != clique.end();
  }
  [[nodiscard]] std::set<ArcClass> classes() const {
    std::set<ArcClass> all;
    for (const auto& [pair, rate] : together_) all.insert({pair.first, pair.second});
    return all;
  }
  // The highest total rate of a class's flows, from measurements of this class alone.
  [[nodiscard]] double expected_bps(const ArcClass& arc_class,
                                    const std::vector<Flow>& flows) const {
    double sum = 0;
    for (const Flow& flow : flows) sum += rates_->rate_bps(flow);
    const auto own = together_.find({arc_class, arc_class});
    return own == together_.end() ? sum : std::min(sum, own->second);
  }
  void weigh(const Experiment& experiment, const std::map<ArcClass, std::vector<Flow>>& by_class) {
    const double carried = experiment.total_bps();
    double expected = 0;
    for (const auto& [arc_class, flows] : by_class) expected += expected_bps(arc_class, flows);
    if (carried >= (1 - rates_->tolerance()) * expected) return;
    const auto pair = std::minmax(by_class.begin()->first, by_class.rbegin()->first);
    double& rate = together_[{pair.first, pair.second}];
    rate = std::max(rate, carried);
  }

  // The classes that are slower in a fan than alone share a link. If all tested classes are slower,
  // the link is that of the whole fan.
  void weigh_fan(const Experiment& experiment,
                 const std::map<ArcClass, std::vector<Flow>>& by_class) {
    const ArcClass one = by_class.begin()->first;
    const auto all = [&](auto is_like_it) {
      return std::ranges::all_of(by_class,
                                 [&](const auto& entry) { return is_like_it(entry.first); });
    };
    const bool out = all([&](const ArcClass& other) { return other.first == one.first; });
    const bool in = all([&](const ArcClass& other) { return other.second == one.second; });
    if (!out && !in) return;  // a pair of classes, from a probe with fewer suspected classes
    std::map<ArcClass, double> carried;
    for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
      carried[clusters_->class_of(experiment.flows[flow])] += experiment.rate_bps(flow);
    }
    ClassSharedLink shared_link;
    for (const auto& [arc_class, flows] : by_class) {
      if (carried[arc_class] >= (1 - rates_->tolerance()) * expected_bps(arc_class, flows))
        continue;
      shared_link.classes.push_back(arc_class);
      shared_link.bandwidth_Bps += carried[arc_class];
    }
    if (shared_link.classes.size() < 2) return;
    if (shared_link.classes.size() == by_class.size()) {
      shared_link.classes = fan_of(*clusters_, out ? one.first : one.second, out);
    }
    fans_.push_back(std::move(shared_link));
  }

  const ArcRates* rates_;
  const Clusters* clusters_;
  bool by_fans_;
  std::map<std::pair<ArcClass, ArcClass>, double>
      together_;  // total rate of pairs that share; includes (class, itself)
  std::vector<ClassSharedLink> fans_;
};

}  // namespace

std::vector<Step> shared_link_tests(const ArcRates& rates) {
  const Clusters clusters(rates);
  const std::vector<ArcClass> classes = suspected_classes(rates, clusters);
  std::vector<Step> tests;
  const auto add = [&](const std::vector<ArcClass>& together, std::size_t least) {
    std::vector<Flow> flows = disjoint_flows(clusters, together);
    if (flows.size() >= least) tests.push_back({Purpose::kSharedLinks, {std::move(flows)}});
  };
  const bool by_pairs = classes.size() <= kMostClasses;
  if (!by_pairs && !rates.were_all_measured()) {
    add_simultaneous_tests(clusters, classes, tests);
  } else {
    const std::size_t alone = std::min(classes.size(), kMostAlone);
    for (std::size_t i = 0; i < alone; ++i) add({classes[i * classes.size() / alone]}, 1);
  }
  if (by_pairs) {
    for (std::size_t second = 0; second < classes.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first)
        add({classes[first], classes[second]}, 2);
    }
    return tests;
  }
  for (const bool out : {true, false}) {
    for (std::size_t cluster = 0; cluster < clusters.count(); ++cluster) {
      const bool is_suspected = std::ranges::any_of(
          classes, [&](const ArcClass& one) { return (out ? one.first : one.second) == cluster; });
      if (is_suspected) add(fan_of(clusters, cluster, out), 2);
    }
  }
  return tests;
}

std::vector<SharedLink> shared_links(const Measurements& measurements, const ArcRates& rates) {
  const Clusters clusters(rates);
  const Evidence evidence(measurements, rates, clusters);
  std::vector<SharedLink> shared_links;
  for (const ClassSharedLink& found : evidence.shared_links()) {
    SharedLink shared_link{{}, found.bandwidth_Bps};
    for (const auto& [from, to] : found.classes) {
      for (const std::size_t sender : clusters.members[from]) {
        for (const std::size_t receiver : clusters.members[to]) {
          if (rates.rate_bps({sender, receiver}) > 0)
            shared_link.arcs.push_back({sender, receiver});
        }
      }
    }
    if (shared_link.arcs.empty() || shared_link.bandwidth_Bps <= 0)
      continue;  // tested, but without measured arcs
    std::sort(shared_link.arcs.begin(), shared_link.arcs.end());
    shared_links.push_back(std::move(shared_link));
  }
  return shared_links;
}

double carried_together_bps(const std::vector<Flow>& flows, const ArcRates& rates,
                            const std::vector<SharedLink>& shared_links) {
  double sum = 0;
  std::vector<double> through(shared_links.size());
  for (const Flow& flow : flows) {
    const auto shared_link =
        std::find_if(shared_links.begin(), shared_links.end(), [&](const SharedLink& one) {
          return std::binary_search(one.arcs.begin(), one.arcs.end(), flow);
        });
    if (shared_link == shared_links.end()) {
      sum += rates.rate_bps(flow);
    } else {
      through[static_cast<std::size_t>(shared_link - shared_links.begin())] += rates.rate_bps(flow);
    }
  }
  for (std::size_t i = 0; i < shared_links.size(); ++i)
    sum += std::min(through[i], shared_links[i].bandwidth_Bps);
  return sum;
}

}  // namespace espalier::runtime::probe
