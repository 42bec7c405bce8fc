#include "cli/espalier_mpi/commands/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/espalier_mpi/reports/output.hpp"
#include "cli/espalier_mpi/run/planner_program.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/surroundings.hpp"

namespace espalier::cli {
namespace {

void warn(const std::string& text) {
  fmt::print(stderr, "espalier-mpi: warning: {}\n", text);
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
  add_cache_to(app);
}

void LearningOptions::add_cache_to(Arguments& app) {
  app.add(
      "--cache", cache,
      "without PLAN: folder in which what pulls learn of the network is kept until the same hosts "
      "meet again, which then follow a plan (default: ~/.cache/espalier, if there are several "
      "hosts)",
      {.type = "FOLDER"});
  app.add("!--no-cache", uses_cache, "without PLAN: neither keep nor use what is learnt");
}

Learning::Learning(MPI_Comm comm, const LearningOptions& options, const PullTask& task,
                   std::vector<std::size_t> puller_of, std::uint64_t message_bytes,
                   Watchdog& watchdog)
    : comm_(comm),
      options_(options),
      task_(task),
      message_bytes_(message_bytes),
      watchdog_(&watchdog),
      leads_(runtime::rank_in(comm) == 0) {
  // 0: not known yet.
  const bool is_short = message_bytes != 0 && message_bytes < runtime::kLeastLearnt.value;
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  const bool is_asked = !options.cache.empty() || keeps_unasked();
  bool keeps = options.uses_cache && is_asked;
  if (!keeps && options.platform_out.empty()) return;
  if (is_short || ranks < 2 || ranks > runtime::PullCollective::kMostLearntRanks) return;
  watchdog.expect("waiting for the names of all hosts");
  std::vector<std::string> hosts = runtime::host_names(comm);
  const auto is_first = [&](const std::string& host) { return host == hosts.front(); };
  if (options.cache.empty() && std::ranges::all_of(hosts, is_first)) keeps = false;
  is_active_ = keeps || !options.platform_out.empty();
  if (!is_active_) return;
  runtime::collective_try(comm, [&] {
    if (leads_) require_writable(options_.platform_out);
  });
  if (!leads_) return;
  const std::string folder = options.cache.empty() ? users_cache() : options.cache;
  memory_ =
      runtime::NetworkMemory(std::move(hosts), std::move(puller_of), keeps ? folder : "", warn);
}

std::optional<planner::Plan> Learning::plan() {
  if (!is_active_ || !options_.uses_cache) return {};
  watchdog_->expect("waiting for the plan, which rank 0 makes", Seconds{10});
  std::string text;
  if (leads_ && memory_.is_worth_a_plan({message_bytes_})) {
    const std::string source = planner::needs_root(task_.operation)
                                   ? memory_.rank_name(static_cast<std::size_t>(task_.source))
                                   : "";
    const ProgramPlan made =
        plan_by_program(network(), {task_.operation, source, {}, "bounded-multi-port"});
    text = made.text;
    if (text.empty()) warn(fmt::format("no plan of the learnt network: {}", made.fault));
  }
  runtime::share_text(comm_, 0, text);
  if (text.empty()) return {};
  return planner::parse_plan(text, "plan of the learnt network", planner::Roots::kAny);
}

void Learning::judge_plan(std::uint64_t message_bytes, double seconds) {
  memory_.judge_plan(task_.operation, {message_bytes}, {seconds});
}

void Learning::keep() {
  if (!is_active_) return;
  watchdog_->expect("waiting for rank 0, which writes what was learnt");
  runtime::collective_try(comm_, [&] {
    memory_.keep();
    if (memory_.known() && !options_.platform_out.empty()) {
      write_text(options_.platform_out, network());
    }
  });
}

std::vector<double> Learning::shares() const {
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm_));
  std::vector<double> shares(memory_.names().size());
  if (planner::needs_root(task_.operation)) {
    shares[memory_.puller_of(static_cast<std::size_t>(task_.source))] = 1;
  } else {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      shares[memory_.puller_of(rank)] += 1 / static_cast<double>(ranks);
    }
  }
  return shares;
}

std::optional<LearntFigures> Learning::figures() const {
  if (!memory_.known()) return {};
  const std::vector<std::string>& names = memory_.names();
  const runtime::LearntNetwork& known = memory_.known()->network;
  const runtime::LearntBound bound = runtime::bound_of(known, shares(), names);
  if (bound.rate_Bps <= 0) return {};
  return LearntFigures{.bound_Bps = bound.rate_Bps,
                       .limit = bound.limit,
                       .links_used = known.links_used(),
                       .links = names.size() * (names.size() - 1),
                       .last_rank = memory_.last_rank(),
                       .cache = memory_.file(),
                       .platform = options_.platform_out};
}

}  // namespace espalier::cli
