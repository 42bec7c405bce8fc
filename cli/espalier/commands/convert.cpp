// espalier convert: a platform from one file format into another.
#include <string>

#include "cli/espalier/commands/commands.hpp"
#include "cli/espalier/console.hpp"
#include "cli/espalier/options.hpp"
#include "cli/espalier/reports/platform_output.hpp"

namespace espalier::cli {

namespace {

struct ConvertCommand {
  Console console{};
  PlatformOptions reading{};
  PlatformOutput output{};
  std::string input{};

  void add_to(Arguments& app) {
    add_file(app, "platform", input);
    output.add_to(app, /*required=*/true);
    reading.add_to(app, /*in_help=*/true);
    add_console_options(app, console);
  }
  [[nodiscard]] ExitStatus run() const {
    const std::string format = output.format();
    const platforms::Platform platform = reading.read(input, console);
    output.write(platform, format, console);
    note_warnings(platform, console);
    return ExitStatus::kDone;
  }
};

}  // namespace

void add_convert(Arguments root) {
  root.add_command<ConvertCommand>("convert", "Convert a platform file into another format");
}

}  // namespace espalier::cli
