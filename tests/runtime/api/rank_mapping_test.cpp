#include "runtime/api/rank_mapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace espalier::runtime::rank_mapping_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

std::string refusal_by_host(const Names& hosts, const Names& nodes) {
  return espalier::testing::refusal([&] { (void)ranks_by_host(hosts, nodes); });
}

TEST(RanksByOrder, IsTheIdentityAndReportsNumbersThatDiffer) {
  EXPECT_THAT(ranks_by_order(3, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(espalier::testing::refusal([] { return ranks_by_order(4, 71); }),
              ::testing::AllOf(HasSubstr("71 nodes"), HasSubstr("4 ranks")));
}

TEST(RanksByHost, FindsEachNodesRank) {
  EXPECT_THAT(ranks_by_host(Names{"c", "a", "b"}, Names{"a", "b", "c"}), ElementsAre(1, 2, 0));
}

TEST(RanksByHost, CutsDomains) {
  EXPECT_THAT(ranks_by_host(Names{"c.site", "a.site"}, Names{"a", "c"}), ElementsAre(1, 0));
  EXPECT_THAT(ranks_by_host(Names{"c", "a"}, Names{"a.site", "c.site"}), ElementsAre(1, 0));
}

TEST(RanksByHost, WholeNamesComeBeforeCutOnes) {
  EXPECT_THAT(ranks_by_host(Names{"n1.paris", "n1.lyon"}, Names{"n1.lyon", "n1.paris"}),
              ElementsAre(1, 0));
}

TEST(RanksByHost, Refuses) {
  EXPECT_THAT(refusal_by_host({"a", "b"}, {"a"}),
              HasSubstr("the plan has 1 node, but 2 ranks are running it; start it with 1"));
  EXPECT_THAT(refusal_by_host({"a", "a"}, {"a", "b"}), HasSubstr("both run on host 'a'"));
  EXPECT_THAT(refusal_by_host({"a", "b"}, {"a", "x"}), HasSubstr("node 'x'"));
  EXPECT_THAT(refusal_by_host({"a", "b"}, {"a.x", "a.y"}), HasSubstr("both host 'a'"));
}

}  // namespace
}  // namespace espalier::runtime::rank_mapping_test
