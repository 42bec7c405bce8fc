#include "runtime/preload/shared_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "planner/plan/plan.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/preload/planning.hpp"
#include "runtime/pull/pull_collective.hpp"
#include "runtime/topology/described_groups.hpp"
#include "runtime/topology/topology_platform.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::preload {
namespace {

// The original texts that rank 0 has and the other ranks read again: the values of variables, the
// contents of files under kFile + name, and the platform.
using Texts = std::map<std::string, std::string>;
constexpr const char* kFile = "file ";
constexpr const char* kPlatform = "platform";

void add_tuned(SharedSettings& shared, const std::string& text, const std::string& file) {
  runtime::TunedSegments tuned = runtime::parse_tuned(text, file);
  const bool known = std::ranges::any_of(shared.plans, [&](const planner::Plan& plan) {
    return runtime::identity_of(plan) == tuned.plan;
  });
  if (!known) {
    throw InputError(file, "/plan", "was not tuned for any of the plans in ESPALIER_PLAN");
  }
  shared.tuned.push_back(std::move(tuned));
}

void add_decisions(SharedSettings& shared, const std::string& text, const std::string& file) {
  planner::Decisions decisions = planner::parse_decisions(text, file);
  if (shared.decisions_for(decisions.operation) != nullptr) {
    throw InputError(
        file, "/operation",
        fmt::format("another file of ESPALIER_DECISIONS is for {} as well; give one per operation",
                    planner::name_of(decisions.operation)));
  }
  shared.decisions.push_back(std::move(decisions));
}

// value_of: of an environment variable, null if it is not set. text_of: of a file.
SharedSettings read_settings(const std::function<const char*(const char*)>& value_of,
                             const std::function<std::string(const std::string&)>& text_of) {
  SharedSettings shared;
  shared.settings = settings_from(value_of);
  for (const std::string& file : shared.settings.plan_files) {
    shared.plans.push_back(
        runtime::checked_plan(text_of(file), display_name(file), planner::Roots::kAny));
    if (shared.plans.back().has_helpers()) {
      throw InputError(display_name(file), "/blocks/0/members",
                       "MPI_Bcast sends to all ranks; by this plan some would not get the message");
    }
  }
  for (const std::string& file : shared.settings.tuned_files) {
    add_tuned(shared, text_of(file), file);
  }
  for (const std::string& file : shared.settings.decision_files) {
    add_decisions(shared, text_of(file), file);
  }
  return shared;
}

// Reads everything once, to find errors, and keeps the texts.
std::string texts_here() {
  Texts texts;
  const SharedSettings shared = read_settings(
      [&](const char* variable) {
        const char* const value = std::getenv(variable);
        if (value != nullptr) texts[variable] = value;
        return value;
      },
      [&](const std::string& file) { return texts[kFile + file] = read_text(file); });
  if (!shared.settings.platform_file.empty()) {
    texts[kPlatform] = read_platform_text(shared.settings);
  }
  const std::string& groups = shared.settings.groups;
  if (!groups.empty()) check_planning(shared.settings);
  if (!groups.empty() && groups != kOnlyHosts) texts[kFile + groups] = read_text(groups);
  const std::vector<std::uint8_t> packed = Json::to_msgpack(texts);  // strings need not be UTF-8
  return {packed.begin(), packed.end()};
}

SharedSettings settings_of(Texts& texts) {
  SharedSettings shared = read_settings(
      [&](const char* variable) {
        const auto found = texts.find(variable);
        return found == texts.end() ? nullptr : found->second.c_str();
      },
      [&](const std::string& file) { return texts.at(kFile + file); });
  shared.platform = texts[kPlatform];
  return shared;
}

// Collective. The platform of the ranks' hosts and their groups.
std::string platform_of_ranks(MPI_Comm comm, const std::string& groups_file, const Texts& texts) {
  const std::vector<std::string> hosts = runtime::host_names(comm);
  std::vector<std::string> groups;
  if (groups_file != kOnlyHosts) {
    groups =
        runtime::described_groups(texts.at(kFile + groups_file), display_name(groups_file), hosts);
  }
  return runtime::topology_platform(hosts, runtime::hosts_of_ranks(comm), groups);
}

}  // namespace

bool SharedSettings::only_local() const {
  return plans.empty() && decisions.empty() && !host_of_rank.empty() &&
         std::ranges::all_of(host_of_rank, [](int lowest) { return lowest == 0; });
}

const planner::Decisions* SharedSettings::decisions_for(planner::Operation operation) const {
  const auto found = std::ranges::find(decisions, operation, &planner::Decisions::operation);
  return found == decisions.end() ? nullptr : &*found;
}

SharedSettings share_settings(MPI_Comm comm) {
  std::string texts;
  runtime::collective_try(comm, [&] {
    if (runtime::rank_in(comm) == 0) texts = texts_here();
  });
  runtime::share_text(comm, 0, texts);
  auto read = Json::from_msgpack(texts).get<Texts>();
  SharedSettings shared = settings_of(read);
  if (!shared.settings.groups.empty()) {
    shared.platform = platform_of_ranks(comm, shared.settings.groups, read);
  }
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  const bool may_learn = !shared.settings.asks_for_something() &&
                         shared.settings.learning != Learning::kOff && ranks > kTooFewRanks &&
                         ranks <= runtime::PullCollective::kMostLearntRanks;
  if ((may_learn || !shared.platform.empty()) && shared.settings.local == LocalCalls::kHandOn) {
    shared.host_of_rank = runtime::hosts_of_ranks(comm);
  }
  shared.learns = may_learn && !shared.only_local();
  return shared;
}

}  // namespace espalier::preload
