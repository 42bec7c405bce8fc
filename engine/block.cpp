#include "engine/block.hpp"

#include <algorithm>

namespace espalier::engine {

bool Block::concerns_rank() const {
  return is_root || std::ranges::any_of(trees, &TreeRole::concerns_rank);
}

bool exchange_with_more_than(std::size_t most, std::span<const Block> blocks) {
  const auto is_remote = [](const Edge& edge) { return !edge.is_local; };
  std::size_t to = 0;
  std::size_t from = 0;
  for (const Block& block : blocks) {
    const TreeRole& role = block.trees.front();
    if (block.is_root && std::ranges::any_of(role.out, is_remote)) ++to;
    if (role.out.empty() && std::ranges::any_of(role.in, is_remote)) ++from;
  }
  return to > most && from > most;
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
