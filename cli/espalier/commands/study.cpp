// espalier study FAMILY: whole experiments, resumable, on all cores.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "experiments/experiment.hpp"
#include "experiments/families.hpp"
#include "experiments/journal.hpp"
#include "experiments/report.hpp"
#include "platforms/formats/formats.hpp"
#include "support/deadline.hpp"
#include "support/files.hpp"
#include "support/on_threads.hpp"

namespace espalier::cli {

namespace {

using experiments::Study;

// "all", or names separated by commas; in the registry's order.
std::vector<platforms::Model> read_models(const std::string& text) {
  std::vector<platforms::Model> models;
  for (const platforms::ModelEntry& entry : platforms::models()) {
    if (text == "all") models.push_back(entry.model);
  }
  if (!models.empty()) return models;
  for (const std::string_view name : split(text, ','))
    models.push_back(platforms::parse_model(name));
  return in_order(std::move(models));
}

// HBT's algorithms, the trees of MPI libraries, and the best single tree. Without exact-tree, which
// may run indefinitely.
constexpr const char* kOfOneRoot =
    "optimal,best-tree,lp-grow,lp-prune,grow,prune-refined,prune-simple,binomial,binary,chain,flat";
// Without those that solve a linear program, which would be one for each root; with the trees that
// MPI libraries have for every root.
constexpr const char* kOfAllRoots =
    "optimal,grow,prune-refined,prune-simple,binomial,binary,chain,flat,ring,bruck,"
    "recursive-doubling,neighbor-exchange";

// What all studies share.
struct StudyOptions {
  Console console{};
  planner::Operation operation = planner::Operation::kBroadcast;
  ModelOptions occupation{};
  planner::AlgorithmOptions limits{};
  std::vector<platforms::Model> models{platforms::Model::kOnePort, platforms::Model::kMultiPort};
  std::string algorithms{};  // empty: kOfOneRoot or kOfAllRoots
  std::optional<platforms::Model> relative_to{};
  std::string folder{};
  std::uint64_t jobs = 0;
  bool restart = false;
  bool json = false;
  bool csv = false;

