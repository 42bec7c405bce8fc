#include "planner/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/refusal.hpp"

namespace espalier::planner {
namespace {

using espalier::testing::refusal;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::WhenSorted;

std::vector<std::string> names_of(const std::vector<const AlgorithmEntry*>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const AlgorithmEntry* entry : entries) names.emplace_back(entry->name);
  return names;
}

TEST(Registry, EveryFieldSaysSomething) {
  for (const AlgorithmEntry& entry : algorithms()) {
    SCOPED_TRACE(entry.name);
    EXPECT_THAT(
        (std::vector{entry.name, entry.summary, entry.source, entry.complexity, entry.guarantee}),
        Each(Not(IsEmpty())));
    EXPECT_THAT(std::string(entry.source), HasSubstr("doi:10."));
    EXPECT_NE(entry.run, nullptr);
  }
}

TEST(Registry, HoldsWhatTheDesignNames) {
  EXPECT_THAT(
      names_of(parse_algorithms("all")),
      WhenSorted(::testing::IsSupersetOf(
          {"binary", "binomial", "chain", "flat", "grow", "k-chain", "optimal", "prune-refined",
           "prune-simple", "split-binary", "two-tree-complete", "two-tree-sanders"})));
}

TEST(Registry, NamesAreUniqueAndFoundAgain) {
  for (const AlgorithmEntry& entry : algorithms()) {
    EXPECT_EQ(&find_algorithm(entry.name), &entry);
  }
}

TEST(Registry, RefusesAnUnknownNameAndOffersTheNearest) {
  EXPECT_EQ(refusal([] { return find_algorithm("gorw"); }),
            "unknown algorithm 'gorw'; did you mean 'grow'?");
  EXPECT_EQ(refusal([] { return find_algorithm("xyzzy"); }), "unknown algorithm 'xyzzy'");
  EXPECT_THAT(refusal([] { return find_algorithm(""); }), HasSubstr("unknown algorithm ''"));
  EXPECT_THAT(refusal([] { return find_algorithm("GROW"); }), HasSubstr("unknown algorithm"));
}

TEST(ParseAlgorithms, AllIsTheWholeRegistryInItsOrder) {
  const auto all = parse_algorithms("all");
  ASSERT_EQ(all.size(), algorithms().size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], &algorithms()[i]);
}

TEST(ParseAlgorithms, TakesListsInTheirOrderAndRepeatsOnce) {
  EXPECT_THAT(names_of(parse_algorithms("grow")), ElementsAre("grow"));
  EXPECT_THAT(names_of(parse_algorithms("flat,chain,optimal")),
              ElementsAre("flat", "chain", "optimal"));
  EXPECT_THAT(names_of(parse_algorithms("grow,flat,grow,flat")), ElementsAre("grow", "flat"));
}

TEST(ParseAlgorithms, RefusesUnknownAndEmptyNames) {
  EXPECT_THAT(refusal([] { return parse_algorithms("grow,falt"); }),
              HasSubstr("unknown algorithm 'falt'; did you mean 'flat'?"));
  for (const std::string list : {"", "grow,", ",grow", "grow,,flat"}) {
    EXPECT_THAT(refusal([&] { return parse_algorithms(list); }), HasSubstr("unknown algorithm ''"))
        << list;
  }
}

}  // namespace
}  // namespace espalier::planner
