#include "cli/espalier/command_line.hpp"

#include <string>

#include "cli/common/arguments.hpp"
#include "cli/espalier/commands/commands.hpp"
#include "support/files.hpp"

namespace espalier::cli {

namespace {

constexpr const char* kFooter =
    "'espalier COMMAND --help' documents each command. Data go to stdout, messages to stderr;\n"
    "'-' as a file is standard input or output.\n\n"
    "Exit status: 0 done; 1 an internal error; 2 wrong usage or input; 3 no solution\n"
    "(a node that cannot be reached); 4 limit reached; 5 a check failed;\n"
    "6 some hosts lack the file (run).";

}  // namespace

ExitStatus run_command_line(int argc, const char* const* argv) {
  CommandLine line(
      "Plans collective communication on heterogeneous networks and proves how good the plans are.",
      "espalier", ESPALIER_VERSION);
  line.root().add_footer(kFooter);
  for (const auto add : {add_plan, add_compare, add_bound, add_explain, add_verify, add_simulate,
                         add_predict, add_decide, add_fit, add_show, add_report, add_convert,
                         add_export, add_generate, add_run, add_study, add_list, add_doctor}) {
    add(line.root());
  }
  const std::string help = line.parse(argc, argv);
  if (help.empty()) return line.run();
  write_text("-", help);
  return ExitStatus::kDone;
}

}  // namespace espalier::cli
