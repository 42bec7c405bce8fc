#include "simulate/export/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "engine/block.hpp"
#include "planner/plan/send_windows.hpp"
#include "simulate/simulate.hpp"
#include "simulate/transport/assignments.hpp"
#include "simulate/transport/block_task.hpp"
#include "support/errors.hpp"

namespace espalier::simulate {

namespace {

using planner::PlanEdge;
using planner::PlanTree;
using planner::PlanTrees;

// An edge in the direction of the data.
struct Hop {
  std::uint32_t from;
  std::uint32_t to;
  bool is_late = false;      // on or below an exchange edge
  bool is_exchange = false;  // waits for the rest of the tree
  std::size_t before = 0;    // hops between the source of a segment and this one
};

// The hops of a tree, each after those that bring it what it carries.
std::vector<Hop> hops_of(const PlanTree& tree, const PlanTrees& block) {
  std::vector<Hop> hops;
  std::map<std::uint32_t, std::vector<std::size_t>> into;  // node -> hops
  for (const PlanEdge& edge : tree.edges) {
    const bool exchanges = std::ranges::find(tree.exchange, edge) != tree.exchange.end();
    hops.push_back({block.up ? edge.child : edge.parent, block.up ? edge.parent : edge.child,
                    exchanges, exchanges});
    into[hops.back().to].push_back(hops.size() - 1);
  }
  // As many rounds as the tree is deep.
  for (bool changes = true; changes;) {
    changes = false;
    for (Hop& hop : hops) {
      for (const std::size_t earlier : into[hop.from]) {
        const std::size_t before = hops[earlier].before + 1;
        const bool is_late = hop.is_late || hops[earlier].is_late;
        if (before <= hop.before && is_late == hop.is_late) continue;
        hop.before = std::max(hop.before, before);
        hop.is_late = is_late;
        changes = true;
      }
    }
  }
  return hops;
}

class Lister {
 public:
  Lister(const planner::Plan& plan, Bytes message, Bytes segment)
      : blocks_(planner::blocks_of(plan)), assignments_(plan) {
    result_.message = message;
    result_.ranks = plan.nodes.size();
    result_.grids = grids_of(plan, message, segment);
    result_.segment = {result_.grids.empty() ? segment.value : result_.grids.front().segment};
    if (!result_.grids.empty()) assignments_.end_at(result_.grids);
    require_bounded();
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      result_.first_tag.push_back(result_.segments);
      if (!blocks_[block].after) result_.segments += result_.grids[block].count();
    }
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const auto& after = blocks_[block].after;
      if (after) result_.first_tag[block] = result_.first_tag[*after] + result_.segments;
    }
  }

  Transfers list(std::uint64_t window) {
    std::uint32_t number = 0;
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      for (std::size_t tree = 0; tree < blocks_[block].trees->size(); ++tree) {
        add_tree(block, tree, number++);
      }
    }
    std::ranges::sort(listed_, {}, &Listed::key);
    for (Listed& one : listed_) result_.all.push_back(one.transfer);
    add_dependencies();
    add_windows(window);
    return std::move(result_);
  }

 private:
  // Late, turn, order of the blocks that share it, hops before, tree, edge.
  using Key = std::tuple<bool, double, bool, std::size_t, std::uint32_t, std::size_t>;
  struct Listed {
    Key key;
    Transfer transfer;
    bool is_exchange;
    double in_flight_bytes;  // along its edge
  };

  void require_bounded() const {
    const double count = sends_of(blocks_, result_.grids, assignments_);
    if (count == 0) throw InputError({}, "--message", "the plan sends nothing of it");
    if (count <= static_cast<double>(kMostTransfers)) return;
    throw InputError(
        {}, "--message",
        fmt::format("{:.0f} sends, more than {}; give a larger --segment", count, kMostTransfers));
  }

  // tree: of the block; number: over all blocks.
  void add_tree(std::uint32_t block, std::size_t tree, std::uint32_t number) {
    const planner::SegmentGrid& grid = result_.grids[block];
    const PlanTrees& of = blocks_[block];
    const std::vector<Hop> hops = hops_of((*of.trees)[tree], of);
    const planner::SegmentAssignment& assignment = assignments_.blocks()[block];
    for (std::uint64_t nth = 0; nth < assignment.count(tree, grid.count()); ++nth) {
      const std::uint64_t segment = assignment.segment_of(tree, nth);
      const double turn = engine::turn_of(segment, grid.count());
      for (std::size_t i = 0; i < hops.size(); ++i) {
        const Hop& hop = hops[i];
        listed_.push_back({{hop.is_late, turn, of.after.has_value(), hop.before, number, i},
                           {hop.from, hop.to, block, number, segment, grid.length(segment), of.up},
                           hop.is_exchange,
                           planner::bytes_in_flight((*of.trees)[tree], i)});
      }
    }
  }

  // A transfer needs what came to its sender before: of the same segment and block, or of the block
  // before; on an exchange edge also the tree's last one.
  void add_dependencies() {
    using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // rank, block, segment
    std::map<Place, std::vector<std::size_t>> arrived;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> last;  // rank, tree
    for (std::size_t i = 0; i < result_.all.size(); ++i) {
      Transfer& transfer = result_.all[i];
      const auto& after = blocks_[transfer.block].after;
      const auto take = [&](std::uint32_t block) {
        const auto found = arrived.find({transfer.from, block, transfer.segment});
        if (found != arrived.end()) transfer.after = found->second;
        return found != arrived.end();
      };
      if (!take(transfer.block) && after) take(static_cast<std::uint32_t>(*after));
      if (listed_[i].is_exchange) {
        const auto found = last.find({transfer.from, transfer.tree});
        const bool is_new =
            found != last.end() &&
            std::ranges::find(transfer.after, found->second) == transfer.after.end();
        if (is_new) transfer.after.push_back(found->second);
      }
      arrived[{transfer.to, transfer.block, transfer.segment}].push_back(i);
      if (!listed_[i].is_exchange) last[{transfer.to, transfer.tree}] = i;
    }
  }

  // A send ends when it has been received, so windows are larger on edges of high latency.
  void add_windows(std::uint64_t base) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::size_t>>
        sent;
    for (std::size_t i = 0; i < result_.all.size(); ++i) {
      Transfer& transfer = result_.all[i];
      std::vector<std::size_t>& edge = sent[{transfer.from, transfer.to, transfer.tree}];
      const std::uint64_t window =
          planner::send_window(base, listed_[i].in_flight_bytes, result_.segment, /*asks=*/false);
      if (edge.size() >= window) transfer.behind = edge[edge.size() - window];
      edge.push_back(i);
    }
  }

  std::vector<PlanTrees> blocks_;
  Assignments assignments_;
  Transfers result_;
  std::vector<Listed> listed_;
};

}  // namespace

Transfers transfers_of(const planner::Plan& plan, Bytes message, Bytes segment) {
  const std::uint64_t window = window_for(plan.operation);
  if (planner::has_no_data(plan.operation)) return Lister(plan, {1}, {1}).list(window);
  return Lister(plan, message, segment).list(window);
}

std::string title_of(const planner::Plan& plan, const Transfers& transfers) {
  const std::string of_message =
      planner::has_no_data(plan.operation)
          ? std::string()
          : fmt::format(" of {} in {} segments of {}", format_size(transfers.message),
                        transfers.segments, format_size(transfers.segment));
  return fmt::format("{}{}, plan {} for {}", planner::name_of(plan.operation), of_message,
                     in_quotes(plan.algorithm), in_quotes(plan.platform));
}

}  // namespace espalier::simulate
