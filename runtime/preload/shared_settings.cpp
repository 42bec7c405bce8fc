#include "runtime/preload/shared_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "planner/plan/plan.hpp"
#include "runtime/preload/planning.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::preload {
namespace {

using runtime::check;

// The original texts of files, which every rank parses.
struct Texts {
  std::vector<std::string> tuned;
  std::vector<std::string> decisions;
};

void add_tuned(SharedSettings& shared, const std::string& text, const std::string& file) {
  runtime::TunedSegments tuned = runtime::parse_tuned(text, file);
  const bool known = std::ranges::any_of(shared.plans, [&](const std::string& plan) {
    return runtime::identity_of(planner::parse_plan(plan, file)) == tuned.plan;
  });
  if (!known) {
    throw InputError(file, "/plan", "was not tuned for any of the plans in ESPALIER_PLAN");
  }
  shared.tuned.push_back(std::move(tuned));
}

void add_decisions(SharedSettings& shared, const std::string& text, const std::string& file) {
  runtime::Decisions decisions = runtime::parse_decisions(text, file);
  if (shared.decisions_for(decisions.operation) != nullptr) {
    throw InputError(
        file, "/operation",
        fmt::format("another file of ESPALIER_DECISIONS is for {} as well; give one per operation",
                    planner::name_of(decisions.operation)));
  }
  shared.decisions.push_back(std::move(decisions));
}

void add_texts(SharedSettings& shared, const Texts& texts) {
  const Settings& settings = shared.settings;
  for (std::size_t i = 0; i < texts.tuned.size(); ++i) {
    add_tuned(shared, texts.tuned[i], settings.tuned_files[i]);
  }
  for (std::size_t i = 0; i < texts.decisions.size(); ++i) {
    add_decisions(shared, texts.decisions[i], settings.decision_files[i]);
  }
}

SharedSettings read_settings(Texts& texts) {
  SharedSettings shared;
  shared.settings = settings_from([](const char* variable) { return std::getenv(variable); });
  for (const std::string& file : shared.settings.plan_files) {
    const planner::Plan plan = planner::read_plan(file);
    shared.plans.push_back(planner::to_json(plan));
  }
  for (const std::string& file : shared.settings.tuned_files) {
    texts.tuned.push_back(read_text(file));
  }
  for (const std::string& file : shared.settings.decision_files) {
    texts.decisions.push_back(read_text(file));
  }
  add_texts(shared, texts);
  if (!shared.settings.platform_file.empty()) {
    shared.platform = read_platform_text(shared.settings);
  }
  return shared;
}

std::string to_text(const SharedSettings& shared, const Texts& texts) {
  const Settings& settings = shared.settings;
  return Json{{"plan_files", settings.plan_files},
              {"tuned_files", settings.tuned_files},
              {"decision_files", settings.decision_files},
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
              {"tuned", texts.tuned},
              {"decisions", texts.decisions},
              {"platform", shared.platform}}
      .dump(-1, ' ', true, Json::error_handler_t::replace);  // file names need not be UTF-8
}

SharedSettings from_text(const std::string& text) {
  const Json json = Json::parse(text);
  SharedSettings shared;
  Settings& settings = shared.settings;
  json.at("plan_files").get_to(settings.plan_files);
  json.at("tuned_files").get_to(settings.tuned_files);
  json.at("decision_files").get_to(settings.decision_files);
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
  Texts texts;
  json.at("tuned").get_to(texts.tuned);
  json.at("decisions").get_to(texts.decisions);
  add_texts(shared, texts);
  return shared;
}

}  // namespace

const runtime::Decisions* SharedSettings::decisions_for(planner::Operation operation) const {
  const auto found = std::ranges::find(decisions, operation, &runtime::Decisions::operation);
  return found == decisions.end() ? nullptr : &*found;
}

SharedSettings share_settings(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  std::string text;
  runtime::collective_try(comm, [&] {
    if (rank != 0) return;
    Texts texts;
    const SharedSettings read = read_settings(texts);
    text = to_text(read, texts);
  });
  runtime::share_text(comm, 0, text);
  SharedSettings shared = from_text(text);
  if (!shared.platform.empty() && shared.settings.local == LocalCalls::kHandOn) {
    shared.host_of_rank = runtime::hosts_of_ranks(comm);
  }
  return shared;
}

}  // namespace espalier::preload
