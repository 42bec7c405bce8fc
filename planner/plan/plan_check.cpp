// The faults of a plan that can be found without a platform.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "planner/plan/block_check.hpp"
#include "planner/plan/figures.hpp"
#include "planner/plan/plan.hpp"
#include "planner/plan/schedule_check.hpp"
#include "support/errors.hpp"

namespace espalier::planner {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

class PlanCheck {
 public:
  PlanCheck(const Plan& plan, const std::string& file) : plan_(plan), file_(file) {}

  void structure() {
    nodes();
    if (plan_.segment.value == 0) {
      refuse(plan_.has_one_root() ? "/slice_bytes" : "/segment_bytes",
             "a segment has at least one byte");
    }
    check_blocks(plan_, file_);
    for (const PlanTrees& kind : trees_by_kind(plan_)) trees(kind);
    rates();
    if (plan_.schedule) check_schedule(plan_, file_);
  }

  void colors(const PlanTrees& kind) const {
    // By node, end of the edge and color: whether there is such an edge.
    std::vector<bool> taken(plan_.nodes.size() * 4);
    for (std::size_t t = 0; t < kind.trees->size(); ++t) {
      const PlanTree& tree = (*kind.trees)[t];
      for (std::size_t i = 0; i < tree.colors.size(); ++i) {
        const auto [parent, child] = tree.edges[i];
        for (const bool is_child : {false, true}) {
          const std::uint32_t node = is_child ? child : parent;
          const std::size_t at = std::size_t{node} * 4 + (is_child ? 2 : 0) + tree.colors[i];
          if (taken[at]) {
            refuse(fmt::format("/{}/{}/colors/{}", kind.key, t, i),
                   "node '{}' {} on two edges of color {}", plan_.nodes[node],
                   is_child == kind.up ? "sends" : "receives", tree.colors[i]);
          }
          taken[at] = true;
        }
      }
    }
  }

 private:
  template <typename... Values>
  [[noreturn]] void refuse(const std::string& place, fmt::format_string<Values...> reason,
                           Values&&... values) const {
    throw InputError(file_, place, fmt::format(reason, std::forward<Values>(values)...));
  }

  // The same for element `index` of a list.
  template <typename... Values>
  [[noreturn]] void refuse_at(const std::string& list, std::size_t index,
                              fmt::format_string<Values...> reason, Values&&... values) const {
    refuse(fmt::format("{}/{}", list, index), reason, std::forward<Values>(values)...);
  }

  void nodes() {
    if (plan_.nodes.empty()) refuse("/nodes", "a plan needs at least one node");
    if (plan_.nodes.size() >= kNone) refuse("/nodes", "too many nodes");
    std::unordered_map<std::string_view, std::size_t> first_place;
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      if (plan_.nodes[i].empty()) refuse_at("/nodes", i, "empty name");
      const auto [earlier, is_new] = first_place.emplace(plan_.nodes[i], i);
      if (!is_new) {
        refuse_at("/nodes", i, "'{}' is already /nodes/{}", plan_.nodes[i], earlier->second);
      }
    }
    if (plan_.has_one_root() && source_index(plan_) == kNone) {
      refuse("/source", "'{}' is not one of the plan's nodes", plan_.source);
    }
  }

  void trees(const PlanTrees& kind) {
    const std::vector<PlanTree>* const trees = kind.trees;
    const bool up = kind.up;
    const bool wanted =
        !plan_.has_one_root() || (up ? reduces(plan_.operation) : broadcasts(plan_.operation));
    const std::string whole = fmt::format("/{}", kind.key);
    source_ = kind.root;
    if (wanted && trees->empty()) refuse(whole, "a plan needs at least one tree");
    if (!wanted && !trees->empty()) {
      refuse(whole, "a plan for {} has no {} trees", with_article(plan_.operation),
             up ? "reduce" : "broadcast");
    }
    for (std::size_t i = 0; i < trees->size(); ++i) {
      const std::string place = fmt::format("{}/{}", whole, i);
      tree((*trees)[i], kind, place);
      if ((*trees)[i].colors.empty() != trees->front().colors.empty()) {
        refuse(place, "either all trees have colors or none; tree 0 differs");
      }
    }
  }

