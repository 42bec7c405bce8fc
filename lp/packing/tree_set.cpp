#include "lp/packing/tree_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::lp {

namespace {
constexpr double kGain = 1e-9;  // relative gains below are rounding
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
}  // namespace

bool TreeSet::add(const RoutedTree& tree, double rate) {
  Tree added{rate, std::vector<std::uint32_t>(arcs_->node_count(), kNone),
             std::vector<std::vector<std::uint32_t>>(arcs_->node_count())};
  for (const std::uint32_t arc : arcs_->arcs_of(tree)) {
    if (arc == kNone) return false;
    added.parent_arc[arcs_->head(arc)] = arc;
    added.children[arcs_->tail(arc)].push_back(arcs_->head(arc));
  }
  for (const std::uint32_t arc : added.parent_arc) {
    if (arc != kNone) change_load(arc, rate);
  }
  trees_.push_back(std::move(added));
  return true;
}

void TreeSet::set_rate(std::size_t tree, double rate) {
  for (const std::uint32_t arc : trees_[tree].parent_arc) {
    if (arc != kNone) change_load(arc, rate - trees_[tree].rate);
  }
  trees_[tree].rate = rate;
}

std::vector<RoutedTree> TreeSet::trees() const {
  std::vector<RoutedTree> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(tree(i));
  return all;
}

RoutedTree TreeSet::tree(std::size_t index) const {
  const Tree& tree = trees_[index];
  std::vector<std::uint32_t> order{root_};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t child : tree.children[order[i]]) order.push_back(child);
  }
  std::vector<std::uint32_t> height(arcs_->node_count(), 0);
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    for (const std::uint32_t child : tree.children[*node]) {
      height[*node] = std::max(height[*node], height[child] + 1);
    }
  }
  RoutedTree routed;
  for (const std::uint32_t node : order) {
    std::vector<std::uint32_t> children = tree.children[node];
    std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
      return height[a] > height[b] || (height[a] == height[b] && a < b);
    });
    for (const std::uint32_t child : children) {
      arcs_->add_edge(tree.parent_arc[child], routed);
    }
  }
  return routed;
}

double TreeSet::busiest_load() const {
  return *std::max_element(load_.begin(), load_.end());
}

void TreeSet::change_load(std::uint32_t arc, double rate) {
  for (const auto& [resource, seconds] : arcs_->uses(arc)) load_[resource] += rate * seconds;
}

// Sets growth_ for the tree and weight_ for the current loads.
void TreeSet::prepare(const Tree& tree) {
  // Exponents are capped so that products stay finite; a move that reaches a cap would be rejected
  // anyway.
  constexpr double kMostLoad = 300;
  constexpr double kMostGrowth = 100;
  std::transform(load_.begin(), load_.end(), weight_.begin(),
                 [&](double load) { return std::exp(std::min(beta_per_load_ * load, kMostLoad)); });
  const std::span<const HostArcs::Use> uses = arcs_->all_uses();
  growth_.resize(uses.size());
  const double scale = beta_per_load_ * tree.rate;
  std::transform(uses.begin(), uses.end(), growth_.begin(), [&](const HostArcs::Use& use) {
    return std::expm1(std::min(scale * use.seconds_per_byte, kMostGrowth));
  });
}

// Updates weight_ for an arc that is added or removed.
void TreeSet::multiply(std::uint32_t arc, bool add) {
  const double* growth = growth_.data() + arcs_->first_use(arc);
  for (const auto& [resource, seconds] : arcs_->uses(arc)) {
    if (add) {
      weight_[resource] *= 1 + *growth;
    } else {
      weight_[resource] /= 1 + *growth;
    }
    ++growth;
  }
}

// The increase of the potential by adding the arc; stops early when it exceeds `enough`.
double TreeSet::potential_of(std::uint32_t arc, double enough) const {
  const double* growth = growth_.data() + arcs_->first_use(arc);
  double sum = 0;
  for (const auto& [resource, seconds] : arcs_->uses(arc)) {
    sum += weight_[resource] * *growth++;
    if (sum > enough) return sum;
  }
  return sum;
}

// Adds the arc's factors to those of the current move.
void TreeSet::gather(std::uint32_t arc, bool add) {
  const double* growth = growth_.data() + arcs_->first_use(arc);
  for (const auto& [resource, seconds] : arcs_->uses(arc)) {
    const double factor = add ? 1 + *growth : 1 / (1 + *growth);
    ++growth;
    auto known = factors_.begin();
    while (known != factors_.end() && known->resource != resource) ++known;
    if (known != factors_.end()) {
      known->factor *= factor;
    } else {
      factors_.push_back({resource, factor});
    }
  }
}

double TreeSet::change_by_insert(std::uint32_t in, std::uint32_t out, std::uint32_t cut) {
  factors_.clear();
  gather(in, true);
  gather(out, true);
  gather(cut, false);
  double change = 0;
  for (const Factor& f : factors_) change += weight_[f.resource] * (f.factor - 1);
  return change;
}

bool TreeSet::below(const Tree& tree, std::uint32_t node, std::uint32_t top) const {
  while (node != top) {
    const std::uint32_t arc = tree.parent_arc[node];
    if (arc == kNone) return false;
    node = arcs_->tail(arc);
  }
  return true;
}

