#include "engine/plan_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "planner/plan/send_windows.hpp"

namespace espalier::engine {
namespace {

// A rank that forwards has few buffers: what it cannot receive yet piles up in the transport's own
// memory, and must not be more than so many segments. If all sends were synchronous, links that are
// loaded in both directions would idle, as answers queue behind the data of their direction. The
// receiver of a part has memory for all of it.
void limit_ahead(std::vector<TreeRole>& paths, int receiver) {
  constexpr std::uint32_t kAhead = 32;
  for (TreeRole& path : paths) {
    for (Edge& edge : path.out) {
      if (edge.peer != receiver) edge.synchronous_every = kAhead;
    }
  }
}

// The bits of the distance in reverse. In this order of receivers, which are so many ranks behind
// the sender, all ranks send to different ones, as in the pairwise exchange; and what is sent at
// about the same time goes to all parts of the network. From the nearest to the farthest all hosts
// of a rack would send to the same other rack.
void set_places(std::vector<TreeRole>& trees, const Place& place) {
  const auto ranks = static_cast<int>(place.rank_of_node.size());
  for (TreeRole& tree : trees) {
    for (Edge& edge : tree.out) {
      const auto distance = static_cast<std::uint32_t>((edge.peer - place.rank + ranks) % ranks);
      edge.place = 0;
      for (int bit = 0; bit < 32; ++bit) edge.place = edge.place << 1 | (distance >> bit & 1U);
    }
  }
}

Kind kind_of(const planner::PlanTrees& of) {
  return of.up ? Kind::kCombine : Kind::kSpread;
}

}  // namespace

bool concerns_rank(const planner::PlanTrees& block, const Place& place) {
  const auto is_here = [&](std::uint32_t node) { return place.rank_of_node[node] == place.rank; };
  return std::ranges::any_of(*block.trees, [&](const planner::PlanTree& tree) {
    return std::ranges::any_of(tree.edges, [&](const planner::PlanEdge& edge) {
      return is_here(edge.parent) || is_here(edge.child);
    });
  });
}

Block block_of(const planner::PlanTrees& of, double most_in_flight,
               planner::SegmentAssignment assignment, const Place& place) {
  const Kind kind = kind_of(of);
  Block block{
      .is_root = place.rank == place.rank_of_node[of.root],
      .trees = roles_of(*of.trees, place.rank_of_node, place.rank, place.host_of_rank, kind),
      .assignment = std::move(assignment)};
  block.routes = of.to.has_value();
  // Short paths begin and end at the hosts of long ones, whose share of a port they would take.
  block.most_in_flight = block.routes ? most_in_flight : planner::most_bytes_in_flight(*of.trees);
  block.after = of.after;
  block.synchronous = of.up;
  if (block.routes) limit_ahead(block.trees, place.rank_of_node[*of.to]);
  set_places(block.trees, place);
  return block;
}

std::vector<TreeRounds> rounds_of(const planner::PlanTrees& of, const Place& place) {
  return rounds_of(*of.trees, of.root, place.rank_of_node, place.rank, kind_of(of));
}

std::vector<Block> routing_blocks_of(const planner::Plan& plan, const Place& place) {
  const double most_in_flight = planner::most_bytes_in_flight(plan);
  std::vector<Block> of_rank;
  std::size_t trees = 0;
  for (const planner::PlanTrees& of : planner::blocks_of(plan)) {
    if (concerns_rank(of, place)) {
      of_rank.push_back(block_of(of, most_in_flight, planner::assignment_with_lags(of), place));
      of_rank.back().first_tree = trees;
    }
    trees += of.trees->size();
  }
  return of_rank;
}

std::vector<std::size_t> divided(std::uint64_t units, std::span<const double> shares) {
  std::size_t last = shares.size() - 1;  // it gets what rounding leaves
  while (last > 0 && shares[last] == 0) --last;
  std::vector<std::size_t> counts(shares.size(), 0);
  double sum = 0;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    if (shares[i] == 0) continue;
    sum += shares[i];
    const auto rounded = static_cast<std::uint64_t>(std::round(sum * static_cast<double>(units)));
    const std::uint64_t to = i == last ? units : std::clamp(rounded, end, units);
    counts[i] = to - std::exchange(end, to);
  }
  return counts;
}

std::vector<std::size_t> divided_equally(std::uint64_t units, std::size_t parts) {
  return divided(units, std::vector<double>(parts, 1 / static_cast<double>(parts)));
}

std::vector<std::size_t> one_after_another(std::span<const std::size_t> counts) {
  std::vector<std::size_t> first(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), first.begin(), std::size_t{0});
  return first;
}

std::vector<Range> ranges_of(const planner::Plan& plan, const SegmentGrid& grid) {
  const std::vector<planner::PlanTrees> blocks = planner::blocks_of(plan);
  std::vector<double> shares;  // a block after another one has the same part
  for (const planner::PlanTrees& block : blocks) shares.push_back(block.after ? 0 : block.share);
  const std::vector<std::size_t> counts = divided(grid.message, shares);
  const std::vector<std::size_t> first = one_after_another(counts);
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& after = blocks[i].after;
    ranges.push_back(after ? ranges[*after] : Range{first[i], {counts[i], grid.segment}});
  }
  return ranges;
}

std::vector<std::uint64_t> bytes_of_blocks(const planner::Plan& plan, Bytes message) {
  std::vector<std::uint64_t> bytes;
  if (!planner::has_parts(plan.operation)) {
    for (const Range& range :
         ranges_of(plan, {message.value, std::max<std::uint64_t>(message.value, 1)})) {
      bytes.push_back(range.grid.message);
    }
    return bytes;
  }
  const bool from_each = plan.operation == planner::Operation::kAlltoall;
  const bool by_receiver = plan.operation == planner::Operation::kScatter;
  const std::vector<std::size_t> parts =
      from_each ? std::vector<std::size_t>() : divided(message.value, planner::shares_of(plan));
  for (const planner::PlanBlock& block : plan.blocks) {
    // Of an alltoall the message is what one host sends, so the parts need not add up to it.
    bytes.push_back(from_each ? static_cast<std::uint64_t>(
                                    std::round(block.share * static_cast<double>(message.value)))
                              : parts[by_receiver ? *block.to : block.root]);
  }
  return bytes;
}

}  // namespace espalier::engine
