#include "lp/single/exact_tree.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "lp/single/tree_decision.hpp"

namespace espalier::lp {

namespace {

class Search {
 public:
  Search(const HostArcs& arcs, std::uint32_t root, const ExactTreeOptions& options)
      : arcs_(arcs), root_(root), options_(options), bound_(options.bound) {}

  ExactTree run(const RoutedTree& start);

 private:
  Verdict decide(double capacity, double most_work);
  void report(std::size_t branches);
  void close_in();
  void prove();
  void take(const std::vector<std::uint32_t>& tree_arcs);
  [[nodiscard]] double least_into_some_host() const;
  [[nodiscard]] RoutedTree routed() const;
  [[nodiscard]] bool proven() const { return best_load_ <= bound_ * (1 + options_.gap); }
  [[nodiscard]] bool out_of_limits() {
    if (work_ >= options_.work_limit) return true;
    complete_ = complete_ && !options_.deadline.passed();
    return !complete_;
  }

  const HostArcs& arcs_;
  std::uint32_t root_;
  const ExactTreeOptions& options_;
  std::optional<ForcedArcs> rules_;  // made by run(), because that may take long
  std::vector<std::uint32_t> best_;  // the tree's arcs
  double best_load_ = 0;
  double bound_;
  std::size_t branches_ = 0;
  double work_ = 0;
  ProgressReport progress_{options_};
  bool complete_ = true;
};

void Search::take(const std::vector<std::uint32_t>& tree_arcs) {
  std::vector<double> load(arcs_.resource_count(), 0.0);
  for (const std::uint32_t arc : tree_arcs) {
    for (const auto& [resource, seconds] : arcs_.uses(arc)) load[resource] += seconds;
  }
  const double busiest = *std::max_element(load.begin(), load.end());
  if (!best_.empty() && busiest >= best_load_) return;
  best_ = tree_arcs;
  best_load_ = busiest;
}

void Search::report(std::size_t branches) {
  progress_(branches, 1 / best_load_, 1 / bound_);
}

Verdict Search::decide(double capacity, double most_work) {
  TreeDecision decision(arcs_, root_, *rules_, capacity, options_.deadline);
  TreeDecision::Limits limits;
  limits.work = std::min(most_work, options_.work_limit - work_);
  limits.time_left = [&]() -> std::optional<Seconds> {
    report(branches_ + decision.branches());
    return options_.deadline.left();
  };
  const Verdict verdict = decision.run(limits);
  if (verdict == Verdict::kFound) take(decision.tree());
  if (verdict == Verdict::kNoTree) bound_ = std::max(bound_, capacity);
  if (verdict == Verdict::kTimeLimit) complete_ = false;
  branches_ += decision.branches();
  work_ += decision.work();
  return verdict;
}

// Narrows the interval with little work per step. Where a step is undecided, the next one is closer
// to the best tree, where more trees exist.
void Search::close_in() {
  constexpr double kWork = 3e6;   // for the first steps
  constexpr double kNear = 1.01;  // ratio of the ends from which the proof takes over
  double work = kWork;
  for (double low = bound_; !proven() && !out_of_limits(); low = std::max(low, bound_)) {
    if (best_load_ <= kNear * low) {
      if (low == bound_ || work >= options_.work_limit) return;
      low = bound_;
      work *= 8;
    }
    const double capacity = std::max(low * (1 + options_.gap), std::sqrt(low * best_load_));
    if (decide(capacity, work) == Verdict::kUnknown) low = capacity;
  }
}

void Search::prove() {
  while (!proven() && !out_of_limits()) {
    // If no tree is found below this, the best tree is proven to within the gap.
    const double capacity = best_load_ / (1 + options_.gap);
    if (decide(capacity, options_.work_limit) == Verdict::kUnknown) return;
  }
}

RoutedTree Search::routed() const {
  std::vector<std::vector<std::uint32_t>> out(arcs_.node_count());
  for (const std::uint32_t arc : best_) out[arcs_.tail(arc)].push_back(arc);
  RoutedTree tree;
  std::vector<std::uint32_t> order{root_};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t arc : out[order[i]]) {
      arcs_.add_edge(arc, tree);
      order.push_back(arcs_.head(arc));
    }
  }
  return tree;
}

// Whether every host but the root has an arc into it.
double Search::least_into_some_host() const {
  double bound = 0;
  for (const std::uint32_t node : rules_->hosts()) {
    if (node == root_) continue;
    double least = best_load_;
    for (const std::uint32_t arc : arcs_.into(node)) least = std::min(least, arcs_.weight(arc));
    bound = std::max(bound, least);
  }
  return bound;
}

ExactTree Search::run(const RoutedTree& start) {
  take(arcs_.arcs_of(start));
  try {
    rules_.emplace(arcs_, root_, options_.excluded, options_.deadline);
    bound_ = std::max(bound_, least_into_some_host());
    close_in();
    prove();
  } catch (const LimitReached&) {
    complete_ = false;
  }
  // With excluded arcs the decisions prove no bound.
  if (!options_.excluded.empty()) bound_ = options_.bound;
  return {routed(), best_load_, std::min(bound_, best_load_), proven(), branches_, complete_};
}

}  // namespace

ExactTree find_exact_tree(const HostArcs& arcs, std::uint32_t root, const RoutedTree& start,
                          const ExactTreeOptions& options) {
  return Search(arcs, root, options).run(start);
}

}  // namespace espalier::lp
