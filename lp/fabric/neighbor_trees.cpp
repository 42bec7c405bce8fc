#include "lp/fabric/neighbor_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <utility>

#include "lp/fabric/fabric_tree.hpp"
#include "lp/graph/rooted_tree.hpp"
#include "lp/random_numbers.hpp"

namespace espalier::lp {

namespace {

constexpr std::array<std::size_t, 3> kCounts{4, 8, 16};
constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kNoStep = SIZE_MAX;
// What being a tree ahead of an even share costs, in arcs: more makes deep trees, less leaves much
// to move.
constexpr double kAhead = 8;

class NeighborTrees {
 public:
  NeighborTrees(const PackingProblem& problem, const HostArcs& arcs, double rate, std::size_t trees)
      : root_(problem.root),
        arcs_(arcs),
        rate_(rate / static_cast<double>(trees)),
        count_(trees),
        load_(arcs.resource_count(), 0.0),
        arcs_using_(arcs.resource_count()),
        random_(kSeed) {
    for (std::uint32_t arc = 0; arc < arcs.size(); ++arc) {
      for (const auto& use : arcs.uses(arc)) arcs_using_[use.resource].push_back(arc);
    }
    std::map<std::vector<std::uint32_t>, std::uint32_t> first_using;
    for (std::uint32_t row = 0; row < load_.size(); ++row) {
      alike_.push_back(first_using.try_emplace(arcs_using_[row], row).first->second);
    }
  }

  // Whether the arcs into each host can carry a share of the rate each for all trees.
  [[nodiscard]] bool may_do() const;
  // All trees. False: some host is not reached, or the deadline has passed.
  bool grow(const Deadline& deadline);
  // Until no resource is overfull. False: not found, or the deadline has passed.
  bool make_room(const Deadline& deadline);
  [[nodiscard]] std::vector<PackedTree> trees() const;

 private:
  // A child gets another parent.
  struct Move {
    std::uint32_t tree;
    std::uint32_t from;  // arcs into the child
    std::uint32_t to;
  };
  // Per node, edges from the root, and to the farthest node below.
  struct Shape {
    std::vector<std::uint32_t> depth;
    std::vector<std::uint32_t> height;
  };
  // A resource that is to have room, for the move of the step before, which fills it.
  struct Step {
    std::uint32_t row;
    std::size_t before;
    Move move;
  };

  [[nodiscard]] double filled_by(const HostArcs::Use& use) const {
    return load_[use.resource] + rate_ * use.seconds_per_byte;
  }
  [[nodiscard]] bool is_overfull(std::uint32_t row) const {
    return load_[row] > 1 + kFabricRounding;
  }
  void add(std::uint32_t arc, double rate) {
    for (const auto& use : arcs_.uses(arc)) load_[use.resource] += rate * use.seconds_per_byte;
  }
  bool grow_next();
  [[nodiscard]] double beyond_share(std::uint32_t arc) const;
  [[nodiscard]] Shape shape_of(const RootedTree& tree) const;
  [[nodiscard]] std::vector<Move> moves_from(std::uint32_t row) const;
  [[nodiscard]] bool is_possible(const Move& move) const;
  [[nodiscard]] std::optional<std::uint32_t> row_without_room(const Move& move);
  void apply(const Move& move);
  void move_in_chains(const Deadline& deadline);

