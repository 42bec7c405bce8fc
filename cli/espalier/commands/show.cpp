// espalier show: figures of a platform or a plan, and a picture of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/input_kind.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/plan_report.hpp"
#include "cli/espalier/reports/platform_report.hpp"
#include "cli/espalier/run.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "render/pictures.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

constexpr std::array<std::string_view, 3> kFormats{"svg", "png", "dot"};

struct ShowCommand {
  Console console{};
  PlatformOptions reading{};
  std::string input{};
  std::string platform{};
  std::string output{};
  std::string to{};
  std::string root{};
  std::size_t top = 10;
  bool json = false;

  void add_to(Arguments& app);
  [[nodiscard]] ExitStatus run() const;
};

// The picture's format; empty if no picture is wanted. Throws InputError if the picture cannot be
// written. Called before the work.
std::string picture_format(const ShowCommand& options) {
  if (options.output.empty()) {
    if (!options.to.empty()) throw InputError({}, "--to", "is the picture's format; add -o FILE");
    return {};
  }
  require_writable(options.output);
  std::string format = options.to;
  if (format.empty() && options.output == "-") format = "svg";
  if (format.empty()) {
    format = std::filesystem::path(options.output).extension().string();
    if (!format.empty()) format.erase(0, 1);
    if (std::ranges::find(kFormats, format) == kFormats.end()) {
      throw InputError(options.output, {}, "unknown extension; add --to, " + one_of(kFormats));
    }
  }
  if (std::ranges::find(kFormats, format) == kFormats.end()) {
    throw InputError({}, "--to", unknown_name("format", format, kFormats));
  }
  return format;
}

// Draws the picture. Graphviz reports no progress, so that a large picture is announced first.
std::string drawn(const std::string& dot, const std::string& format, const std::string& file,
                  const Console& console) {
  if (format == "dot") return dot;
  constexpr std::size_t kLarge = 200'000;  // bytes of DOT: some hundreds of nodes
  ProgressLine progress(console, display_name(file));
  if (dot.size() > kLarge) progress.show(Seconds{1}, "laying out and drawing");
  return render::draw(dot, format);
}

// Writes the picture to its file and the report to stdout, or to stderr if the picture goes to
// stdout.
void write_all(const ShowCommand& options, const std::string& report, const std::string& picture) {
  if (!options.output.empty()) write_text(options.output, picture);
  print_beside(report, options.output, options.console);
}

ExitStatus show_platform(const ShowCommand& options, const platforms::ReadResult& read,
                         const std::string& format) {
  note_warnings(read.platform, options.console);
  std::string picture;
  if (!format.empty()) {
    picture =
        drawn(render::platform_picture(read.platform), format, options.output, options.console);
  }
  write_all(options, platform_report(read).render(options.json), picture);
  return ExitStatus::kDone;
}

// Removes the blocks of all other roots. Throws InputError if the plan has one root, or not this.
void keep_block_of(const std::string& root, planner::Plan& plan) {
  if (plan.has_one_root()) {
    throw InputError({}, "--root",
                     fmt::format("{} has one root; leave the option out",
                                 planner::with_article(plan.operation)));
  }
  std::vector<std::string_view> roots;
  for (const planner::PlanBlock& block : plan.blocks) roots.push_back(plan.nodes[block.root]);
  if (std::ranges::find(roots, root) == roots.end()) {
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    throw InputError({}, "--root", unknown_name("root", root, roots));
  }
  std::erase_if(plan.blocks,
                [&](const planner::PlanBlock& block) { return plan.nodes[block.root] != root; });
}

ExitStatus show_plan(const ShowCommand& options, const std::string& text,
                     const std::string& format) {
  const std::string file = display_name(options.input);
  planner::Plan plan = planner::parse_plan(text, file, planner::Roots::kAny);
  const platforms::Platform platform =
      planner::platform_of(plan, options.reading.read(options.platform, options.console));
  const planner::VerifyReport report = planner::verify(plan, platform, {.prove = false});
  if (print_faults(report, file)) return ExitStatus::kCheckFailed;

  std::vector<planner::ResourceLoad> loads = planner::loads_of(plan, platform);
  std::ranges::stable_sort(loads, std::greater<>(), &planner::ResourceLoad::load);
  if (!options.root.empty()) keep_block_of(options.root, plan);
  std::string picture;
  if (!format.empty()) {
    picture =
        drawn(render::plan_picture(plan, platform, loads), format, options.output, options.console);
  }
  write_all(options, plan_report(plan, platform, loads, options.top).render(options.json), picture);
  return ExitStatus::kDone;
}

ExitStatus ShowCommand::run() const {
  require_one_stdin("show", input, platform);
  const std::string format = picture_format(*this);
  std::error_code unknown;
  if (std::filesystem::is_directory(input, unknown) && platform.empty()) {
    return show_platform(*this, reading.read_all(input, console), format);
  }
  const std::string text = read_text(input);
  const std::string file = display_name(input);
  const bool plan = recognised(text, file).kind == InputKind::kPlan;
  if (plan && platform.empty()) {
    throw InputError(file, {}, "this is a plan; add --platform FILE, the platform that it is for");
  }
  if (!plan && !platform.empty()) {
    throw InputError(file, {}, "this is not a plan; leave out --platform");
  }
  if (plan) return show_plan(*this, text, format);
  if (!root.empty()) throw InputError({}, "--root", "is for a plan");
  return show_platform(*this, reading.parse(text, file, console), format);
}

void ShowCommand::add_to(Arguments& app) {
  app.add("file", input, "Platform or plan file; '-' is standard input",
          {.type = "PLATFORM|PLAN", .required = true});
  app.add("--platform", platform, "For a plan: its platform", {.type = "PLATFORM"});
  app.add("-o,--output", output, "Draw a picture into this file; '-' is standard output",
          {.type = "FILE"});
  app.add("--to", to,
          "The picture's format, " + one_of(kFormats) + "; default: by FILE's extension",
          {.type = "FORMAT"});
  app.add("--root", root,
          "For a plan in which every host is a root: show the trees of this one only",
          {.type = "NAME"});
  app.add("--top", top, "For a plan: how many of the busiest resources to list");
  app.add("--json", json, "JSON instead of tables");
  reading.add_to(app, /*in_help=*/true);
  add_console_options(app, console);
  app.add_footer(
      "An invalid plan is refused as by verify: one line per fault on stderr, exit status 5.");
}

}  // namespace

void add_show(Arguments root) {
  root.add_command<ShowCommand>("show", "Show a platform or a plan in figures, and as a picture");
}

}  // namespace espalier::cli