// Updates the loads, too.
void TreeSet::rehang(Tree& tree, std::uint32_t node, std::uint32_t arc) {
  const std::uint32_t old_arc = tree.parent_arc[node];
  std::vector<std::uint32_t>& siblings = tree.children[arcs_->tail(old_arc)];
  siblings.erase(std::find(siblings.begin(), siblings.end(), node));
  tree.children[arcs_->tail(arc)].push_back(node);
  tree.parent_arc[node] = arc;
  change_load(old_arc, -tree.rate);
  change_load(arc, tree.rate);
}

bool TreeSet::try_rehang(Tree& tree, std::uint32_t node) {
  const std::uint32_t old_arc = tree.parent_arc[node];
  multiply(old_arc, false);
  double best = potential_of(old_arc, kUnlimited) * (1 - kGain);
  std::uint32_t best_arc = kNone;
  const std::span<const std::uint32_t> candidates = arcs_->into(node);
  evaluated_ += candidates.size();
  for (const std::uint32_t arc : candidates) {
    const double potential = potential_of(arc, best);
    if (potential >= best || arc == old_arc || below(tree, arcs_->tail(arc), node)) continue;
    best = potential;
    best_arc = arc;
  }
  multiply(best_arc == kNone ? old_arc : best_arc, true);
  if (best_arc == kNone) return false;
  rehang(tree, node, best_arc);
  return true;
}

// The cheapest place for `node` between some other host and one of that host's children.
// Precondition: weight_ is that of the tree without `node`, with `child` attached to the parent of
// `node`.
TreeSet::Insertion TreeSet::best_insertion(const Tree& tree, std::uint32_t node,
                                           std::uint32_t child, double enough) {
  for (const std::uint32_t arc : arcs_->out_of(node)) arc_to_[arcs_->head(arc)] = arc;
  Insertion best{enough};
  for (const std::uint32_t in : arcs_->into(node)) {
    const std::uint32_t above = arcs_->tail(in);
    for (const std::uint32_t next : tree.children[above]) {
      const std::uint32_t out = arc_to_[next];
      if (out == kNone || next == node || next == child) continue;
      ++evaluated_;
      const double change = change_by_insert(in, out, tree.parent_arc[next]);
      if (change < best.change) best = {change, in, out};
    }
  }
  for (const std::uint32_t arc : arcs_->out_of(node)) arc_to_[arcs_->head(arc)] = kNone;
  return best;
}

bool TreeSet::try_insert(Tree& tree, std::uint32_t node) {
  if (tree.children[node].size() > 1) return false;
  const std::uint32_t old_arc = tree.parent_arc[node];
  const std::uint32_t parent = arcs_->tail(old_arc);
  const std::uint32_t child = tree.children[node].empty() ? kNone : tree.children[node].front();
  const std::uint32_t bridge = child == kNone ? kNone : arcs_->find(parent, child);
  if (child != kNone && bridge == kNone) return false;

  // Remove the node, and compute the cost of putting it back.
  multiply(old_arc, false);
  double put_back = 0;
  if (child == kNone) {
    put_back = potential_of(old_arc, kUnlimited);
  } else {
    multiply(tree.parent_arc[child], false);
    multiply(bridge, true);
    put_back = change_by_insert(old_arc, tree.parent_arc[child], bridge);
  }
  const double enough = put_back - kGain * std::abs(put_back);
  const Insertion best = best_insertion(tree, node, child, enough);
  if (best.in == kNone) {
    if (child != kNone) {
      multiply(bridge, false);
      multiply(tree.parent_arc[child], true);
    }
    multiply(old_arc, true);
    return false;
  }
  const std::uint32_t next = arcs_->head(best.out);
  multiply(tree.parent_arc[next], false);
  multiply(best.in, true);
  multiply(best.out, true);
  if (child != kNone) rehang(tree, child, bridge);
  rehang(tree, node, best.in);
  rehang(tree, next, best.out);
  return true;
}

bool TreeSet::sweep(double beta, const Deadline& deadline) {
  beta_per_load_ = beta / busiest_load();
  bool changed = false;
  DeadlineWatch watch(deadline);
  for (Tree& tree : trees_) {
    prepare(tree);
    std::uint64_t seen = evaluated_;
    for (std::uint32_t node = 0; node < arcs_->node_count(); ++node) {
      if (tree.parent_arc[node] == kNone) continue;
      constexpr std::uint64_t kWorkPerMove = 8;
      if (watch.passed(kWorkPerMove * (evaluated_ - seen) + 1)) return changed;
      seen = evaluated_;
      changed |= try_rehang(tree, node);
      changed |= try_insert(tree, node);
    }
  }
  return changed;
}

void TreeSet::sweep_until(double beta, std::uint64_t most_moves, const Deadline& deadline) {
  constexpr int kPasses = 5;
  for (int pass = 0; pass < kPasses && sweep(beta, deadline); ++pass) {
    if (evaluated_ > most_moves || deadline.passed()) break;
  }
}

bool TreeSet::fits(std::uint32_t arc, double rate, double full) const {
  for (const auto& [resource, seconds] : arcs_->uses(arc)) {
    if (load_[resource] + rate * seconds > full) return false;
  }
  return true;
}

}  // namespace espalier::lp
