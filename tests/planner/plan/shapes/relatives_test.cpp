#include "planner/plan/shapes/relatives.hpp"

#include <gmock/gmock.h>

#include "planner/plan/shapes/oblivious_shapes.hpp"

namespace espalier::planner::relatives_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Named {
  const char* name;
  ObliviousShape shape;
};
constexpr Named kNamed[] = {{"chain", chain_shape},
                            {"binary", binary_shape},
                            {"binomial", binomial_shape},
                            {"two-tree-complete", two_tree_complete_shape},
                            {"two-tree-sanders", two_tree_sanders_shape}};

// What a shape's edges say of a rank, with the root in place of rank' 0.
std::vector<Relatives> from_edges(const std::vector<ObliviousTree>& trees, std::uint32_t ranks,
                                  std::uint32_t root, std::uint32_t rank) {
  std::vector<Relatives> all;
  for (const ObliviousTree& tree : trees) {
    Relatives& relatives = all.emplace_back();
    for (const RankEdge& edge : tree.edges) {
      const std::uint32_t parent = (edge.parent + root) % ranks;
      const std::uint32_t child = (edge.child + root) % ranks;
      if (child == rank) relatives.parent = parent;
      if (parent == rank) relatives.children.push_back(child);
    }
  }
  return all;
}

TEST(Relatives, AreThoseOfTheWholeTrees) {
  for (const auto& [name, shape] : kNamed) {
    for (std::uint32_t ranks = 1; ranks <= 70; ++ranks) {
      const std::vector<ObliviousTree> trees = shape(ranks);
      for (std::uint32_t root = 0; root < ranks; ++root) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(relatives_of(name, ranks, root, rank), from_edges(trees, ranks, root, rank))
              << name << " of " << ranks << " from " << root << ": rank " << rank;
        }
      }
    }
  }
}

// In-order over 1 to 6, and mirrored:       0            0
//                                           4            3
//                                         2   6        5   1
//                                        1 3 5        6 4   2
TEST(Relatives, OfTwoTreeS) {
  const auto three = relatives_of("two-tree-sanders", 7, 0, 3);
  ASSERT_TRUE(three.has_value());
  EXPECT_EQ((*three)[0].parent, 2U);
  EXPECT_THAT((*three)[0].children, IsEmpty());
  EXPECT_EQ((*three)[1].parent, 0U);
  EXPECT_THAT((*three)[1].children, ElementsAre(5, 1));
}

TEST(Relatives, HoldForTheMostRanks) {
  constexpr std::uint32_t kRanks = (1U << 31) - 1;
  for (const auto& [name, shape] : kNamed) {
    for (const std::uint32_t rank : {0U, 1U, kRanks / 2, kRanks - 2, kRanks - 1}) {
      const auto trees = relatives_of(name, kRanks, kRanks - 1, rank);
      ASSERT_TRUE(trees.has_value());
      for (std::size_t i = 0; i < trees->size(); ++i) {
        for (const std::uint32_t child : (*trees)[i].children) {
          EXPECT_EQ((*relatives_of(name, kRanks, kRanks - 1, child))[i].parent, rank) << name;
        }
      }
    }
  }
}

TEST(Relatives, AreOfRegularShapesOnly) {
  EXPECT_EQ(relatives_of("flat", 4, 0, 1), std::nullopt);
  EXPECT_EQ(relatives_of("split-binary", 4, 0, 1), std::nullopt);
}

}  // namespace
}  // namespace espalier::planner::relatives_test
