#include "planner/plan/block_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/errors.hpp"

namespace espalier::planner {

void check_blocks(const Plan& plan, const std::string& file) {
  if (has_root(plan.operation)) {
    if (plan.blocks.empty()) return;
    throw InputError(
        file, "/blocks",
        fmt::format("a plan for {} has trees, not blocks", with_article(plan.operation)));
  }
  if (plan.blocks.empty()) {
    throw InputError(file, "/blocks", "expected one block for each node as its root");
  }
  constexpr double kSharesMayBeOff = 1e-6;
  const BlockKind wanted = kind_of_blocks(plan.operation);
  std::vector<bool> has_block(plan.nodes.size());
  double shares = 0;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const PlanBlock& block = plan.blocks[i];
    const auto refuse = [&](const std::string& key, const std::string& reason) {
      throw InputError(file, fmt::format("/blocks/{}/{}", i, key), reason);
    };
    if (block.kind != wanted) {
      refuse("kind",
             fmt::format("the blocks of {} are \"{}\", not \"{}\"", with_article(plan.operation),
                         name_of(wanted), name_of(block.kind)));
    }
    if (block.root >= plan.nodes.size()) {
      refuse("root", fmt::format("node {} is out of range: the plan has {} nodes", block.root,
                                 plan.nodes.size()));
    }
    if (has_block[block.root]) {
      refuse("root", fmt::format("node '{}' is the root of two blocks", plan.nodes[block.root]));
    }
    has_block[block.root] = true;
    if (!(std::isfinite(block.share) && block.share > 0)) {
      refuse("share", fmt::format("a share is finite and positive, not {}", block.share));
    }
    if (block.after) refuse("after", "a block of this operation waits for no other");
    shares += block.share;
  }
  for (std::size_t node = 0; node < has_block.size(); ++node) {
    if (has_block[node]) continue;
    throw InputError(file, "/blocks",
                     fmt::format("node '{}' is the root of no block", plan.nodes[node]));
  }
  if (!(std::abs(shares - 1) <= kSharesMayBeOff)) {
    throw InputError(file, "/blocks", fmt::format("the shares sum to {}, not to 1", shares));
  }
}

}  // namespace espalier::planner
