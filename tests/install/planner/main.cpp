// Usage: consumer PLATFORM SOURCE. Makes a plan with the installed library and verifies it.
#include <cstdio>
#include <exception>

#include "planner/check/verify.hpp"
#include "planner/solve/make_plan.hpp"
#include "platforms/formats/formats.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    using namespace espalier;
    const platforms::Platform platform = platforms::read_platform(argv[1]).platform;
    const Bytes segment = planner::kDefaultSegment;
    const planner::Instance instance(platform, planner::source_named(platform, argv[2]),
                                     platforms::Model::kOnePort, {.segment = segment});
    const planner::Outcome outcome = planner::find_algorithm("optimal").run(instance, {});
    const planner::Plan plan = planner::make_plan(instance, "optimal", outcome, segment);
    const planner::VerifyReport report = planner::verify(plan, platform);
    std::printf("%s in %zu trees, %zu faults\n", format_rate(plan.throughput).c_str(), report.trees,
                report.faults.size());
    return report.faults.empty() ? 0 : 1;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 1;
  }
}