  void tree(const PlanTree& tree, const PlanTrees& kind, const std::string& place) {
    const bool up = kind.up;
    if (!finite_and_positive(tree.rate.value)) {
      refuse(place + "/rate_Bps", "a rate is finite and positive, not {}", tree.rate.value);
    }
    parent_of_.assign(plan_.nodes.size(), kNone);
    if (kind.to) {
      path(tree, *kind.to, place + "/edges");
    } else {
      parents(tree, kind, place + "/edges");
      cycles(place + "/edges");
    }
    for (const auto& [edge, relays] : tree.via) {
      const auto [parent, child] = edge;
      if (is_edge(parent, child)) continue;
      // In the file's order: the direction of the data.
      refuse(fmt::format("{}/via/{}-{}", place, up ? child : parent, up ? parent : child),
             "this tree has no such edge");
    }
    one_an_edge(tree, tree.colors, place + "/colors", "colors", [&](std::uint8_t color) {
      return color <= 1 ? "" : fmt::format("a color is 0 or 1, not {}", color);
    });
    one_an_edge(tree, tree.latencies, place + "/latencies_s", "latencies", [&](Seconds latency) {
      if (std::isfinite(latency.value) && latency.value >= 0) return std::string();
      return fmt::format("a latency is finite and not negative, not {}", latency.value);
    });
    exchange(tree, place + "/exchange");
  }

  [[nodiscard]] bool is_edge(std::uint32_t parent, std::uint32_t child) const {
    return child < parent_of_.size() && parent_of_[child] == parent;
  }

  // Every node but the source must have one parent, and the source none. Helpers may have none.
  void parents(const PlanTree& tree, const PlanTrees& kind, const std::string& place) {
    const bool up = kind.up;
    for (std::size_t i = 0; i < tree.edges.size(); ++i) {
      const auto [parent, child] = tree.edges[i];
      const std::size_t largest = std::max(parent, child);
      if (largest >= plan_.nodes.size()) refuse_node(place, i, largest);
      const std::string& name = plan_.nodes[child];
      if (parent == child) refuse_at(place, i, "edge from '{}' to itself", name);
      if (child == source_) {
        refuse_at(place, i, "edge {} the {} '{}'", up ? "out of" : "into",
                  plan_.has_one_root() ? "source" : "root", name);
      }
      if (parent_of_[child] != kNone) {
        refuse_at(place, i, "node '{}' has two parents, '{}' and '{}'", name,
                  plan_.nodes[parent_of_[child]], plan_.nodes[parent]);
      }
      parent_of_[child] = parent;
    }
    if (!kind.members.empty()) return members(tree, kind.members, place);
    for (std::uint32_t node = 0; node < plan_.nodes.size(); ++node) {
      if (node == source_ || parent_of_[node] != kNone) continue;
      refuse(place, "node '{}' is missing: no edge leads {} it ({} edges, {} needed)",
             plan_.nodes[node], up ? "from" : "to", tree.edges.size(), plan_.nodes.size() - 1);
    }
  }

  void members(const PlanTree& tree, std::span<const std::uint32_t> members,
               const std::string& place) const {
    for (const std::uint32_t member : members) {
      if (parent_of_[member] != kNone) continue;
      refuse(place, "node '{}' is missing: no edge leads to it", plan_.nodes[member]);
    }
    for (std::size_t i = 0; i < tree.edges.size(); ++i) {
      const std::uint32_t parent = tree.edges[i].parent;
      if (parent == source_ || parent_of_[parent] != kNone) continue;
      refuse_at(place, i, "no edge leads to node '{}', which sends", plan_.nodes[parent]);
    }
  }

  // Every edge begins where the one before it ends, and no node is passed twice.
  void path(const PlanTree& tree, std::uint32_t to, const std::string& place) {
    std::uint32_t at = source_;
    for (std::size_t i = 0; i < tree.edges.size(); ++i) {
      const auto [parent, child] = tree.edges[i];
      const std::size_t largest = std::max(parent, child);
      if (largest >= plan_.nodes.size()) refuse_node(place, i, largest);
      if (parent != at) {
        refuse_at(place, i, "the path is at '{}', not at '{}'", plan_.nodes[at],
                  plan_.nodes[parent]);
      }
      if (child == source_ || parent_of_[child] != kNone) {
        refuse_at(place, i, "the path comes to '{}' twice", plan_.nodes[child]);
      }
      parent_of_[child] = parent;
      at = child;
    }
    if (at != to) {
      refuse(place, "the path ends at '{}', not at '{}'", plan_.nodes[at], plan_.nodes[to]);
    }
    if (!tree.exchange.empty()) refuse(place, "a path has no exchange edges");
  }

