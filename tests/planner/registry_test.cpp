#include "planner/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/refusal.hpp"

namespace espalier::planner::registry_test {
namespace {

using espalier::testing::refusal;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::WhenSorted;

std::vector<std::string> names_of(const std::vector<Algorithm>& chosen) {
  std::vector<std::string> names;
  names.reserve(chosen.size());
  for (const Algorithm& algorithm : chosen) names.push_back(algorithm.name);
  return names;
}

TEST(Registry, NoFieldIsEmpty) {
  for (const AlgorithmEntry& entry : algorithms()) {
    SCOPED_TRACE(entry.name);
    EXPECT_THAT(
        (std::vector{entry.name, entry.summary, entry.source, entry.complexity, entry.guarantee}),
        Each(Not(IsEmpty())));
    EXPECT_THAT(std::string(entry.source), HasSubstr("doi:10."));
    EXPECT_NE(entry.run, nullptr);
  }
}

TEST(Registry, ContainsTheAlgorithmsOfTheDesign) {
  EXPECT_THAT(
      names_of(parse_algorithms("all")),
      WhenSorted(::testing::IsSupersetOf(
          {"best-tree", "binary", "binomial", "chain", "ecef", "exact-tree", "flat", "fnf", "grow",
           "hierarchical", "k-chain", "lp-grow", "lp-prune", "optimal", "prune-refined",
           "prune-simple", "split-binary", "two-tree-complete", "two-tree-sanders"})));
}

TEST(Registry, NamesAreUniqueAndFoundAgain) {
  for (const AlgorithmEntry& entry : algorithms()) {
    for (const Operation operation : kOperations) {
      if (!entry.does(operation)) continue;
      const Algorithm found = find_algorithm(entry.name, operation);
      EXPECT_EQ(found.entry, &entry);
      EXPECT_EQ(found.name, entry.name);
    }
  }
}

TEST(Registry, RefusesAnUnknownNameAndOffersTheNearest) {
  EXPECT_EQ(refusal([] { return find_algorithm("gorw"); }),
            "unknown algorithm 'gorw'; did you mean 'grow'?");
  EXPECT_EQ(refusal([] { return find_algorithm("xyzzy"); }), "unknown algorithm 'xyzzy'");
  EXPECT_THAT(refusal([] { return find_algorithm(""); }), HasSubstr("unknown algorithm ''"));
  EXPECT_THAT(refusal([] { return find_algorithm("GROW"); }), HasSubstr("unknown algorithm"));
}

TEST(InnerAlgorithm, IsNamedAfterAColonAndDefaultsToBinomial) {
  const Algorithm over_grow = find_algorithm("hierarchical:grow");
  EXPECT_EQ(over_grow.name, "hierarchical:grow");
  EXPECT_EQ(over_grow.entry->name, "hierarchical");
  EXPECT_EQ(over_grow.inner->name, "grow");
  EXPECT_EQ(find_algorithm("hierarchical").inner->name, "binomial");
  EXPECT_EQ(find_algorithm("hierarchical"), find_algorithm("hierarchical:binomial"));
  EXPECT_FALSE(find_algorithm("hierarchical") == over_grow);
  EXPECT_EQ(find_algorithm("grow").inner, nullptr);
}

TEST(InnerAlgorithm, SingleTreesAndTwoTreesCanBeInner) {
  for (const AlgorithmEntry& outer : algorithms()) {
    for (const AlgorithmEntry& inner : algorithms()) {
      const std::string name = std::string(outer.name) + ':' + std::string(inner.name);
      const bool joins = !inner.several_trees || inner.joins_trees;
      if (outer.takes_inner() && !inner.takes_inner() && joins) {
        EXPECT_EQ(find_algorithm(name).inner, &inner);
      } else {
        EXPECT_THROW(static_cast<void>(find_algorithm(name)), InputError) << name;
      }
    }
  }
}

// A barrier has one tree.
TEST(InnerAlgorithm, TwoTreesAreNotForABarrier) {
  EXPECT_EQ(find_algorithm("hierarchical:two-tree-complete", Operation::kReduce).inner->name,
            "two-tree-complete");
  EXPECT_THROW(
      static_cast<void>(find_algorithm("hierarchical:two-tree-complete", Operation::kBarrier)),
      InputError);
}

TEST(InnerAlgorithm, RefusesAlgorithmsThatCannotBeInner) {
  const auto reason = [](const char* name) {
    return refusal([&] { return find_algorithm(name); });
  };
  EXPECT_THAT(reason("hierarchical:hierarchical:binomial"),
              HasSubstr("algorithm 'hierarchical:hierarchical:binomial': 'hierarchical' cannot be "
                        "the inner algorithm, because it takes one itself; use one of: "));
  EXPECT_THAT(reason("reorder:hierarchical"),
              HasSubstr("because it takes one itself; use one of: "));
  EXPECT_THAT(
      reason("hierarchical:optimal"),
      HasSubstr(
          "'optimal' cannot be the inner algorithm, because it makes several trees; use one of: "));
  EXPECT_THAT(reason("hierarchical:gorw"),
              HasSubstr("algorithm 'hierarchical:gorw': unknown inner algorithm 'gorw'; did you "
                        "mean 'grow'?"));
  EXPECT_THAT(reason("hierarchical:"), HasSubstr("unknown inner algorithm ''"));
  EXPECT_THAT(reason("hierarchical:grow:flat"), HasSubstr("unknown inner algorithm 'grow:flat'"));
  EXPECT_EQ(reason("grow:flat"),
            "algorithm 'grow:flat': 'grow' takes no inner algorithm; these do: hierarchical, "
            "hierarchical-node, hierarchical-group, reorder");
  EXPECT_EQ(reason("hierarhical:grow"),
            "unknown algorithm 'hierarhical'; did you mean 'hierarchical'?");
}

TEST(ParseAlgorithms, AllGivesEveryEntryThatServesTheOperationInRegistryOrder) {
  for (const Operation operation : kOperations) {
    std::vector<std::string> names;
    for (const AlgorithmEntry& entry : algorithms()) {
      if (entry.does(operation)) names.emplace_back(entry.name);
    }
    EXPECT_EQ(names_of(parse_algorithms("all", operation)), names);
  }
}

TEST(Service, ListsTheAlgorithmsOfEachOperation) {
  const auto all = [](Operation operation) { return names_of(parse_algorithms("all", operation)); };
  using ::testing::Contains;
  using ::testing::IsSupersetOf;
  EXPECT_THAT(all(Operation::kBroadcast),
              IsSupersetOf({"optimal", "chain", "split-binary", "fnf", "ecef", "ecef-lookahead"}));
  EXPECT_THAT(all(Operation::kBroadcast), Not(Contains("two-tree-complete+sanders")));
  for (const std::string name : {"split-binary", "fnf", "ecef", "ecef-lookahead"}) {
    EXPECT_THAT(all(Operation::kReduce), Not(Contains(name)));
    EXPECT_THAT(all(Operation::kAllreduce), Not(Contains(name)));
  }
  EXPECT_THAT(all(Operation::kReduce), Not(Contains("two-tree-complete+complete")));
  EXPECT_THAT(all(Operation::kAllreduce),
              IsSupersetOf({"optimal", "two-tree-complete", "two-tree-complete+complete",
                            "two-tree-complete+sanders", "hierarchical"}));
}

TEST(Service, RefusesAnAlgorithmThatDoesNotServe) {
  EXPECT_THAT(refusal([] { return find_algorithm("fnf", Operation::kReduce); }),
              HasSubstr("algorithm 'fnf' makes no trees for a reduce; these do: optimal, "));
  EXPECT_THAT(refusal([] { return find_algorithm("hierarchical:fnf", Operation::kAllreduce); }),
              HasSubstr("algorithm 'fnf' makes no trees for an allreduce; these do: "));
  EXPECT_THAT(refusal([] { return find_algorithm("two-tree-complete+sanders"); }),
              HasSubstr("makes no trees for a broadcast; these do: "));
}

TEST(ParseAlgorithms, KeepsTheOrderOfAListAndDropsRepeats) {
  EXPECT_THAT(names_of(parse_algorithms("grow")), ElementsAre("grow"));
  EXPECT_THAT(names_of(parse_algorithms("flat,chain,optimal")),
              ElementsAre("flat", "chain", "optimal"));
  EXPECT_THAT(names_of(parse_algorithms("grow,flat,grow,flat")), ElementsAre("grow", "flat"));
  EXPECT_THAT(names_of(parse_algorithms(
                  "reorder:chain,reorder:binomial,reorder,reorder:chain,reorder:grow")),
              ElementsAre("reorder:chain", "reorder:binomial", "reorder:grow"));
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
}  // namespace espalier::planner::registry_test
