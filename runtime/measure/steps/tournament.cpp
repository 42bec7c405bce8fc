#include "runtime/measure/steps/tournament.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace espalier::runtime::probe {

std::vector<std::vector<Flow>> tournament(std::size_t ranks) {
  if (ranks < 2) return {};
  // With an odd number of ranks the last place is empty: the rank paired with it pauses.
  const std::size_t places = ranks + ranks % 2;
  std::vector<std::vector<Flow>> rounds;
  for (std::size_t round = 0; round + 1 < places; ++round) {
    // The last place is fixed; the others rotate around a circle of places - 1.
    const auto at = [&](std::size_t place) { return (round + place) % (places - 1); };
    std::vector<Flow> pairs;
    for (std::size_t i = 0; i < places / 2; ++i) {
      Flow pair = i == 0 ? Flow{at(0), places - 1} : Flow{at(i), at(places - 1 - i)};
      if (pair.from >= ranks || pair.to >= ranks) continue;
      if ((pair.from < pair.to) != ((pair.from + pair.to) % 2 == 0)) std::swap(pair.from, pair.to);
      pairs.push_back(pair);
    }
    rounds.push_back(std::move(pairs));
  }
  return rounds;
}

std::vector<std::vector<Flow>> second_leg(const std::vector<std::vector<Flow>>& rounds,
                                          std::size_t ranks) {
  std::set<Flow> first;
  for (const auto& round : rounds) first.insert(round.begin(), round.end());
  std::vector<std::vector<Flow>> second = tournament(ranks);
  for (auto& round : second) {
    for (Flow& flow : round) {
      for (std::size_t* rank : {&flow.from, &flow.to}) *rank = (*rank + ranks / 2) % ranks;
      if (first.contains(flow)) std::swap(flow.from, flow.to);
    }
  }
  return second;
}

std::vector<std::vector<Flow>> ordered_pairs(std::size_t ranks) {
  std::vector<std::vector<Flow>> rounds = tournament(ranks);
  std::vector<std::vector<Flow>> second = second_leg(rounds, ranks);
  std::ranges::move(second, std::back_inserter(rounds));
  return rounds;
}

std::vector<Flow> circle_of(const std::vector<std::size_t>& ranks) {
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    flows.push_back({ranks[i], ranks[(i + 1) % ranks.size()]});
  }
  return flows;
}

std::vector<Flow> reversed(std::vector<Flow> flows) {
  for (Flow& flow : flows) std::swap(flow.from, flow.to);
  return flows;
}

}  // namespace espalier::runtime::probe
