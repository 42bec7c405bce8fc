#include "cli/espalier/command_line.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

constexpr const char* kFooter =
    "'espalier COMMAND --help' documents each command. Data go to stdout, messages to stderr;\n"
    "'-' as a file is standard input or output.\n\n"
    "Exit status: 0 done; 1 an internal error; 2 wrong usage or input; 3 no solution\n"
    "(a node that cannot be reached); 4 limit reached; 5 a check failed.";

}  // namespace

ExitStatus run_command_line(int argc, const char* const* argv) {
  CommandLine line(
      "Plans collective communication on heterogeneous networks and proves how good the plans are.",
      "espalier", ESPALIER_VERSION);
  line.root().add_footer(kFooter);
  const std::vector<Command> commands = add_commands(line.root());
  const std::string help = line.parse(argc, argv);
  if (!help.empty()) {
    write_text("-", help);
    return ExitStatus::kDone;
  }
  const auto chosen = std::find_if(commands.begin(), commands.end(), [](const Command& command) {
    return command.arguments.chosen();
  });
  return chosen->run();
}

}  // namespace espalier::cli
