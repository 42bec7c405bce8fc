#include "planner/plan/block_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
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
    if (plan_.operation == Operation::kBroadcast) return check_members();
    for (std::size_t i = 0; i < plan_.blocks.size(); ++i) {
      take(i);
      if (plan_.operation == Operation::kAllreduce) {
        check_sequence(i);
      } else if (plan_.blocks[i].after) {
        refuse(i, "after", "a block of this operation waits for no other");
      }
    }
    if (routes(plan_.operation)) return check_routes();
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

  // A broadcast has a block only where some of the nodes help.
  void check_members() const {
    if (plan_.blocks.size() > 1) refuse(1, "root", "a broadcast has one block");
    const PlanBlock& block = plan_.blocks.front();
    if (block.kind != BlockKind::kSpread) refuse(0, "kind", "a broadcast has a block that spreads");
    require_node(0, "root", block.root);
    if (block.share != 1) refuse(0, "share", "the only block has the whole message");
    if (block.after) refuse(0, "after", "a block of this operation waits for no other");
    if (block.members.empty()) refuse(0, "members", "expected the nodes that the message is for");
    for (std::size_t k = 0; k < block.members.size(); ++k) {
      require_node(0, "members", block.members[k]);
      if (block.members[k] == block.root || (k > 0 && block.members[k] <= block.members[k - 1])) {
        refuse(0, "members", "a member is named once, and is not the root");
      }
    }
    if (plan_.nodes[block.root] != plan_.source) {
      throw InputError(file_, "/source",
                       fmt::format("it is '{}', and the block's root '{}'", plan_.source,
                                   plan_.nodes[block.root]));
    }
  }

  void take(std::size_t i) {
    const PlanBlock& block = plan_.blocks[i];
    if (!block.members.empty()) {
      refuse(i, "members", "expected every node but the root: only a broadcast may have helpers");
    }
    if (!has_blocks_of(block.kind, plan_.operation)) {
      refuse(i, "kind",
             fmt::format("{} has no blocks that {}", with_article(plan_.operation),
                         name_of(block.kind)));
    }
    require_node(i, "root", block.root);
    if (!(std::isfinite(block.share) && block.share > 0)) {
      refuse(i, "share", fmt::format("a share is finite and positive, not {}", block.share));
    }
    if (block.kind == BlockKind::kRoute) return;
    std::size_t& of_root = blocks_of(block.kind)[block.root];
    if (of_root != kNone) {
      refuse(i, "root",
             fmt::format("node '{}' is the root of two blocks that {}", plan_.nodes[block.root],
                         name_of(block.kind)));
    }
    of_root = i;
  }

  void require_node(std::size_t i, const std::string& key, std::uint32_t node) const {
    if (node < plan_.nodes.size()) return;
    refuse(i, key,
           fmt::format("node {} is out of range: the plan has {} nodes", node, plan_.nodes.size()));
  }

  // A part goes from one node to another in one block, and all of them have the operation's root.
  void check_routes() const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> named;
    double shares = 0;
    for (std::size_t i = 0; i < plan_.blocks.size(); ++i) {
      const PlanBlock& block = plan_.blocks[i];
      if (!block.to) refuse(i, "members", "expected the node that the part is for");
      require_node(i, "members", *block.to);
      if (*block.to == block.root) refuse(i, "members", "the root itself is none of them");
      if (!named.emplace(block.root, *block.to).second) {
        refuse(i, "members",
               fmt::format("a second block from '{}' to '{}'", plan_.nodes[block.root],
                           plan_.nodes[*block.to]));
      }
      const PlanBlock& first = plan_.blocks.front();
      if (plan_.operation == Operation::kScatter && block.root != first.root) {
        refuse(i, "root", "all parts of a scatter come from the same node");
      }
      if (plan_.operation == Operation::kGather && *block.to != *first.to) {
        refuse(i, "members", "all parts of a gather go to the same node");
      }
      shares += block.share;
    }
    // Of a plan that was read it is always that.
    const std::string root = root_of_routes(plan_);
    if (plan_.source != root) {
      throw InputError(file_, "/source",
                       fmt::format("it is '{}', and the blocks' root '{}'", plan_.source, root));
    }
    const double most =
        plan_.operation == Operation::kAlltoall ? static_cast<double>(plan_.nodes.size()) : 1.0;
    if (!(shares <= most * (1 + kSharesMayBeOff))) {
      throw InputError(file_, "/blocks",
                       fmt::format("the shares sum to {}, to more than {}", shares, most));
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

std::string root_of_routes(const Plan& plan) {
  if (plan.blocks.empty() || plan.operation == Operation::kAlltoall) return {};
  const PlanBlock& block = plan.blocks.front();
  return plan.nodes[plan.operation == Operation::kGather ? block.to.value_or(0) : block.root];
}

void check_blocks(const Plan& plan, const std::string& file) {
  if (plan.has_one_root()) {
    if (!has_parts(plan.operation)) return;
    throw InputError(file, "/blocks", "expected a block for each part");
  }
  if (plan.operation == Operation::kReduce) {
    throw InputError(
        file, "/blocks",
        fmt::format("a plan for {} has trees, not blocks", with_article(plan.operation)));
  }
  BlockCheck(plan, file).run();
}

}  // namespace espalier::planner
