#include "tests/experiments/small_study.hpp"

#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace espalier::testing {

experiments::Study small_study(std::string_view algorithms) {
  const experiments::Grid grid{.nodes = {6, 9}, .densities = {0.3, 0.6}, .draws = 2, .seed = 7};
  return {.family = "random",
          .origin = {{"seed", grid.seed}},
          .cases = experiments::families().front().cases(grid),
          .models = {platforms::Model::kOnePort, platforms::Model::kMultiPort},
          .algorithms = planner::parse_algorithms(algorithms),
          .occupation = {},
          .limits = {}};
}

experiments::Results results_of(const experiments::Study& study, std::size_t jobs) {
  std::vector<std::size_t> units(study.unit_count());
  std::iota(units.begin(), units.end(), std::size_t{0});
  experiments::Results results;
  experiments::run_units(study, units, jobs, [&](std::size_t unit, experiments::Result&& result) {
    results.insert_or_assign(unit, std::move(result));
  });
  return results;
}

FolderTest::FolderTest() {
  std::string pattern = ::testing::TempDir() + "espalier-study-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder " + pattern);
  folder_ = pattern;
}

FolderTest::~FolderTest() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace espalier::testing
