#include "engine/block.hpp"

#include <algorithm>
#include <set>

namespace espalier::engine {

bool Block::concerns_rank() const {
  return is_root || std::ranges::any_of(trees, &TreeRole::concerns_rank);
}

bool exchanges_with_more_than(std::size_t most, std::span<const Block> blocks) {
  std::set<int> to;
  std::set<int> from;
  const auto add_remote = [](std::span<const Edge> edges, std::set<int>& peers) {
    for (const Edge& edge : edges) {
      if (!edge.is_local && !edge.uses_ring()) peers.insert(edge.peer);
    }
  };
  for (const Block& block : blocks) {
    for (const TreeRole& role : block.trees) {
      if (role.in.empty()) add_remote(role.out, to);
      add_remote(role.in, from);
    }
  }
  return to.size() > most && from.size() > most;
}

std::vector<TreeRole> trees_of(std::span<const Block> blocks) {
  std::vector<TreeRole> all;
  std::size_t number = 0;
  for (const Block& block : blocks) {
    number = block.first_tree.value_or(number);
    for (const TreeRole& role : block.trees) all.emplace_back(role).number = number++;
  }
  return all;
}

}  // namespace espalier::engine