  [[noreturn]] void refuse_node(const std::string& place, std::size_t i, std::size_t node) const {
    refuse_at(place, i, "node {} is out of range: the plan has {} nodes", node, plan_.nodes.size());
  }

  // As every node of the tree but the source has one parent, a node without the source among its
  // ancestors leads into a cycle.
  void cycles(const std::string& place) const {
    constexpr std::uint32_t kReachesSource = kNone - 1;
    std::vector<std::uint32_t> walk_of(plan_.nodes.size(), kNone);
    walk_of[source_] = kReachesSource;
    for (std::uint32_t start = 0; start < plan_.nodes.size(); ++start) {
      if (start != source_ && parent_of_[start] == kNone) continue;  // a helper of other trees
      std::uint32_t node = start;
      while (walk_of[node] == kNone) {
        walk_of[node] = start;
        node = parent_of_[node];
      }
      if (walk_of[node] != start || start == source_) continue;
      std::string names = plan_.nodes[node];
      for (std::uint32_t up = parent_of_[node]; up != node; up = parent_of_[up]) {
        names.insert(0, plan_.nodes[up] + " -> ");
      }
      refuse(place, "cycle {} -> {}", plan_.nodes[node], names);
    }
  }

  // A list that is empty or has one value per edge; fault_of: the reason why a value is wrong.
  template <typename Values, typename Fault>
  void one_an_edge(const PlanTree& tree, const Values& values, const std::string& place,
                   std::string_view what, const Fault& fault_of) const {
    if (values.empty()) return;
    if (values.size() != tree.edges.size()) {
      refuse(place, "{} {} for {} edges", values.size(), what, tree.edges.size());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string reason = fault_of(values[i]);
      if (!reason.empty()) refuse_at(place, i, "{}", reason);
    }
  }

  void exchange(const PlanTree& tree, const std::string& place) const {
    std::vector<bool> is_named(plan_.nodes.size());
    for (std::size_t i = 0; i < tree.exchange.size(); ++i) {
      const auto [parent, child] = tree.exchange[i];
      if (!is_edge(parent, child)) {
        refuse_at(place, i, "this tree has no edge [{}, {}]", parent, child);
      }
      if (is_named[child]) refuse_at(place, i, "edge [{}, {}] is named twice", parent, child);
      is_named[child] = true;
    }
  }

  void rates() const {
    const double throughput = plan_.throughput.value;
    if (!finite_and_positive(throughput)) {
      refuse("/throughput_Bps", "a throughput is finite and positive, not {}", throughput);
    }
    if (plan_.optimum && !finite_and_positive(plan_.optimum->value)) {
      refuse("/optimum_Bps", "an optimum is finite and positive, not {}", plan_.optimum->value);
    }
    for (const PlanTrees& kind : trees_by_kind(plan_)) {
      if (kind.trees->empty()) continue;
      const double sum = std::accumulate(
          kind.trees->begin(), kind.trees->end(), 0.0,
          [](double so_far, const PlanTree& tree) { return so_far + tree.rate.value; });
      if (!differ(sum, kind.share * throughput)) continue;
      if (!plan_.has_one_root()) {
        refuse("/" + kind.key,
               "the trees' rates sum to {}, not to {}, the block's share of the "
               "throughput",
               sum, kind.share * throughput);
      }
      refuse("/throughput_Bps", "the {} rates sum to {}, not to {}",
             kind.up ? "reduce trees'" : "trees'", sum, throughput);
    }
  }

  const Plan& plan_;
  const std::string& file_;
  std::uint32_t source_ = kNone;
  std::vector<std::uint32_t> parent_of_;  // in the tree that is checked
};

}  // namespace

void check_structure(const Plan& plan, const std::string& file) {
  PlanCheck(plan, file).structure();
}

void check_colors(const Plan& plan, const std::string& file) {
  for (const PlanTrees& kind : trees_by_kind(plan)) PlanCheck(plan, file).colors(kind);
}

}  // namespace espalier::planner
