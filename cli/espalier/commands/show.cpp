// espalier show: figures of a platform or a plan, and a picture of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/plan_report.hpp"
#include "cli/espalier/reports/platform_report.hpp"
#include "planner/check/verify.hpp"
#include "render/pictures.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

constexpr std::array<std::string_view, 3> kFormats{"svg", "png", "dot"};

struct ShowOptions {
  Console console;
  PlatformOptions reading;
  std::string input;
  std::string platform;
  std::string output;
  std::string to;
  std::size_t top = 10;
  bool json = false;
};

std::string choices() {
  return one_of({kFormats.begin(), kFormats.end()});
}

// The picture's format; empty if no picture is wanted. Throws InputError if the picture cannot be
// written. Called before the work.
std::string picture_format(const ShowOptions& options) {
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
      throw InputError(options.output, {}, "unknown extension; add --to, " + choices());
    }
  }
  if (std::ranges::find(kFormats, format) == kFormats.end()) {
    throw InputError({}, "--to", unknown_name("format", format, kFormats));
  }
  return format;
}

// A plan is JSON with that "format". Other text is left to the readers of platforms.
bool is_plan(const std::string& text, const std::string& file) {
  if (text.find("\"espalier-plan\"") == std::string::npos) return false;
  if (text.find_first_not_of(" \t\r\n\xEF\xBB\xBF") != text.find('{')) return false;
  const Json document = parse_json(text, file);
  const auto format = document.find("format");
  return format != document.end() && *format == "espalier-plan";
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
void write_all(const ShowOptions& options, const std::string& report, const std::string& picture) {
  if (!options.output.empty()) write_text(options.output, picture);
  if (options.output == "-") {
    options.console.block(report);
  } else {
    write_text("-", report);
  }
}

ExitStatus show_platform(const ShowOptions& options, const platforms::ReadResult& read,
                         const std::string& format) {
  note_warnings(read.platform, options.console);
  std::string picture;
  if (!format.empty()) {
    picture =
        drawn(render::platform_picture(read.platform), format, options.output, options.console);
  }
  write_all(options, options.json ? json_text(platform_json(read)) : platform_tables(read),
            picture);
  return ExitStatus::kDone;
}

ExitStatus show_plan(const ShowOptions& options, const std::string& text,
                     const std::string& format) {
  const std::string file = display_name(options.input);
  const planner::Plan plan = planner::parse_plan(text, file);
  const platforms::Platform platform = options.reading.read(options.platform, options.console);
  const planner::VerifyReport report = planner::verify(plan, platform, {.prove = false});
  for (const std::string& fault : report.faults) print_error(fmt::format("{}: {}", file, fault));
  if (!report.faults.empty()) return ExitStatus::kCheckFailed;

  std::vector<planner::ResourceLoad> loads =
      planner::loads_of(plan, platform,
                        platforms::occupation(platform, platforms::parse_model(plan.model),
                                              {plan.segment, plan.latency_occupies}));
  std::ranges::stable_sort(loads, std::greater<>(), &planner::ResourceLoad::load);
  std::string picture;
  if (!format.empty()) {
    picture =
        drawn(render::plan_picture(plan, platform, loads), format, options.output, options.console);
  }
  write_all(options,
            options.json ? json_text(plan_json(plan, platform, loads, options.top))
                         : plan_tables(plan, platform, loads, options.top),
            picture);
  return ExitStatus::kDone;
}

ExitStatus run_show(const ShowOptions& options) {
  if (options.input == "-" && options.platform == "-") {
    throw InputError("show: plan and platform cannot both be standard input");
  }
  const std::string format = picture_format(options);
  std::error_code unknown;
  if (std::filesystem::is_directory(options.input, unknown) && options.platform.empty()) {
    return show_platform(options, options.reading.read_all(options.input, options.console), format);
  }
  const std::string text = read_text(options.input);
  const bool plan = is_plan(text, display_name(options.input));
  if (plan && options.platform.empty()) {
    throw InputError(display_name(options.input), {},
                     "this is a plan; add --platform FILE, the platform that it is for");
  }
  if (!plan && !options.platform.empty()) {
    throw InputError(display_name(options.input), {}, "this is not a plan; leave out --platform");
  }
  if (plan) return show_plan(options, text, format);
  return show_platform(
      options, options.reading.parse(text, display_name(options.input), options.console), format);
}

}  // namespace

Command add_show(Arguments root) {
  auto options = std::make_shared<ShowOptions>();
  Arguments app =
      root.add_command("show", "Show a platform or a plan in figures, and as a picture");
  app.add("file", options->input, "Platform or plan file; '-' is standard input",
          {.type = "PLATFORM|PLAN", .required = true});
  app.add("--platform", options->platform, "For a plan: its platform", {.type = "PLATFORM"});
  app.add("-o,--output", options->output, "Draw a picture into this file; '-' is standard output",
          {.type = "FILE"});
  app.add("--to", options->to,
          "The picture's format, " + choices() + "; default: by FILE's extension",
          {.type = "FORMAT"});
  app.add("--top", options->top, "For a plan: how many of the busiest resources to list",
          {.type = "N"});
  app.add_flag("--json", options->json, "JSON instead of tables");
  options->reading.add_to(app);
  add_console_options(app, options->console);
  app.add_footer(
      "An invalid plan is refused as by verify: one line per fault on stderr, exit status 5.");
  return {app, [options] { return run_show(*options); }};
}

}  // namespace espalier::cli
