#include "cli/espalier_mpi/reports/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/quantities.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

namespace espalier::cli {
namespace {

double rate_of(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

std::string what_ran(const planner::Plan& plan, const Figures& figures) {
  const std::string size = format_size({figures.message_bytes});
  switch (plan.operation) {
    case planner::Operation::kBroadcast:
      break;
    case planner::Operation::kAllgather:
      return fmt::format("{} from all {} to all, {}", size, counted(plan.nodes.size(), "rank"),
                         counted(planner::tree_count(plan), "tree"));
    case planner::Operation::kScatter:
    case planner::Operation::kGather:
    case planner::Operation::kAlltoall:
      return fmt::format("{} {} among {}, {}", size, planner::name_of(plan.operation),
                         counted(plan.nodes.size(), "rank"),
                         counted(planner::tree_count(plan), "path"));
    case planner::Operation::kReduceScatter:
      return fmt::format("{} from {} in as many parts, {} of {}, {}", size,
                         counted(plan.nodes.size(), "rank"), figures.op, figures.type,
                         counted(planner::tree_count(plan), "tree"));
    case planner::Operation::kReduce:
      return fmt::format("{} from {}, {} of {}, {}", size, counted(plan.nodes.size(), "rank"),
                         figures.op, figures.type, counted(plan.reduce_trees.size(), "tree"));
    case planner::Operation::kBarrier:
      return fmt::format("barrier of {} via {}", counted(plan.nodes.size(), "rank"), plan.source);
    case planner::Operation::kAllreduce:
      return fmt::format("{} from and to {}, {} of {}, {} up, {} down", size,
                         counted(plan.nodes.size(), "rank"), figures.op, figures.type,
                         counted(planner::tree_count(plan, true), "tree"),
                         planner::tree_count(plan, false));
  }
  const std::string some =
      plan.has_helpers() ? fmt::format("{} of ", plan.blocks.front().members.size()) : "";
  return fmt::format("{} to {}{}, {}", size, some, counted(plan.nodes.size(), "rank"),
                     counted(planner::tree_count(plan), "tree"));
}

// The sizes, times and rate of a run, as all reports have them.
void write_times(const Figures& figures, Report& report) {
  const double median = median_of(figures.seconds);
  report.write("message_bytes", figures.message_bytes);
  report.write("segment_bytes", figures.segment_bytes);
  report.write("slice_bytes", figures.segment_bytes);
  report.write("seconds", figures.seconds);
  report.write("median_s", median);
  report.write("achieved_Bps", rate_of(figures.message_bytes, median));
}

// has_data: otherwise there are no segments.
std::string times_text(const std::string& what, const Figures& figures, bool has_data = true) {
  std::string text = what;
  if (has_data) {
    text += fmt::format(", segments of {}", format_size({figures.segment_bytes}));
  }
  text += ": " + format_duration({median_of(figures.seconds)});
  if (figures.seconds.size() > 1) {
    const auto [fastest, slowest] = std::ranges::minmax(figures.seconds);
    text += fmt::format(" (median of {}, {} to {})", figures.seconds.size(),
                        format_duration({fastest}), format_duration({slowest}));
  }
  return text;
}

// What only some runs have: a comparison with MPI, an earlier run, holes, a change of the source.
void add_rest(const Figures& figures, Report& report, std::string& text) {
  const double median = median_of(figures.seconds);
  if (figures.resumed_bytes > 0) report.write("resumed_bytes", figures.resumed_bytes);
  if (figures.hole_bytes > 0) report.write("hole_bytes", figures.hole_bytes);
  if (!figures.source_change.empty()) report.write("source_change", figures.source_change);
  if (!figures.mpi_seconds.empty()) {
    const double theirs = median_of(figures.mpi_seconds);
    const double rate = rate_of(figures.message_bytes, theirs);
    const double ratio = median > 0 ? theirs / median : 0;
    const std::string library = lower_case(figures.library);
    report.write(library,
                 {{"seconds", figures.mpi_seconds}, {"median_s", theirs}, {"achieved_Bps", rate}});
    report.write("relative_to_" + library, ratio);
    const std::string at = rate > 0 ? ", " + format_rate({rate}) : "";
    text += fmt::format("\n{}: {}{}; ours is {:.2f} times as fast", figures.library,
                        format_duration({theirs}), at, ratio);
  }
  if (figures.resumed_bytes > 0) {
    text += fmt::format("\n{} kept from an earlier run", format_size({figures.resumed_bytes}));
  }
  if (figures.hole_bytes > 0) {
    text += fmt::format("\n{} of holes, which were not sent", format_size({figures.hole_bytes}));
  }
}

void add_learnt(const LearntFigures& learnt, double achieved_Bps, Report& report,
                std::string& text) {
  const double ratio = achieved_Bps / learnt.bound_Bps;
  Json found = {{"bound_Bps", learnt.bound_Bps},
                {"relative_to_bound", ratio},
                {"limit", learnt.limit},
                {"links_used", learnt.links_used},
                {"links", learnt.links}};
  text += fmt::format(", {:.1f} % of the bound of the learnt network, {} ({})", 100 * ratio,
                      format_rate({learnt.bound_Bps}), learnt.limit);
  if (!learnt.last_rank.empty()) {
    found["last_rank"] = learnt.last_rank;
    text += fmt::format("\nlast to be done: {}; used: {} of {} links", learnt.last_rank,
                        learnt.links_used, learnt.links);
  }
  if (!learnt.cache.empty()) found["cache"] = learnt.cache;
  if (!learnt.platform.empty()) found["platform"] = learnt.platform;
  if (!learnt.platform.empty()) text += "\nthe learnt network: " + learnt.platform;
  if (!learnt.cache.empty()) text += "\nkept for the next call: " + learnt.cache;
  report.write("learnt", std::move(found));
}

}  // namespace

std::string_view verification_text(planner::Operation operation, bool verified) {
  if (operation == planner::Operation::kBarrier) return "no data to verify";
  if (!verified) return "not verified";
  return operation == planner::Operation::kReduce ? "verified on the root"
                                                  : "verified on every rank";
}

void print_report(Report report, bool json, bool to_stderr) {
  fmt::print(to_stderr ? stderr : stdout, "{}", report.render(json));
  std::fflush(nullptr);
}

void warn_of_change(const Figures& figures) {
  if (figures.source_change.empty()) return;
  fmt::print(stderr, "espalier-mpi: warning: {}; the copies are what was read\n",
             figures.source_change);
}

Report figures_report(const planner::Plan& plan, const Figures& figures) {
  const double achieved = rate_of(figures.message_bytes, median_of(figures.seconds));
  Report report;
  report.write("operation", planner::name_of(plan.operation));
  if (!figures.op.empty()) {
    report.write("op", figures.op);
    report.write("type", figures.type);
  }
  report.write("ranks", plan.nodes.size());
  write_times(figures, report);
  report.write("planned_Bps", plan.throughput.value);
  report.write("optimum_Bps", *Cell(plan.optimum).json);
  report.write("verified", figures.verified);
  const bool has_data = !planner::has_no_data(plan.operation);
  std::string text = times_text(what_ran(plan, figures), figures, has_data);
  if (has_data) {
    text += fmt::format("\nachieved {} against {} planned ({:.1f} %)", format_rate({achieved}),
                        format_rate(plan.throughput), 100 * achieved / plan.throughput.value);
  }
  if (plan.optimum) text += fmt::format(", optimum {}", format_rate(*plan.optimum));
  add_rest(figures, report, text);
  report.say(fmt::format("{}\n{}\n", text, verification_text(plan.operation, figures.verified)));
  return report;
}

Report pull_report(const PullTask& task, std::size_t ranks, const Figures& figures,
                   std::size_t planned, const std::optional<LearntFigures>& learnt) {
  const bool has_source = planner::needs_root(task.operation);
  Report report;
  report.write("operation", planner::name_of(task.operation));
  report.write("order", planned > 0 ? "plan" : "pull");
  if (planned > 0) report.write("planned_runs", planned);
  report.write("ranks", ranks);
  if (has_source) report.write("source", task.source);
  write_times(figures, report);
  report.write("verified", figures.verified);
  std::string_view how = "pulled without a plan";
  if (planned > 0) {
    how = planned < figures.seconds.size() ? "first pulled, then by a plan of the learnt network"
                                           : "by a plan of the learnt network";
  }
  const std::string size = format_size({figures.message_bytes});
  std::string text = times_text(
      has_source
          ? fmt::format("{} from rank {} to {}, {}", size, task.source, counted(ranks, "rank"), how)
          : fmt::format("{} from all {} to all, {}", size, counted(ranks, "rank"), how),
      figures);
  const double achieved = rate_of(figures.message_bytes, median_of(figures.seconds));
  text += fmt::format("\nachieved {}", format_rate({achieved}));
  if (learnt) add_learnt(*learnt, achieved, report, text);
  add_rest(figures, report, text);
  report.say(fmt::format("{}\n{}\n", text, verification_text(task.operation, figures.verified)));
  return report;
}

bool stderr_reaches_terminal() {
  if (::isatty(STDERR_FILENO) == 1) return true;
  std::error_code fault;
  const std::string parents =
      std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", ::getppid()), fault).string();
  const std::string own = std::filesystem::read_symlink("/proc/self/fd/2", fault).string();
  return !fault && own.starts_with("pipe:") &&
         (parents.starts_with("/dev/pts/") || parents.starts_with("/dev/tty"));
}

ProgressBar::ProgressBar(bool enabled, std::optional<BytesPerSecond> planned)
    : line_("espalier-mpi: ", enabled, enabled && stderr_reaches_terminal()), planned_(planned) {}

std::function<void(std::uint64_t)> ProgressBar::shown_by(Watchdog& watchdog) {
  return [this, &watchdog](std::uint64_t bytes) {
    show(bytes);
    watchdog.note_progress();
  };
}

void ProgressBar::show(std::uint64_t bytes) {
  if (!line_.is_enabled() || bytes == 0) return;
  const Seconds elapsed = watch_.elapsed();
  if (bytes < last_bytes_) {
    ++message_;
    begun_ = elapsed;
  }
  last_bytes_ = bytes;
  if (!line_.due(elapsed)) return;
  const double rate = rate_of(bytes, elapsed.value - begun_.value);
  std::string line =
      fmt::format("message {}: {}, {}", message_, format_size({bytes}), format_rate({rate}));
  if (planned_) line += fmt::format(" (planned {})", format_rate(*planned_));
  if (expected_ > bytes && rate > 0) {
    line +=
        fmt::format(", {} left", format_duration({static_cast<double>(expected_ - bytes) / rate}));
  }
  line_.print(elapsed, line);
}

}  // namespace espalier::cli
