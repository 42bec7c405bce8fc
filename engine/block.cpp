#include "engine/block.hpp"

#include <algorithm>

namespace espalier::engine {

bool Block::concerns_rank() const {
  return is_root || std::ranges::any_of(trees, &TreeRole::concerns_rank);
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
