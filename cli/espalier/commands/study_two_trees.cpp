// espalier study two-trees: TTC's experiment.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "experiments/two_trees.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/on_threads.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

namespace {

constexpr const char* kTwoTreeSizes = "256KiB,512KiB,1MiB,3MiB,5MiB,7MiB,50MiB,100MiB,200MiB";

std::vector<planner::Operation> read_operations(const std::string& text) {
  static const std::vector<std::string_view> names = names_of(planner::kOperations);
  const auto named = one_named<planner::Operation>("operation", names);
  std::vector<planner::Operation> operations;
  for (const std::string_view name : split(text, ',')) operations.push_back(named(name));
  return in_order(std::move(operations));
}

std::vector<Bytes> read_message_sizes(const std::string& text) {
  std::vector<Bytes> sizes = parse_sizes(text);
  if (sizes.front().value == 0) throw InputError("an empty message has no chunks");
  return sizes;
}

struct TwoTreesStudy {
  Console console{};
  experiments::TwoTreeStudy study{};
  std::string folder{};
  std::uint64_t jobs = 0;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

void TwoTreesStudy::add_to(Arguments& app) {
  study.messages = parse_sizes(kTwoTreeSizes);
  app.add("--operations", study.operations, read_operations,
          "Of broadcast, reduce, allreduce, separated by commas",
          {.type = "A,B", .shown = "broadcast,reduce,allreduce"});
  app.add("--processes", study.processes, parse_counts,
          "Numbers of processes, e.g. 8,16 or 8..64:8", {.type = "LIST"});
  app.add("--sizes", study.messages, read_message_sizes, "Message sizes, e.g. 1MiB,3MiB",
          {.type = "LIST", .shown = kTwoTreeSizes});
  app.add("--bandwidth", study.bandwidth, read_positive_rate, "Of every link: 1/G");
  app.add("--link-latency", study.latency, read_span, "Of every link: L");
  app.add("--overhead", study.overhead, read_span, "Of every chunk on a link: max(g, o)");
  app.add("--compute", study.compute, read_positive_rate,
          "How fast a process combines data, \"4 GB/s\"; default: instantly");
  app.add("-o,--output", folder, "Folder for the results", {.type = "DIR", .required = true});
  app.add("--jobs", jobs, "Plans simulated in parallel; 0: one per core");
  add_console_options(app, console);
  app.add_footer(
      "The folder gets figures.csv, summary.md, which is also printed, and a chart (SVG) for each\n"
      "operation and size. For every plan and message the best number of chunks is searched. The\n"
      "files are identical in every run with any number of jobs. The default links are those of\n"
      "Piz Daint as TTC measured them. The methods: docs/study.md, \"Two trees\".");
}

ExitStatus TwoTreesStudy::run() const {
  const std::filesystem::path path(folder);
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) throw InputError(folder, {}, "cannot create the folder: " + fault.message());
  require_writable((path / "figures.csv").string());
  const std::size_t threads = threads_for(jobs);
  ProgressLine line(console, "study two-trees");
  const Stopwatch watch;
  const std::vector<experiments::TwoTreeFigure> figures =
      run_two_trees(study, threads, [&](std::size_t finished, std::size_t all) {
        line.show(watch.elapsed(), fmt::format("{} of {} plans", finished, all));
      });
  for (const experiments::OutputFile& file : two_tree_files(study, figures)) {
    write_text((path / file.name).string(), file.text);
  }
  write_text("-", two_tree_summary(study, figures));
  return ExitStatus::kDone;
}

}  // namespace

void add_study_two_trees(Arguments& group) {
  group.add_command<TwoTreesStudy>(
      "two-trees", "Broadcast, reduce and allreduce along two trees and others (TTC), simulated");
}

}  // namespace espalier::cli
