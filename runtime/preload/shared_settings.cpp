#include "runtime/preload/shared_settings.hpp"

#include <algorithm>
#include <cstdlib>

#include "planner/plan.hpp"
#include "runtime/agreement.hpp"
#include "runtime/direct_copies.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/preload/planning.hpp"
#include "support/json.hpp"

namespace espalier::preload {
namespace {

using runtime::check;

SharedSettings read_settings() {
  SharedSettings shared;
  shared.settings = settings_from([](const char* variable) { return std::getenv(variable); });
  for (const std::string& file : shared.settings.plan_files) {
    const planner::Plan plan = planner::read_plan(file);
    shared.plans.push_back(planner::to_json(plan));
  }
  if (!shared.settings.platform_file.empty()) {
    shared.platform = read_platform_text(shared.settings);
  }
  return shared;
}

std::string to_text(const SharedSettings& shared) {
  const Settings& settings = shared.settings;
  return Json{{"plan_files", settings.plan_files},
              {"platform_file", settings.platform_file},
              {"model", settings.model},
              {"algorithm", settings.algorithm},
              {"max_trees", settings.max_trees},
              {"by_host", settings.mapping == runtime::RankMapping::kByHostName},
              {"take_local", settings.local == LocalCalls::kTake},
              {"threshold", settings.threshold.value},
              {"timeout_s", settings.timeout.value_or(Seconds{}).value},
              {"verbose", settings.verbose},
              {"plans", shared.plans},
              {"platform", shared.platform}}
      .dump(-1, ' ', true, Json::error_handler_t::replace);  // file names may be no UTF-8
}

SharedSettings from_text(const std::string& text) {
  const Json json = Json::parse(text);
  SharedSettings shared;
  Settings& settings = shared.settings;
  json.at("plan_files").get_to(settings.plan_files);
  json.at("platform_file").get_to(settings.platform_file);
  json.at("model").get_to(settings.model);
  json.at("algorithm").get_to(settings.algorithm);
  json.at("max_trees").get_to(settings.max_trees);
  if (json.at("by_host").get<bool>()) settings.mapping = runtime::RankMapping::kByHostName;
  if (json.at("take_local").get<bool>()) settings.local = LocalCalls::kTake;
  json.at("threshold").get_to(settings.threshold.value);
  const double timeout = json.at("timeout_s").get<double>();
  if (timeout > 0) settings.timeout = Seconds{timeout};
  json.at("verbose").get_to(settings.verbose);
  json.at("plans").get_to(shared.plans);
  json.at("platform").get_to(shared.platform);
  return shared;
}

}  // namespace

SharedSettings share_settings(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  std::string text;
  runtime::together(comm, [&] {
    if (rank == 0) text = to_text(read_settings());
  });
  runtime::share_text(comm, 0, text);
  SharedSettings shared = from_text(text);
  if (!shared.platform.empty() && shared.settings.local == LocalCalls::kHandOn) {
    shared.host_of_rank = runtime::hosts_of_ranks(comm);
  }
  return shared;
}

}  // namespace espalier::preload
