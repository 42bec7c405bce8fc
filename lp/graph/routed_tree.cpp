#include "lp/graph/routed_tree.hpp"

namespace espalier::lp {

void RoutedTree::record_ends() {
  if (!path_ends.empty()) return;
  path_ends.reserve(arcs.size() + 1);
  for (std::uint32_t end = 1; end <= arcs.size(); ++end) path_ends.push_back(end);
}

}  // namespace espalier::lp
