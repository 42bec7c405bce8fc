#include "lp/single/single_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "lp/graph/rooted_tree.hpp"
#include "lp/random_numbers.hpp"

namespace espalier::lp {

namespace {

// A tree and its loads.
class LoadedTree : public RootedTree {
 public:
  LoadedTree(const HostArcs& arcs, std::uint32_t root, const RoutedTree& tree)
      : RootedTree(arcs, root) {
    for (const std::uint32_t arc : arcs.arcs_of(tree)) attach(arc);
    recompute_loads();
  }

  // Gives the arc's head another parent. Returns the increase of the excess.
  double rehang(std::uint32_t arc) {
    double growth = 0;
    for (const auto& [resource, seconds] : arcs().uses(parent_arc(arcs().head(arc)))) {
      growth -= above(load_[resource]);
      load_[resource] -= seconds;
      growth += above(load_[resource]);
    }
    for (const auto& [resource, seconds] : arcs().uses(arc)) {
      growth -= above(load_[resource]);
      load_[resource] += seconds;
      growth += above(load_[resource]);
    }
    move(arc);
    return growth;
  }
  // Recomputed from the arcs, so that rounding errors do not accumulate.
  void recompute_loads() {
    load_.assign(arcs().resource_count(), 0.0);
    for (std::uint32_t node = 0; node < arcs().node_count(); ++node) {
      if (parent_arc(node) == kNone) continue;
      for (const auto& [resource, seconds] : arcs().uses(parent_arc(node))) {
        load_[resource] += seconds;
      }
    }
  }
  // Returns the excess over the new target.
  double set_target(double target) {
    target_ = target;
    double excess = 0;
    for (const double load : load_) excess += above(load);
    return excess;
  }
  [[nodiscard]] double busiest_load() const {
    return *std::max_element(load_.begin(), load_.end());
  }

 private:
  [[nodiscard]] double above(double load) const { return load > target_ ? load - target_ : 0; }

  std::vector<double> load_;
  double target_ = 0;
};

class Walk {
 public:
  Walk(const HostArcs& arcs, std::uint32_t root, LoadedTree start, const SingleTreeOptions& options)
      : arcs_(arcs),
        options_(options),
        random_(options.seed),
        tree_(start),
        best_(std::move(start)),
        best_load_(best_.busiest_load()),
        watch_(options.deadline) {
    for (std::uint32_t node = 0; node < arcs.node_count(); ++node) {
      if (node != root && !arcs.into(node).empty()) hosts_.push_back(node);
    }
  }

  SingleTree run();

 private:
  void anneal(double target, std::uint64_t steps);
  void take();
  bool propose();
  bool attach(std::uint32_t arc);
  bool insert(std::uint32_t arc);
  void change(std::uint32_t arc) {
    old_arcs_.push_back(tree_.parent_arc(arcs_.head(arc)));
    growth_ += tree_.rehang(arc);
  }
  void take_back() {
    for (; !old_arcs_.empty(); old_arcs_.pop_back()) tree_.rehang(old_arcs_.back());
  }
  // work: moves since the last call.
  [[nodiscard]] bool finished(std::uint64_t work) {
    if (moves_ >= options_.effort || best_load_ <= options_.bound * (1 + kGain)) return true;
    // A move costs some hundred nanoseconds, or more: paths are followed upwards.
    complete_ = complete_ && !watch_.passed(64 * work);
    return !complete_;
  }

  static constexpr double kGain = 1e-6;  // smaller relative gains are not searched for

  const HostArcs& arcs_;
  const SingleTreeOptions& options_;
  RandomNumbers random_;
  std::vector<std::uint32_t> hosts_;  // all but the root
  LoadedTree tree_;
  LoadedTree best_;
  double best_load_;
  std::uint64_t moves_ = 0;
  DeadlineWatch watch_;
  bool complete_ = true;

