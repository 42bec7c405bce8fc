// Replaces planning.cpp in a build without the planner.
#include "runtime/preload/planning.hpp"
#include "support/errors.hpp"

namespace espalier::preload {

bool can_plan() {
  return false;
}

void check_planning(const Settings& settings) {
  throw InputError({}, settings.groups.empty() ? "ESPALIER_PLATFORM" : "ESPALIER_GROUPS",
                   "this build cannot plan (ESPALIER_PLANNER=OFF); give plans in ESPALIER_PLAN");
}

std::string read_platform_text(const Settings& settings) {
  check_planning(settings);
  return {};
}

planner::Plan make_plan_for(const std::string& /*platform_text*/, const Settings& settings,
                            const Members& /*members*/, Bytes /*message*/, Seconds /*limit*/) {
  read_platform_text(settings);
  return {};
}

planner::Plan make_plan_for_message(const std::string& platform_text, const Settings& settings,
                                    const Members& members, Bytes message, Seconds limit) {
  return make_plan_for(platform_text, settings, members, message, limit);
}

}  // namespace espalier::preload
