#include "cli/espalier_mpi/commands/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/common/surroundings.hpp"
#include "cli/espalier_mpi/reports/output.hpp"
#include "cli/espalier_mpi/run/planner_program.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/measure/platform_file.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

// Shorter messages neither measure nor wait for a plan.
constexpr std::uint64_t kLeastMessage = std::uint64_t{1} << 20U;
// Shorter ones show buffers rather than links.
constexpr double kLeastTime_s = 16 * engine::pull::Traffic::kFirstBin_s;
constexpr double kRecent_s = 86400;
// A longer message than so many times the one that was measured is measured again.
constexpr std::uint64_t kMostTimesLonger = 16;
constexpr std::uint64_t kMostPlanFailures = 2;
// A plan fails if it carries less than this of what the pull did.
constexpr double kFailingShare = 0.95;

void warn(const std::string& text) {
  fmt::print(stderr, "espalier-mpi: warning: {}\n", text);
}

std::string platform_of(const runtime::LearntNetwork& network,
                        const std::vector<std::string>& names) {
  return runtime::probe::platform_json(runtime::estimate_of(network, names),
                                       fmt::format("learnt of {}", counted(names.size(), "rank")));
}

// SimGrid's times are not those of these hosts.
constexpr bool keeps_unasked() {
#ifdef SMPI_H
  return false;
#else
  return true;
#endif
}

}  // namespace

void LearningOptions::add_to(Arguments& app) {
  app.add("--platform-out", platform_out,
          "without PLAN: write the network as the message has shown it, as a platform file",
          {.type = "FILE"});
  app.add("--cache", cache,
          "without PLAN: folder in which that is kept until the same hosts meet again, which then "
          "follow a plan (default: ~/.cache/espalier, if there are several hosts)",
          {.type = "FOLDER"});
  app.add("!--no-cache", uses_cache, "without PLAN: keep nothing, and always pull");
}

Learning::Learning(MPI_Comm comm, const LearningOptions& options, int source,
                   std::uint64_t message_bytes, Watchdog& watchdog)
    : comm_(comm),
      options_(options),
      source_(source),
      message_bytes_(message_bytes),
      watchdog_(&watchdog),
      leads_(runtime::rank_in(comm) == 0) {
  const bool is_short = message_bytes != 0 && message_bytes < kLeastMessage;
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  const bool is_asked = !options.cache.empty() || keeps_unasked();
  bool keeps = options.uses_cache && is_asked;
  if (!keeps && options.platform_out.empty()) return;
  if (is_short || ranks < 2 || ranks > runtime::PullBroadcast::kMostLearntRanks) return;
  watchdog.expect("waiting for the names of all hosts");
  const std::vector<std::string> hosts = runtime::host_names(comm);
  names_ = runtime::names_on_hosts(hosts);
  const auto is_first = [&](const std::string& host) { return host == hosts.front(); };
  if (options.cache.empty() && std::ranges::all_of(hosts, is_first)) keeps = false;
  is_active_ = keeps || !options.platform_out.empty();
  if (!is_active_) return;
  runtime::collective_try(comm, [&] {
    if (leads_) require_writable(options_.platform_out);
  });
  if (!keeps || !leads_) return;
  const std::string folder = options.cache.empty() ? users_cache() : options.cache;
  if (folder.empty()) return;
  file_ = fs::path(folder) / runtime::kept_file_name(names_);
  read_cache();
}

// A faulty file costs what was learnt, not the run.
void Learning::read_cache() {
  std::error_code ignored;
  if (!fs::exists(file_, ignored)) return;
  try {
    kept_ = runtime::parse_kept_network(read_text(file_), file_, names_);
  } catch (const InputError& error) {
    warn(fmt::format("{}; the network is measured again", error.what()));
  }
}

bool Learning::is_worth_a_plan() const {
  if (!kept_ || !options_.uses_cache || kept_->plan_failures >= kMostPlanFailures) return false;
  const double age_s = seconds_since_1970() - kept_->measured_s;
  return age_s >= 0 && age_s < kRecent_s &&
         message_bytes_ <= kMostTimesLonger * kept_->message_bytes;
}

std::optional<planner::Plan> Learning::plan() {
  if (!is_active_ || !options_.uses_cache) return {};
  watchdog_->expect("waiting for the plan, which rank 0 makes", Seconds{10});
  std::string text;
  if (leads_ && is_worth_a_plan()) {
    const ProgramPlan made = plan_by_program(network(), names_[static_cast<std::size_t>(source_)]);
    text = made.text;
    if (text.empty()) warn(fmt::format("no plan of the learnt network: {}", made.fault));
  }
  runtime::share_text(comm_, 0, text);
  if (text.empty()) return {};
  return planner::parse_plan(text, "plan of the learnt network");
}

void Learning::learn(runtime::PullBroadcast& broadcast, std::uint64_t message_bytes,
                     double seconds) {
  if (!is_active_) return;
  watchdog_->expect("waiting for what the other ranks have measured");
  const std::vector<engine::pull::Traffic> received = broadcast.gather_traffic();
  if (received.empty() || message_bytes < kLeastMessage || seconds < kLeastTime_s) return;
  const auto last = std::ranges::max_element(received, {}, &engine::pull::Traffic::end_s);
  last_rank_ = names_[static_cast<std::size_t>(last - received.begin())];
  runtime::LearntNetwork network = runtime::learn_network(received);
  const double now_s = seconds_since_1970();
  if (kept_) {
    network = runtime::combined(kept_->network, network, Seconds{now_s - kept_->measured_s});
  }
  kept_ = {names_,        std::move(network),
           message_bytes, static_cast<double>(message_bytes) / seconds,
           now_s,         kept_ ? kept_->plan_failures : 0};
}

void Learning::judge_plan(std::uint64_t message_bytes, double seconds) {
  if (!kept_ || message_bytes < kept_->message_bytes || seconds <= 0) return;
  const bool has_failed =
      static_cast<double>(message_bytes) / seconds < kFailingShare * kept_->pulled_Bps;
  kept_->plan_failures = has_failed ? kept_->plan_failures + 1 : 0;
  if (has_failed) kept_->measured_s = 0;
}

void Learning::keep_in_cache() const {
  try {
    std::error_code fault;
    fs::create_directories(fs::path(file_).parent_path(), fault);
    write_text(file_, runtime::to_json(*kept_));
  } catch (const InputError& error) {
    warn(fmt::format("{}; what was learnt is not kept", error.what()));
  }
}

void Learning::keep() {
  if (!is_active_) return;
  watchdog_->expect("waiting for rank 0, which writes what was learnt");
  runtime::collective_try(comm_, [&] {
    if (!kept_) return;
    if (!file_.empty()) keep_in_cache();
    if (!options_.platform_out.empty()) write_text(options_.platform_out, network());
  });
}

std::string Learning::network() const {
  return kept_ ? platform_of(kept_->network, names_) : "";
}

std::optional<LearntFigures> Learning::figures() const {
  if (!kept_) return {};
  const runtime::LearntBound bound =
      runtime::bound_of(kept_->network, static_cast<std::size_t>(source_), names_);
  if (bound.rate_Bps <= 0) return {};
  return LearntFigures{.bound_Bps = bound.rate_Bps,
                       .limit = bound.limit,
                       .links_used = kept_->network.links_used(),
                       .links = names_.size() * (names_.size() - 1),
                       .last_rank = last_rank_,
                       .cache = file_,
                       .platform = options_.platform_out};
}

}  // namespace espalier::cli