  // Of the current move.
  std::vector<std::uint32_t> old_arcs_;
  double growth_ = 0;
};

// Makes the arc's tail the parent of its head. Where the tail is below the head, some host between
// them first gets a parent elsewhere.
bool Walk::attach(std::uint32_t arc) {
  const std::uint32_t node = arcs_.head(arc);
  if (tree_.is_below(arcs_.tail(arc), node)) {
    constexpr std::size_t kMostChoices = 64;
    std::array<std::uint32_t, kMostChoices> between;
    std::size_t length = 0;
    for (std::uint32_t at = arcs_.tail(arc); at != node && length < kMostChoices;
         at = tree_.parent(at)) {
      between[length++] = at;
    }
    const std::uint32_t elsewhere = random_.pick(arcs_.into(between[random_.below(length)]));
    if (tree_.is_below(arcs_.tail(elsewhere), node)) return false;
    change(elsewhere);
  }
  change(arc);
  return true;
}

// Moves the arc's head between its tail and one of the tail's children. The head's children usually
// go to its old parent.
bool Walk::insert(std::uint32_t arc) {
  constexpr double kLeaveChildrenBehind = 0.7;
  const std::uint32_t node = arcs_.head(arc);
  const std::uint32_t above = arcs_.tail(arc);
  if (tree_.is_below(above, node)) return false;
  std::uint32_t down = kNone;
  std::size_t choices = 0;
  for (std::uint32_t child = tree_.first_child(above); child != kNone;
       child = tree_.next_sibling(child)) {
    if (child == node) continue;
    const std::uint32_t to_child = arcs_.find(node, child);
    if (to_child != kNone && random_.below(++choices) == 0) down = to_child;
  }
  if (down == kNone) return false;
  if (random_.share() < kLeaveChildrenBehind) {
    for (std::uint32_t child = tree_.first_child(node); child != kNone;) {
      const std::uint32_t next = tree_.next_sibling(child);
      const std::uint32_t bridge = arcs_.find(tree_.parent(node), child);
      if (bridge != kNone) change(bridge);
      child = next;
    }
  }
  change(arc);
  change(down);
  return true;
}

bool Walk::propose() {
  const std::uint32_t arc = random_.pick(arcs_.into(random_.pick(hosts_)));
  if (arc == tree_.parent_arc(arcs_.head(arc))) return false;
  old_arcs_.clear();
  growth_ = 0;
  return random_.below(2) == 0 ? attach(arc) : insert(arc);
}

void Walk::take() {
  tree_.recompute_loads();
  const double busiest = tree_.busiest_load();
  if (busiest >= best_load_) return;
  best_ = tree_;
  best_load_ = busiest;
}

void Walk::anneal(double target, std::uint64_t steps) {
  constexpr double kHot = 0.05;  // share of the target
  constexpr double kCold = 0.025;
  constexpr double kNoExcess = 1e-9;
  constexpr std::uint64_t kBlock = 256;  // steps of equal temperature
  const double cooling =
      std::pow(kCold / kHot, static_cast<double>(kBlock) / static_cast<double>(steps));
  double temperature = kHot * best_load_;
  tree_ = best_;
  double excess = tree_.set_target(target);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    if (step % kBlock == 0) {
      temperature *= cooling;
      if (finished(kBlock)) return;
    }
    ++moves_;
    if (!propose()) continue;
    if (growth_ > 0 && random_.share() >= std::exp(-growth_ / temperature)) {
      take_back();
      continue;
    }
    excess += growth_;
    if (excess > kNoExcess * target) continue;
    take();
    target = best_load_ * (1 - kGain);
    excess = tree_.set_target(target);
  }
}

SingleTree Walk::run() {
  // A target far below the best tree drives the walk to very different trees (a chain instead of
  // branches); a target just below it, to small repairs.
  constexpr std::array kAmbitions{0.0, 0.5, 0.9};
  constexpr std::uint64_t kStepsPerHost = 400;
  std::uint64_t steps = kStepsPerHost * hosts_.size();
  while (!finished(1)) {
    for (const double ambition : kAmbitions) {
      anneal(best_load_ * (1 - kGain) - ambition * (best_load_ - options_.bound), steps);
    }
    steps += steps / 2;
  }
  return {best_.routed(), best_load_, complete_};
}

}  // namespace

SingleTree search_single_tree(const HostArcs& arcs, std::uint32_t root,
                              const std::vector<RoutedTree>& starts,
                              const SingleTreeOptions& options) {
  std::optional<LoadedTree> best;
  for (const RoutedTree& start : starts) {
    LoadedTree tree(arcs, root, start);
    if (!best || tree.busiest_load() < best->busiest_load()) best = std::move(tree);
  }
  return Walk(arcs, root, *std::move(best), options).run();
}

}  // namespace espalier::lp
