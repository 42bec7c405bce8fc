// espalier convert: a platform from one file format into another.
#include <memory>
#include <string>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/platform_output.hpp"

namespace espalier::cli {

namespace {

struct ConvertOptions {
  Console console;
  PlatformOptions reading;
  PlatformOutput output;
  std::string input;
};

ExitStatus run_convert(const ConvertOptions& options) {
  const std::string format = options.output.format();
  const platforms::Platform platform = options.reading.read(options.input, options.console);
  options.output.write(platform, format);
  note_warnings(platform, options.console);
  return ExitStatus::kDone;
}

}  // namespace

Command add_convert(Arguments root) {
  auto options = std::make_shared<ConvertOptions>();
  Arguments app = root.add_command("convert", "Convert a platform file into another format");
  app.add("platform", options->input, "Platform file; '-' is standard input",
          {.type = "PLATFORM", .required = true});
  options->output.add_to(app, /*required=*/true);
  options->reading.add_to(app);
  add_console_options(app, options->console);
  return {app, [options] { return run_convert(*options); }};
}

}  // namespace espalier::cli
