#include "tests/engine/adversary_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "planner/plan/send_windows.hpp"
#include "tests/engine/adversary_stores.hpp"
#include "tests/engine/adversary_trees.hpp"
#include "tests/support/schedules.hpp"

namespace espalier::testing::adversary {

std::vector<bool> CaseBlock::trees_of(int rank) const {
  std::vector<bool> of_rank;
  for (const planner::PlanTree& tree : trees) {
    of_rank.push_back(std::ranges::any_of(tree.edges, [&](const planner::PlanEdge& edge) {
      return static_cast<int>(edge.parent) == rank || static_cast<int>(edge.child) == rank;
    }));
  }
  return of_rank;
}

bool CaseBlock::has_member(int rank) const {
  return std::ranges::find(members, rank) != members.end();
}

Case::Case(Random& random) {
  ranks = static_cast<int>(1 + below(7, random));
  choose_blocks(random);
  choose_options(random);
  choose_faults(random);
  if (slots) {
    assignments = slots->assignments();
    return;
  }
  for (const CaseBlock& block : blocks) {
    assignments.push_back(planner::assignment_for(block.trees));
  }
}

int Case::any_rank(Random& random) const {
  return static_cast<int>(below(static_cast<std::uint64_t>(ranks), random));
}

void Case::add_block(engine::Kind kind, int root, Random& random) {
  CaseBlock& block = blocks.emplace_back();
  block.kind = kind;
  block.root = root;
  for (int rank = 0; rank < ranks; ++rank) block.members.push_back(rank);
  std::swap(block.members[0], block.members[static_cast<std::size_t>(root)]);
  block.range.grid.segment = 1 + below(4, random);
  block.range.grid.message = below(chance(20, random) ? 8 : 80, random);
}

void Case::add_copies(Random& random) {
  CaseBlock copies = blocks.back();
  copies.kind = engine::Kind::kSpread;
  copies.after = blocks.size() - 1;
  choose_trees(copies, random);
  blocks.push_back(std::move(copies));
}

void Case::choose_trees(CaseBlock& block, Random& random) const {
  if (block.in_rounds) {
    block.trees = colored_trees(block.members, random);
    return;
  }
  block.trees.clear();
  const bool has_latencies = chance(25, random);
  const bool has_exchanges = !block.combines() && chance(15, random);
  const bool has_helpers = !block.combines() && !block.after && chance(20, random);
  for (std::size_t left = 1 + below(blocks.size() > 3 ? 2 : 4, random); left > 0; --left) {
    const std::vector<int> members = has_helpers ? some_of(block.members, random) : block.members;
    planner::PlanTree& tree = block.trees.emplace_back(random_tree(members, 9, random));
    if (has_latencies) add_latencies(tree, random);
    if (!has_exchanges) continue;
    std::ranges::copy_if(tree.edges, std::back_inserter(tree.exchange),
                         [&](const auto&) { return chance(30, random); });
  }
}

// Broadcasts, reductions, allreduces; all-to-all collectives with a block for each rank; anything.
void Case::choose_blocks(Random& random) {
  using engine::Kind;
  const std::uint64_t shape = below(ranks == 1 ? 5 : 15, random);  // one rank combines nothing
  if (shape >= 12) return choose_routes(random);
  if (shape == 0) return choose_schedule(random);
  const bool in_rounds = shape == 1 || chance(10, random);
  const auto add = [&](Kind kind, int root, bool of_all) {
    add_block(kind, root, random);
    blocks.back().in_rounds = in_rounds;
    const std::size_t least = kind == Kind::kCombine ? 2 : 1;
    while (!of_all && !in_rounds && blocks.back().members.size() > least && chance(20, random)) {
      blocks.back().members.pop_back();
    }
    choose_trees(blocks.back(), random);
  };
  if (shape <= 4) return add(Kind::kSpread, any_rank(random), chance(80, random));
  if (shape == 5) return add(Kind::kCombine, any_rank(random), chance(80, random));
  if (shape <= 7) {
    add(Kind::kCombine, any_rank(random), chance(80, random));
    return add_copies(random);
  }
  const bool each = shape <= 9;
  std::uint64_t first = 0;
  for (int i = 0; i < (each ? ranks : 1 + static_cast<int>(below(4, random))); ++i) {
    const Kind kind = (each ? shape == 8 : chance(50, random)) ? Kind::kSpread : Kind::kCombine;
    add(kind, each ? i : any_rank(random), each);
    engine::Range& range = blocks.back().range;
    range.grid.message = below(3, random) * range.grid.message / 4;
    range.first = std::exchange(first, first + range.grid.message);
    if (!each && kind == Kind::kCombine && chance(60, random)) add_copies(random);
  }
}

void Case::add_route(int from, int to, Random& random) {
  add_block(engine::Kind::kSpread, from, random);
  CaseBlock& block = blocks.back();
  block.to = to;
  for (std::size_t left = 1 + below(blocks.size() > 3 ? 2 : 3, random); left > 0; --left) {
    block.trees.push_back(random_path(from, to, ranks, random));
    if (chance(20, random)) add_latencies(block.trees.back(), random);
  }
}

void Case::choose_routes(Random& random) {
  using engine::Kind;
  const std::uint64_t shape = below(4, random);
  const int root = any_rank(random);
  for (int one = 0; one < ranks && shape < 3; ++one) {  // scatter, gather, alltoall
    for (int other = 0; other < ranks; ++other) {
      if (one == other || (shape != 2 && one != root)) continue;
      if (chance(shape == 2 && ranks > 3 ? 70 : 10, random)) continue;  // no share
      add_route(shape == 1 ? other : one, shape == 1 ? one : other, random);
    }
  }
  for (std::uint64_t left = shape == 3 ? 1 + below(5, random) : 0; left > 0; --left) {
    const std::uint64_t kind = below(4, random);
    const int other =
        (root + 1 + static_cast<int>(below(static_cast<std::uint64_t>(ranks - 1), random))) % ranks;
    if (kind < 2) {
      add_route(kind == 0 ? root : other, kind == 0 ? other : root, random);
    } else {
      add_block(kind == 2 ? Kind::kSpread : Kind::kCombine, any_rank(random), random);
      choose_trees(blocks.back(), random);
    }
  }
  if (blocks.empty()) add_route(root, (root + 1) % ranks, random);
  divide(random);
}

void Case::divide(Random& random) {
  std::uint64_t first = 0;
  for (CaseBlock& block : blocks) {
    if (blocks.size() > 6) block.range.grid.message %= 24;
    block.range.first = std::exchange(first, first + block.range.grid.message);
  }
  constexpr std::uint64_t kRoom = 16;  // for the longer message of a call that differs
  if (chance(50, random)) shift = first + kRoom;
  if (chance(50, random)) most_forwarded = 1 + below(4, random);
  is_sparse = chance(70, random);
  synchronous_every = static_cast<std::uint32_t>(below(4, random));
}

void Case::choose_schedule(Random& random) {
  const bool combines = ranks > 1 && chance(60, random);
  add_block(combines ? engine::Kind::kCombine : engine::Kind::kSpread, any_rank(random), random);
  if (combines && chance(60, random)) add_copies(random);
  for (CaseBlock& block : blocks) {
    block.trees.clear();
    for (std::uint64_t left = 1 + below(3, random); left > 0; --left) {
      block.trees.push_back(random_tree(block.members, 9, random));
      if (chance(10, random)) add_latencies(block.trees.back(), random);
    }
  }
  const CaseBlock& first = blocks.front();
  planner::Plan plan = plan_from(first.trees, first.members.size(), first.root);
  if (combines) {
    plan.operation =
        blocks.size() > 1 ? planner::Operation::kAllreduce : planner::Operation::kReduce;
    plan.reduce_trees = std::exchange(plan.broadcast_trees, {});
    if (blocks.size() > 1) plan.broadcast_trees = blocks.back().trees;
  }
  plan.segment = {first.range.grid.segment};
  plan.schedule = random_schedule(plan, random);
  slots.emplace(plan);
}

void Case::choose_options(Random& random) {
  options.sends_in_flight = 1 + below(3, random);
  options.receives_in_flight = 1 + below(4, random);
  copies_synchronously = slots.has_value() || chance(20, random);
  if (chance(30, random)) options.costs.eager = Bytes{below(5, random) * sizeof(Element)};
  for (CaseBlock& block : blocks) {
    if (block.combines() && chance(20, random)) {
      block.least_in_flight = Bytes{below(200, random) * sizeof(Element)};
    }
  }
  const bool in_rounds = std::ranges::any_of(blocks, &CaseBlock::in_rounds);
  const bool can_have_ports = routes_all() || !routes_any();
  if (!in_rounds && !slots && can_have_ports && chance(30, random))
    options.ports = 1 + below(3, random);
  options.crowd = {below(4, random), Bytes{below(40, random) * sizeof(Element)}};
  const std::uint64_t least = in_rounds ? 2 : slots ? slots->buffer_segments() : 1;
  if (copies_only() && options.ports == 0 && chance(60, random))
    capacity = least + below(4, random);
  in_place = chance(40, random);
}

void Case::choose_faults(Random& random) {
  compares_calls = chance(60, random);
  for (int rank = 0; rank < ranks; ++rank) {
    risks.push_back(compares_calls ? static_cast<engine::Risk>(below(3, random))
                                   : engine::Risk::kNone);
  }
  stoppable = copies_only() && options.ports == 0 && chance(30, random);
  if (stoppable && chance(70, random)) {
    failing = any_rank(random);
    fails_after = below(blocks.front().range.grid.count() + 1, random);
  } else if (compares_calls && ranks > 1 && !stoppable && !slots && chance(15, random)) {
    odd = any_rank(random);
  } else if (ranks > 1 && chance(15, random)) {
    frozen = any_rank(random);
    freezes_after = below(100, random);
  }
}

bool Case::combines_any() const {
  return std::ranges::any_of(blocks, &CaseBlock::combines);
}

bool Case::routes_all() const {
  return std::ranges::all_of(blocks, [](const CaseBlock& block) { return block.to.has_value(); });
}

bool Case::routes_any() const {
  return std::ranges::any_of(blocks, [](const CaseBlock& block) { return block.to.has_value(); });
}

bool Case::copies_only() const {
  return blocks.size() == 1 && !combines_any() && !routes_any();
}

std::optional<SendLimit> Case::limit_at(int rank) const {
  if (!routes_all()) return std::nullopt;
  if (options.ports != 0) return SendLimit{options.ports, UINT64_MAX};
  std::set<std::uint32_t> to;
  std::set<std::uint32_t> from;
  std::uint64_t bytes = 0;
  const std::vector<engine::Range> ranges = ranges_of(rank);
  std::size_t nth = 0;
  for (const std::size_t i : blocks_at(rank)) {
    const std::uint64_t elements = ranges[nth++].grid.message;
    if (planner::most_bytes_in_flight(blocks[i].trees) > 0) return std::nullopt;
    if (blocks[i].root == rank) bytes += elements * sizeof(Element);
    for (const planner::PlanTree& tree : blocks[i].trees) {
      for (const auto [parent, child] : tree.edges) {
        if (static_cast<int>(parent) == rank && blocks[i].root == rank) to.insert(child);
        if (static_cast<int>(child) == rank) from.insert(parent);
      }
    }
  }
  const engine::Crowd& crowd = options.crowd;
  if (std::min(to.size(), from.size()) <= crowd.most || bytes < crowd.from.value || crowd.most == 0)
    return {};
  return SendLimit{crowd.most, 1};
}

std::vector<std::size_t> Case::blocks_at(int rank) const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::vector<bool> trees = blocks[i].trees_of(rank);
    const bool concerns_rank = std::ranges::find(trees, true) != trees.end();
    if (!is_sparse || !blocks[i].to || concerns_rank) all.push_back(i);
  }
  return all;
}