  std::uint32_t root_;
  const HostArcs& arcs_;
  double rate_;  // of each tree, bytes per second
  std::size_t count_;
  std::vector<RootedTree> trees_;
  std::vector<Shape> shapes_;  // per tree, before the moves in progress
  std::uint32_t most_depth_ = 0;
  std::vector<double> load_;  // per resource
  std::vector<std::vector<std::uint32_t>> arcs_using_;
  // Per resource, the first that the same arcs use: those of a host where both directions are used.
  std::vector<std::uint32_t> alike_;
  RandomNumbers random_;
};

bool NeighborTrees::may_do() const {
  for (std::uint32_t host = 0; host < arcs_.node_count(); ++host) {
    double trees = 0;
    for (const std::uint32_t arc : arcs_.into(host)) {
      trees += std::floor(1 / (rate_ * arcs_.weight(arc)) + kFabricRounding);
    }
    if (host != root_ && trees < static_cast<double>(count_)) return false;
  }
  return true;
}

// By how many trees the resource that the arc would fill most is ahead of its even share.
double NeighborTrees::beyond_share(std::uint32_t arc) const {
  double most = 0;
  for (const auto& use : arcs_.uses(arc)) most = std::max(most, filled_by(use));
  const auto trees = static_cast<double>(trees_.size());
  return kAhead * std::max(0.0, static_cast<double>(count_) * most - trees);
}

bool NeighborTrees::grow(const Deadline& deadline) {
  while (trees_.size() < count_) {
    if (deadline.passed() || !grow_next()) return false;
  }
  return true;
}

// Dijkstra's algorithm, in which a host's arcs become longer with each child.
bool NeighborTrees::grow_next() {
  RootedTree& tree = trees_.emplace_back(arcs_, root_);
  struct Way {
    double length;
    std::uint32_t arc;
    double base;  // without what its tail has sent
    bool operator>(const Way& other) const { return length > other.length; }
  };
  std::priority_queue<Way, std::vector<Way>, std::greater<>> ways;
  std::size_t reached = 1;
  const auto reach = [&](std::uint32_t node, double length) {
    for (const std::uint32_t arc : arcs_.out_of(node)) {
      if (arcs_.head(arc) == root_ || tree.parent_arc(arcs_.head(arc)) != kNone) continue;
      const double base = length + 1 + random_.share();
      ways.push({base + beyond_share(arc), arc, base});
    }
  };
  reach(root_, 0);
  while (!ways.empty()) {
    const auto [length, arc, base] = ways.top();
    ways.pop();
    if (tree.parent_arc(arcs_.head(arc)) != kNone) continue;
    const double beyond = beyond_share(arc);
    // The root sends each byte only as often as it must.
    const bool is_first = arcs_.tail(arc) != root_ || tree.first_child(root_) == kNone;
    if (!is_first && beyond > kFabricRounding) continue;
    if (base + beyond > length + kFabricRounding) {
      ways.push({base + beyond, arc, base});
      continue;
    }
    tree.attach(arc);
    add(arc, rate_);
    ++reached;
    reach(arcs_.head(arc), length);
  }
  return reached == arcs_.node_count();
}

// Of those alike the first. kNone: all have room. Unset: several have not.
std::optional<std::uint32_t> NeighborTrees::row_without_room(const Move& move) {
  std::optional<std::uint32_t> row = kNone;
  add(move.from, -rate_);
  for (const auto& use : arcs_.uses(move.to)) {
    if (filled_by(use) <= 1 + kFabricRounding) continue;
    const std::uint32_t first = alike_[use.resource];
    if (row != first) row = row == kNone ? std::optional(first) : std::nullopt;
    if (!row) break;
  }
  add(move.from, rate_);
  return row;
}

void NeighborTrees::apply(const Move& move) {
  add(move.from, -rate_);
  add(move.to, rate_);
  trees_[move.tree].move(move.to);
}

// Breadth first, from all overfull resources at once, over those that moves onto them would
// overfill. Where a move overfills nothing, it is done, and those before it as long as they are
// still possible: each alone makes nothing worse.
void NeighborTrees::move_in_chains(const Deadline& deadline) {
  std::vector<char> seen(load_.size(), 0);
  std::vector<Step> steps;
  for (std::uint32_t row = 0; row < load_.size(); ++row) {
    if (!is_overfull(row) || std::exchange(seen[alike_[row]], 1) != 0) continue;
    steps.push_back({row, kNoStep, {}});
  }
  for (std::size_t step = 0; step < steps.size() && !deadline.passed(); ++step) {
    for (const Move& move : moves_from(steps[step].row)) {
      if (!is_possible(move)) continue;  // any more
      const auto next = row_without_room(move);
      if (!next || (*next != kNone && seen[*next] != 0)) continue;
      if (*next != kNone) {
        seen[*next] = 1;
        steps.push_back({*next, step, move});
        continue;
      }
      apply(move);
      for (std::size_t last = step; steps[last].before != kNoStep; last = steps[last].before) {
        const Move& before = steps[last].move;
        if (!is_possible(before) || row_without_room(before) != kNone) break;
        apply(before);
      }
    }
  }
}

std::vector<NeighborTrees::Move> NeighborTrees::moves_from(std::uint32_t row) const {
  std::vector<Move> moves;
  for (const std::uint32_t from : arcs_using_[row]) {
    for (std::uint32_t tree = 0; tree < trees_.size(); ++tree) {
      if (trees_[tree].parent_arc(arcs_.head(from)) != from) continue;
      for (const std::uint32_t to : arcs_.into(arcs_.head(from))) {
        if (to != from) moves.push_back({tree, from, to});
      }
    }
  }
  return moves;
}

bool NeighborTrees::is_possible(const Move& move) const {
  const std::uint32_t child = arcs_.head(move.to);
  const Shape& shape = shapes_[move.tree];
  if (shape.depth[arcs_.tail(move.to)] + 1 + shape.height[child] > most_depth_) return false;
  return trees_[move.tree].parent_arc(child) == move.from &&
         !trees_[move.tree].is_below(arcs_.tail(move.to), child);
}

NeighborTrees::Shape NeighborTrees::shape_of(const RootedTree& tree) const {
  Shape shape{std::vector<std::uint32_t>(arcs_.node_count(), 0), {}};
  shape.height = shape.depth;
  const std::vector<std::uint32_t> nodes = tree.nodes();
  for (const std::uint32_t node : std::span(nodes).subspan(1)) {
    shape.depth[node] = shape.depth[tree.parent(node)] + 1;
  }
  for (std::size_t i = nodes.size(); i-- > 1;) {
    std::uint32_t& above = shape.height[tree.parent(nodes[i])];
    above = std::max(above, shape.height[nodes[i]] + 1);
  }
  return shape;
}

// Moves that make trees deeper are done only where others do not help.
bool NeighborTrees::make_room(const Deadline& deadline) {
  for (double left = excess_of(load_); left > 0;) {
    shapes_.clear();
    for (const RootedTree& tree : trees_) {
      shapes_.push_back(shape_of(tree));
    }
    if (most_depth_ == 0) {
      for (const Shape& shape : shapes_) most_depth_ = std::max(most_depth_, shape.height[root_]);
    }
    move_in_chains(deadline);
    if (deadline.passed()) return false;
    const double now = excess_of(load_);
    if (now > left - kFabricRounding) {
      if (most_depth_ >= arcs_.node_count()) return false;
      most_depth_ += most_depth_ / 4 + 1;
    }
    left = now;
  }
  return true;
}

std::vector<PackedTree> NeighborTrees::trees() const {
  std::vector<PackedTree> packed;
  for (const RootedTree& tree : trees_) {
    packed.push_back({tree.routed(), rate_});
  }
  return packed;
}

}  // namespace

std::vector<PackedTree> neighbor_trees(const PackingProblem& problem, double rate,
                                       std::size_t most_trees, const Deadline& deadline) {
  const HostArcs arcs(problem.graph, problem.occupation,
                      std::vector<double>(problem.graph.arc_count(), 1.0));
  for (const std::size_t count : kCounts) {
    if (most_trees > 0 && count > most_trees) break;
    NeighborTrees trees(problem, arcs, rate, count);
    if (trees.may_do() && trees.grow(deadline) && trees.make_room(deadline)) return trees.trees();
  }
  return {};
}

}  // namespace espalier::lp
