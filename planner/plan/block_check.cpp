#include "planner/plan/block_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/errors.hpp"

namespace espalier::planner {

namespace {

constexpr double kSharesMayBeOff = 1e-6;

class BlockCheck {
 public:
  BlockCheck(const Plan& plan, const std::string& file)
      : plan_(plan),
        file_(file),
        block_of_{std::vector<std::size_t>(plan.nodes.size(), kNone),
                  std::vector<std::size_t>(plan.nodes.size(), kNone)} {}

  void run() {
    for (std::size_t i = 0; i < plan_.blocks.size(); ++i) {
      take(i);
      if (has_root(plan_.operation)) {
        check_sequence(i);
      } else if (plan_.blocks[i].after) {
        refuse(i, "after", "a block of this operation waits for no other");
      }
    }
    for (const BlockKind kind : {BlockKind::kCombine, BlockKind::kSpread}) {
      if (has_blocks_of(kind, plan_.operation)) check_all(kind);
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  [[noreturn]] void refuse(std::size_t i, const std::string& key, const std::string& reason) const {
    throw InputError(file_, fmt::format("/blocks/{}/{}", i, key), reason);
  }
  [[nodiscard]] std::vector<std::size_t>& blocks_of(BlockKind kind) {
    return block_of_[kind == BlockKind::kCombine ? 0 : 1];
  }

  void take(std::size_t i) {
    const PlanBlock& block = plan_.blocks[i];
    if (!has_blocks_of(block.kind, plan_.operation)) {
      refuse(i, "kind",
             fmt::format("{} has no blocks that {}", with_article(plan_.operation),
                         name_of(block.kind)));
    }
    if (block.root >= plan_.nodes.size()) {
      refuse(i, "root",
             fmt::format("node {} is out of range: the plan has {} nodes", block.root,
                         plan_.nodes.size()));
    }
    std::size_t& of_root = blocks_of(block.kind)[block.root];
    if (of_root != kNone) {
      refuse(i, "root",
             fmt::format("node '{}' is the root of two blocks that {}", plan_.nodes[block.root],
                         name_of(block.kind)));
    }
    of_root = i;
    if (!(std::isfinite(block.share) && block.share > 0)) {
      refuse(i, "share", fmt::format("a share is finite and positive, not {}", block.share));
    }
  }

  // Of an allreduce: what is combined at a root is spread from there, and nothing else.
  void check_sequence(std::size_t i) {
    const PlanBlock& block = plan_.blocks[i];
    if (block.kind == BlockKind::kCombine) {
      if (block.after) refuse(i, "after", "a block that combines waits for no other");
      return;
    }
    const std::size_t combined = blocks_of(BlockKind::kCombine)[block.root];
    if (combined == kNone || block.after != combined) {
      refuse(i, "after",
             fmt::format("expected the block before it that combines at '{}'",
                         plan_.nodes[block.root]));
    }
    if (!(std::abs(block.share - plan_.blocks[combined].share) <= kSharesMayBeOff)) {
      refuse(i, "share",
             fmt::format("it is {}, and what is combined there {}", block.share,
                         plan_.blocks[combined].share));
    }
  }

  void check_all(BlockKind kind) {
    double shares = 0;
    for (std::size_t node = 0; node < plan_.nodes.size(); ++node) {
      const std::size_t block = blocks_of(kind)[node];
      if (block != kNone) shares += plan_.blocks[block].share;
    }
    if (!(std::abs(shares - 1) <= kSharesMayBeOff)) {
      throw InputError(
          file_, "/blocks",
          fmt::format("the shares of blocks that {} sum to {}, not to 1", name_of(kind), shares));
    }
  }

  const Plan& plan_;
  const std::string& file_;
  std::array<std::vector<std::size_t>, 2> block_of_;  // by kind and node: the block, or kNone
};

}  // namespace

void check_blocks(const Plan& plan, const std::string& file) {
  if (plan.has_one_root()) {
    if (has_root(plan.operation)) return;
    throw InputError(file, "/blocks", "expected a block for each node that has a share");
  }
  if (plan.operation == Operation::kBroadcast || plan.operation == Operation::kReduce) {
    throw InputError(
        file, "/blocks",
        fmt::format("a plan for {} has trees, not blocks", with_article(plan.operation)));
  }
  BlockCheck(plan, file).run();
}

}  // namespace espalier::planner