bool Case::is_final(std::size_t block) const {
  return std::ranges::none_of(blocks, [&](const CaseBlock& of) { return of.after == block; });
}

engine::Block Case::block_of(std::size_t block, int rank) const {
  const CaseBlock& of = blocks[block];
  std::vector<int> rank_of_node(static_cast<std::size_t>(ranks));
  std::iota(rank_of_node.begin(), rank_of_node.end(), 0);
  engine::Block made{.is_root = rank == of.root,
                     .trees = engine::roles_of(of.trees, rank_of_node, rank, {}, of.kind),
                     .assignment = assignments[block]};
  made.after = of.after;  // nothing is left out where blocks are after others
  made.first_tree = 0;
  for (std::size_t i = 0; i < block; ++i) *made.first_tree += blocks[i].trees.size();
  made.routes = of.to.has_value();
  made.synchronous = of.combines() || copies_synchronously;
  made.least_in_flight = of.least_in_flight;
  made.most_in_flight = planner::most_bytes_in_flight(of.trees);
  if (of.in_rounds) {
    made.rounds = engine::rounds_of(of.trees, static_cast<std::uint32_t>(of.root), rank_of_node,
                                    rank, of.kind);
  }
  for (engine::TreeRole& role : made.trees) {
    for (engine::Edge& edge : role.in) {
      if (!of.after) edge.risk = risks[static_cast<std::size_t>(rank)];
    }
    for (engine::Edge& edge : role.out) {
      if (of.to && edge.peer != *of.to) edge.synchronous_every = synchronous_every;
      edge.place = static_cast<std::uint32_t>((edge.peer - rank + ranks) % ranks);
    }
  }
  return made;
}