  void add_to(Arguments& app);
  // A study without its cases.
  [[nodiscard]] Study read(std::string_view family, bool any_root) const;
};

void StudyOptions::add_to(Arguments& app) {
  add_operation(app, operation);
  app.add("--models", models, read_models,
          "'all', or names separated by commas, " + one_of(names_of(platforms::models())),
          {.type = "A,B"});
  app.add("--algorithm", algorithms,
          fmt::format("'all', or names separated by commas, {}; default: {}; where every host is a "
                      "root, {}",
                      algorithm_choices(), kOfOneRoot, kOfAllRoots),
          {.type = "A,B"});
  app.add("-o,--output", folder,
          "Folder for the results and for the state from which an interrupted run resumes",
          {.type = "DIR", .required = true});
  app.add("--jobs", jobs, "Instances run in parallel; 0: one per core");
  app.add("--restart", restart, "Discard an earlier study in the folder");
  occupation.add_occupation_to(app);
  add_guide(app, limits);
  app.add("--relative-to", relative_to, platforms::parse_model,
          "Divide by the optimum under this model instead of the instance's own",
          {.type = "MODEL", .shown = ""});
  add_limits(app, limits);
  app.add("--json", json, "The summary as JSON instead of tables");
  app.add("--csv", csv, "The summary as CSV instead of tables");
  app.exclude("--csv", "--json");
  add_console_options(app, console);
  app.add_footer(
      "The folder gets instances.csv, summary.csv, summary.md, charts (SVG) and timings.csv. All "
      "but\n"
      "the timings are identical in every run with any number of jobs, unless --time-limit ends a\n"
      "proof early. An interrupted run resumes when it is called again.");
}

Study StudyOptions::read(std::string_view family, bool any_root) const {
  if (any_root && !planner::goes_both_ways(operation)) {
    throw InputError({}, "--root", "only an allreduce may have 'any' roots");
  }
  Study study{.family = std::string(family),
              .origin = Json::object(),
              .operation = operation,
              .cases = {},
              .models = models,
              .algorithms = {},
              .occupation = occupation.occupation(),
              .limits = limits,
              .relative_to = relative_to,
              .any_root = any_root};
  const std::string defaults = study.has_root() ? kOfOneRoot : kOfAllRoots;
  study.algorithms =
      planner::parse_algorithms(algorithms.empty() ? defaults : algorithms, operation);
  // In the order of the registry.
  std::sort(study.algorithms.begin(), study.algorithms.end());
  return study;
}

// Units that are not done, ordered by draw, so that the remaining time can be estimated early.
std::vector<std::size_t> units_left(const Study& study, const experiments::Journal& journal) {
  std::vector<std::size_t> units;
  for (std::size_t unit = 0; unit < study.unit_count(); ++unit) {
    if (!journal.done().contains(unit)) units.push_back(unit);
  }
  std::stable_sort(units.begin(), units.end(), [&](std::size_t a, std::size_t b) {
    return study.case_of(a).draw < study.case_of(b).draw;
  });
  return units;
}

void run_rest(const Study& study, const StudyOptions& options, experiments::Journal& journal) {
  const std::vector<std::size_t> units = units_left(study, journal);
  const std::size_t before = journal.done().size();
  if (before > 0) {
    options.console.note(
        fmt::format("{}: resuming; {} of {} are done", options.folder, before, study.unit_count()));
  }
  const std::size_t jobs = threads_for(options.jobs);
  ProgressLine line(options.console, "study " + study.family);
  const Stopwatch watch;
  experiments::run_units(study, units, jobs, [&](std::size_t unit, experiments::Result&& result) {
    journal.append(unit, std::move(result));
    const double elapsed = watch.elapsed().value;
    const std::size_t now = journal.done().size();
    const double left =
        elapsed * static_cast<double>(study.unit_count() - now) / static_cast<double>(now - before);
    line.show(Seconds{elapsed},
              fmt::format("{} of {}, about {:.0f} s left", now, study.unit_count(), left));
  });
}

ExitStatus judge(const experiments::Results& results, const Console& console) {
  std::size_t limited = 0;
  std::size_t infeasible = 0;
  for (const auto& [unit, result] : results) {
    const bool failed = std::any_of(result.rows.begin(), result.rows.end(),
                                    [](const experiments::Row& row) { return !row.error.empty(); });
    if (failed && !result.gap_open && std::isnan(result.bound_Bps)) {
      ++infeasible;
    } else if (failed || result.gap_open) {
      ++limited;
    }
  }
  if (infeasible > 0) {
    console.warn(
        fmt::format("{} instances have no solution: see 'error' in instances.csv", infeasible));
  }
  if (limited > 0) console.warn(fmt::format("limit reached on {} instances", limited));
  if (infeasible > 0) return ExitStatus::kInfeasible;
  return limited > 0 ? ExitStatus::kLimitReached : ExitStatus::kDone;
}

Json summary_json(const Study& study, const std::vector<experiments::SummaryRow>& rows) {
  Json json{
      {"family", study.family}, {"instances", study.unit_count()}, {"summary", Json::array()}};
  for (const experiments::SummaryRow& row : rows) {
    json["summary"].push_back({{"model", platforms::name_of(row.model)},
                               {"nodes", row.nodes ? Json(*row.nodes) : Json(nullptr)},
                               {"density", row.density ? Json(*row.density) : Json(nullptr)},
                               {"algorithm", study.algorithms[row.algorithm].name},
                               {"instances", row.relative.count},
                               {"mean", row.relative.mean},
                               {"deviation", row.relative.deviation},
                               {"worst", row.relative.least},
                               {"failed", row.failed}});
  }
  return json;
}

ExitStatus run_study(const Study& study, const StudyOptions& options) {
  experiments::Journal journal(study, options.folder, options.restart);
  run_rest(study, options, journal);
  for (const experiments::OutputFile& file : experiments::output_files(study, journal.done())) {
    write_text((std::filesystem::path(options.folder) / file.name).string(), file.text);
  }
  const std::vector<experiments::SummaryRow> rows = experiments::summarise(study, journal.done());
  if (options.json) {
    write_text("-", json_text(summary_json(study, rows)));
  } else {
    write_text("-", options.csv ? experiments::summary_csv(study, rows)
                                : experiments::summary_markdown(study, rows));
  }
  return judge(journal.done(), options.console);
}

// A family of random platforms.
struct DrawnStudy {
  const experiments::FamilyEntry* family = nullptr;
  StudyOptions common{};
  experiments::Grid grid{};
  bool any_root = false;

