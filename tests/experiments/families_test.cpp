// The grids of the families.
#include "experiments/families.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "platforms/formats/formats.hpp"
#include "platforms/generators/generators.hpp"
#include "support/errors.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::experiments::families_test {
namespace {

using namespace ::testing;

const FamilyEntry& random_family() {
  return families().front();
}

std::string text_of(const Case& drawn) {
  return platforms::write_platform(*drawn.make(), "json");
}

TEST(RandomFamily, HasThePapersFigures) {
  ASSERT_EQ(random_family().name, "random");
  const Grid grid = random_family().defaults();
  EXPECT_THAT(grid.nodes, ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(grid.densities, ElementsAre(0.04, 0.08, 0.12, 0.16, 0.20));
  EXPECT_EQ(grid.draws, 10U);
  EXPECT_EQ(random_family().cases(grid).size(), 250U);
}

TEST(RandomFamily, MakesThePlatformThatGenerateMakesWithTheSameSeed) {
  const std::vector<Case> cases =
      random_family().cases({.nodes = {12}, .densities = {0.25}, .draws = 3, .seed = 5});
  ASSERT_EQ(cases.size(), 3U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].draw, i + 1);
    platforms::RandomFamily same;
    same.nodes = 12;
    same.density = 0.25;
    same.seed = cases[i].seed;
    const platforms::Platform generated = platforms::generate_random(same);
    EXPECT_EQ(text_of(cases[i]), platforms::write_platform(generated, "json"));
    EXPECT_EQ(text_of(cases[i]), text_of(cases[i]));
  }
}

TEST(RandomFamily, DrawsDiffer) {
  std::set<std::uint64_t> seeds;
  const std::vector<Case> cases = random_family().cases(random_family().defaults());
  for (const Case& drawn : cases) seeds.insert(drawn.seed);
  EXPECT_EQ(seeds.size(), cases.size());
}

TEST(RandomFamily, ALargerGridContainsTheCasesOfASmallerOne) {
  const std::vector<Case> small =
      random_family().cases({.nodes = {20}, .densities = {0.12}, .draws = 2, .seed = 3});
  const std::vector<Case> large =
      random_family().cases({.nodes = {10, 20}, .densities = {0.04, 0.12}, .draws = 4, .seed = 3});
  for (const Case& drawn : small) {
    const auto same = std::find_if(large.begin(), large.end(), [&](const Case& other) {
      return other.nodes == drawn.nodes && other.density == drawn.density &&
             other.draw == drawn.draw;
    });
    ASSERT_NE(same, large.end());
    EXPECT_EQ(same->seed, drawn.seed);
  }
}

void expect_refusal(const Grid& grid, const std::string& reason) {
  EXPECT_EQ(testing::refusal([&] { return random_family().cases(grid); }), reason);
}

TEST(RandomFamily, RefusesGridsWithoutPlatforms) {
  expect_refusal({.nodes = {10, 1}, .densities = {0.1}}, "nodes must be at least 2, not 1");
  expect_refusal({.nodes = {10}, .densities = {0.1, 1.5}},
                 "a density must be over 0 and at most 1, not 1.5");
  expect_refusal({.nodes = {10}, .densities = {0}},
                 "a density must be over 0 and at most 1, not 0");
  expect_refusal({.nodes = {10}, .densities = {}},
                 "give at least one number of nodes and one density");
  expect_refusal({.nodes = {10}, .densities = {0.1}, .draws = 0}, "draws must be at least 1");
}

}  // namespace
}  // namespace espalier::experiments::families_test
