#include "engine/block.hpp"

#include <algorithm>

namespace espalier::engine {

bool Block::concerns_rank() const {
  return is_root || std::ranges::any_of(trees, [](const TreeRole& role) {
           return !role.in.empty() || !role.out.empty();
         });
}

std::vector<TreeRole> trees_of(std::span<const Block> blocks) {
  std::vector<TreeRole> all;
  for (const Block& block : blocks) all.insert(all.end(), block.trees.begin(), block.trees.end());
  return all;
}

}  // namespace espalier::engine
