#include "tests/fuzz/target.hpp"

namespace espalier::testing {

std::vector<FuzzTarget> fuzz_targets() {
  std::vector<FuzzTarget> targets{{"plan", "planner/corpus/plan", check_plan}};
#ifdef ESPALIER_FUZZ_PLANNER
  const std::span<const FuzzTarget> formats = platform_formats();
  targets.insert(targets.end(), formats.begin(), formats.end());
  targets.push_back({"parameters", "cost_models/corpus/parameters", check_parameters});
  targets.push_back({"measured_times", "cli/corpus/measured_times", check_measured_times});
#endif
#ifdef ESPALIER_FUZZ_RUNTIME
  targets.push_back({"decisions", "runtime/corpus/decisions", check_decisions});
  targets.push_back({"tuned_segments", "runtime/corpus/tuned_slices", check_tuned_segments});
  targets.push_back({"kept_network", "runtime/corpus/kept_network", check_kept_network});
  targets.push_back({"measurements", "runtime/corpus/measurements", check_measurements});
#endif
  return targets;
}

}  // namespace espalier::testing
