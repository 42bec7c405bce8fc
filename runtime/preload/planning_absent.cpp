// Replaces planning.cpp in a build without the planner.
#include "runtime/preload/planning.hpp"
#include "support/errors.hpp"

namespace espalier::preload {

std::string read_platform_text(const Settings& /*settings*/) {
  throw InputError({}, "ESPALIER_PLATFORM",
                   "this build cannot plan (ESPALIER_PLANNER=OFF); give plans in ESPALIER_PLAN");
}

planner::Plan make_plan_for(const std::string& /*platform_text*/, const Settings& settings,
                            const Members& /*members*/) {
  read_platform_text(settings);
  return {};
}

}  // namespace espalier::preload