std::vector<engine::Range> Case::ranges_of(int rank) const {
  std::vector<engine::Range> all;
  for (const std::size_t i : blocks_at(rank)) {
    all.push_back(blocks[i].range);
    if (blocks[i].to && rank != blocks[i].root) all.back().first += shift;
  }
  if (rank != odd || all.empty()) return all;
  const auto change = [&](std::size_t block) {
    std::uint64_t& length = all[block].grid.message;
    length = length > 40 ? length / 3 : length + 7;
  };
  change(all.size() - 1);
  if (blocks.back().after) change(*blocks.back().after);
  return all;
}

engine::Message Case::message() const {
  engine::Message made{.element_bytes = sizeof(Element), .stoppable = stoppable};
  made.is_risky = combines_any() && std::ranges::any_of(blocks, [](const CaseBlock& block) {
                    return block.range.grid.segment == 1;
                  });
  return made;
}

std::string Case::shape() const {
  std::string text = fmt::format("{} ranks; ", ranks);
  for (const CaseBlock& block : blocks) {
    text +=
        fmt::format("{}{} {} from {} in segments of {} at rank {}{}:", block.after ? "then " : "",
                    block.to           ? fmt::format("route to {}", *block.to)
                    : block.combines() ? "combine"
                                       : "copy",
                    block.range.grid.message, block.range.first, block.range.grid.segment,
                    block.root, block.in_rounds ? " in rounds" : "");
    for (const planner::PlanTree& tree : block.trees) {
      text += " [";
      for (const auto [parent, child] : tree.edges) text += fmt::format(" {}>{}", parent, child);
      text += fmt::format("{} ]", tree.exchange.empty() ? "" : " with exchange edges");
    }
    text += "; ";
  }
  return text +
         fmt::format(
             "windows {} out, {} in; ports {}, a crowd of {}{}{}; buffers {}; fails {}, odd {}, "
             "frozen {}{}",
             options.sends_in_flight, options.receives_in_flight, options.ports, options.crowd.most,
             slots ? "; by schedule" : "", in_place ? "; in place" : "", capacity.value_or(0),
             failing, odd, frozen, compares_calls ? "; compares calls" : "");
}

std::uint64_t expected_sum(const CaseBlock& of, const planner::PlanTree& tree, std::uint64_t at) {
  const std::function<Element(std::uint32_t)> sum_at = [&](std::uint32_t node) {
    Element sum = own_element(static_cast<int>(node), at);
    for (const auto [parent, child] : tree.edges) {
      if (parent == node) sum = combined(sum, sum_at(child));
    }
    return sum;
  };
  return sum_at(static_cast<std::uint32_t>(of.root));
}

}  // namespace espalier::testing::adversary
