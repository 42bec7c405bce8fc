#include "runtime/measure/steps/tournament.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace espalier::runtime::probe::tournament_test {
namespace {

class Tournament : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Tournament, EveryPairOccursOnceAndNoRankTwiceInARound) {
  const std::size_t ranks = GetParam();
  std::set<Flow> met;
  const auto rounds = tournament(ranks);
  EXPECT_EQ(rounds.size(), ranks % 2 == 0 ? ranks - 1 : ranks);
  for (const auto& round : rounds) {
    EXPECT_EQ(round.size(), ranks / 2);
    std::set<std::size_t> busy;
    for (const Flow& pair : round) {
      EXPECT_LT(std::max(pair.from, pair.to), ranks);
      EXPECT_TRUE(busy.insert(pair.from).second && busy.insert(pair.to).second);
      EXPECT_TRUE(met.insert(pair).second);
    }
    // The reverse direction uses the same round reversed, so each ordered pair occurs once.
    for (const Flow& pair : reversed(round)) EXPECT_TRUE(met.insert(pair).second);
  }
  EXPECT_EQ(met.size(), ranks * (ranks - 1));
}

TEST_P(Tournament, TheSecondLegHasTheSamePairsReversed) {
  const std::size_t ranks = GetParam();
  const auto rounds = tournament(ranks);
  const auto second = second_leg(rounds, ranks);
  std::set<Flow> met;
  for (const auto& round : rounds) met.insert(round.begin(), round.end());
  for (const auto& round : second) {
    std::set<std::size_t> busy;
    for (const Flow& pair : round) {
      EXPECT_LT(std::max(pair.from, pair.to), ranks);
      EXPECT_TRUE(busy.insert(pair.from).second && busy.insert(pair.to).second);
      EXPECT_TRUE(met.insert(pair).second);
    }
  }
  EXPECT_EQ(met.size(), ranks * (ranks - 1));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Tournament, ::testing::Values(2, 3, 4, 5, 6, 7, 8, 31, 64));

TEST(TournamentOfFew, HasNoRounds) {
  EXPECT_TRUE(tournament(0).empty());
  EXPECT_TRUE(tournament(1).empty());
}

}  // namespace
}  // namespace espalier::runtime::probe::tournament_test