  void add_to(Arguments& app) {
    grid = family->defaults();
    app.add("--nodes", grid.nodes, parse_counts, "Numbers of hosts, e.g. 10,20 or 10..50:10",
            {.type = "LIST"});
    if (!grid.densities.empty()) {
      app.add("--densities", grid.densities, parse_numbers,
              "Shares of all pairs that are linked, raised if needed; e.g. 0.04..0.20:0.04",
              {.type = "LIST"});
    }
    app.add("--draws", grid.draws, "Platforms per combination");
    app.add("--seed", grid.seed, "The same seed gives the same platforms");
    static constexpr std::array<std::string_view, 2> kRoots{"first", kAnyRoot};
    app.add("--root", any_root, one_named<bool>("root", kRoots),
            "The 'first' host has the data, or gets it; an allreduce may have 'any' roots, as many "
            "as are best",
            {.type = "NAME", .shown = "first"});
    common.add_to(app);
  }
  [[nodiscard]] ExitStatus run() const {
    Study study = common.read(family->name, any_root);
    study.cases = family->cases(grid);
    study.origin = {{"nodes", grid.nodes},
                    {"densities", grid.densities},
                    {"draws", grid.draws},
                    {"seed", grid.seed}};
    return run_study(study, common);
  }
};

// FNV-1a, 64 bits: detects changed files. Not cryptographic.
std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

// Platforms in files.
struct FilesStudy {
  StudyOptions common{};
  PlatformOptions reading{};
  std::vector<std::string> platforms{};
  std::vector<std::string> sources{};

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

ExitStatus FilesStudy::run() const {
  refuse_source_without_root(common.operation, !sources.empty());
  Study study =
      common.read("files", planner::goes_both_ways(common.operation) && is_any_root(sources));
  study.origin["platforms"] = Json::array();
  std::vector<std::string> roots = sources;
  if (roots.empty() && study.has_root()) roots = {"each"};
  for (const std::string& file : platforms) {
    auto platform = std::make_shared<const platforms::Platform>(reading.read(file, common.console));
    Json names = Json::array();
    for (const auto root : roots_of(*platform, common.operation, roots)) {
      study.cases.push_back({.platform = platform->name(),
                             .nodes = platform->hosts().size(),
                             .density = {},
                             .source = root ? platform->node(*root).name : "",
                             .make = [platform] { return platform; }});
      names.push_back(study.cases.back().source);
    }
    study.origin["platforms"].push_back(
        {{"name", platform->name()},
         {"fingerprint", fingerprint(platforms::write_platform(*platform, "json"))},
         {"sources", std::move(names)}});
  }
  return run_study(study, common);
}

void FilesStudy::add_to(Arguments& app) {
  app.add("platforms", platforms, "Platform files; '-' is standard input",
          {.type = "PLATFORM", .required = true});
  app.add("--source,--root", sources,
          "The node that has the data, or to which it is reduced; repeatable, or separated by "
          "commas; of an allreduce also 'any' roots; default: each host in turn",
          {.type = "NAME"});
  common.add_to(app);
  reading.add_to(app);
}

}  // namespace

void add_study(Arguments root) {
  Arguments app = root.add_group("study", "Run experiments: tables and charts over many instances");
  for (const experiments::FamilyEntry& family : experiments::families()) {
    app.add_command<DrawnStudy>(family.name, family.summary, &family);
  }
  app.add_command<FilesStudy>("files", "The experiment on platforms from files");
  add_study_two_trees(app);
}

}  // namespace espalier::cli
