// Chains of edges that make way for each other, of lp/fabric/routing.hpp.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "lp/fabric/routing.hpp"

namespace espalier::lp {

namespace {

constexpr std::size_t kMostMoves = 2000;  // that are tried for a chain

}  // namespace

// Rows of links between switches only: others have no other way.
std::vector<std::vector<Routes::Place>> Routes::edges_by_row() const {
  std::vector<std::vector<Place>> places(load_.size());
  for (std::uint32_t tree = 0; tree < paths_.size(); ++tree) {
    for (std::uint32_t edge = 0; edge < paths_[tree].size(); ++edge) {
      const Path& path = paths_[tree][edge];
      for (std::size_t link = 1; link + 1 < path.size(); ++link) {
        for (auto use = uses(path[link]); use; ++use) {
          places[static_cast<std::size_t>(use.row())].push_back({tree, edge});
        }
      }
    }
  }
  return places;
}

// Of the fewest links, the cheapest by each link out of the first switch.
std::vector<Routes::Path> Routes::ways_of(HostEdge edge) {
  std::vector<Path> ways;
  const auto [from, to] = std::pair(switch_of(edge.parent), switch_of(edge.child));
  count_links(from, to);
  std::vector<std::uint32_t> firsts = out_[from];
  std::erase_if(firsts, [&, links = links_to_[from]](std::uint32_t arc) {
    return links_to_[graph_->head[arc]] >= links;
  });
  for (const std::uint32_t first : firsts) {
    ways.push_back(with_ends(edge, between(graph_->head[first], to, 0)));
    ways.back().insert(ways.back().begin() + 1, first);
  }
  return ways;
}

// Ways for edges that use the row, onto which nothing is overfull, or one other row; those first
// that go where the last move has made room.
std::vector<Routes::Move> Routes::moves_from(std::uint32_t row, std::span<const Place> places,
                                             std::span<const Move> moved) {
  std::vector<Move> moves;
  for (const Place place : places) {
    const auto is_same = [&](const Move& move) {
      return move.tree == place.tree && move.edge == place.edge;
    };
    if (std::ranges::any_of(moved, is_same)) continue;
    const Path path = paths_[place.tree][place.edge];
    add(path, -rate_);
    for (Path& way : ways_of(edges_[place.tree][place.edge])) {
      const std::vector<std::uint32_t> rows = rows_overfull_by(way);
      if (rows.size() > 1 || (!rows.empty() && rows.front() == row)) continue;
      moves.push_back(
          {place.tree, place.edge, std::move(way), rows.empty() ? kNone : rows.front()});
    }
    add(path, rate_);
  }
  const auto rank = [&](const Move& move) {
    if (move.overfull == kNone) return 0;
    const bool fills = !moved.empty() && std::ranges::any_of(move.path, [&](std::uint32_t arc) {
      return std::ranges::find(moved.back().path, arc) != moved.back().path.end();
    });
    return fills ? 1 : 2;
  };
  std::ranges::stable_sort(moves, {}, rank);
  return moves;
}

void Routes::exchange(Move& move) {
  Path& path = paths_[move.tree][move.edge];
  add(path, -rate_);
  add(move.path, rate_);
  std::swap(path, move.path);
}

// Depth first: a move, and others as long as each makes a row overfull. False: none was found, and
// all is as before.
bool Routes::chain_from(std::uint32_t row, std::span<const std::vector<Place>> places,
                        const Deadline& deadline) {
  const double before = excess();
  std::vector<Move> moved;
  std::vector<std::vector<Move>> open{moves_from(row, places[row], {})};
  for (std::size_t tries = 0; tries < kMostMoves && !deadline.passed(); ++tries) {
    if (open.back().empty()) {
      open.pop_back();
      if (open.empty()) break;
      exchange(moved.back());
      moved.pop_back();
      continue;
    }
    moved.push_back(std::move(open.back().front()));
    open.back().erase(open.back().begin());
    exchange(moved.back());
    const std::uint32_t next = moved.back().overfull;
    if (next == kNone && excess() < before - kFabricRounding) return true;
    open.push_back(next == kNone ? std::vector<Move>{} : moves_from(next, places[next], moved));
  }
  for (; !moved.empty(); moved.pop_back()) exchange(moved.back());
  return false;
}

void Routes::take_short_ways() {
  for (std::size_t tree = 0; tree < edges_.size(); ++tree) {
    for (std::size_t i = 0; i < edges_[tree].size(); ++i) {
      const HostEdge edge = edges_[tree][i];
      Path& path = paths_[tree][i];
      count_links(switch_of(edge.parent), switch_of(edge.child));
      if (path.size() == links_to_[switch_of(edge.parent)] + 2) continue;
      add(path, -rate_);
      path = with_ends(edge, between(switch_of(edge.parent), switch_of(edge.child), 0));
      add(path, rate_);
    }
  }
}

void Routes::move_in_chains(const Deadline& deadline) {
  std::vector<std::vector<Place>> places = edges_by_row();
  for (std::uint32_t row = 0; row < load_.size(); ++row) {
    while (is_overfull(row)) {
      if (!chain_from(row, places, deadline)) return;
      places = edges_by_row();
    }
  }
}

void Routes::make_way_in_chains(const Deadline& deadline) {
  Routes trial = *this;
  trial.take_short_ways();
  trial.move_in_chains(deadline);
  if (trial.excess() == 0) *this = std::move(trial);
}

}  // namespace espalier::lp
