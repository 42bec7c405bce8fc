#include "planner/algorithms/sub_problem.hpp"

#include <utility>

namespace espalier::planner {

using platforms::NodeId;

SubProblem::SubProblem(const Instance& whole, std::span<const NodeId> members, NodeId root,
                       std::span<const NodeId> way_points)
    : platform_(part_of(whole.platform(), whole.model(), whole.occupation(), members, way_points)),
      instance_(platform_, source_named(platform_, whole.platform().node(root).name), whole.model(),
                whole.options()) {
  std::vector<NodeId> whole_node;
  for (const platforms::Node& node : platform_.nodes()) {
    whole_node.push_back(*whole.platform().find_node(node.name));
  }
  for (const platforms::Arc& arc : platform_.arcs()) {
    const auto id =
        whole.platform().find_arc(whole_node[index_of(arc.from)], whole_node[index_of(arc.to)]);
    whole_arc_.push_back(static_cast<std::uint32_t>(*id));
  }
}

void SubProblem::add_to(lp::RoutedTree& whole_tree, const lp::RoutedTree& tree) const {
  whole_tree.append(tree, [&](std::uint32_t arc) { return whole_arc_[arc]; });
}

}  // namespace espalier::planner
