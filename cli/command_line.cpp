#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/options.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

constexpr const char* kFooter =
    "'espalier COMMAND --help' documents each command. Data go to stdout, messages to stderr; '-' "
    "as a file\n"
    "is standard input or output.\n\n"
    "Exit status: 0 done; 1 a fault of Espalier's own; 2 wrong usage or input; 3 no solution (a "
    "node that\n"
    "cannot be reached); 4 a limit came first; 5 a check failed.";

// The command that the arguments got to: `generate random` is two deep.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().back();
  return *current;
}

// "plan: ", "generate random: "; nothing for the program itself.
std::string prefix_of(const CLI::App& app) {
  std::string prefix;
  for (const CLI::App* part = &app; part->get_parent() != nullptr; part = part->get_parent()) {
    prefix = prefix.empty() ? part->get_name() : part->get_name() + ' ' + prefix;
  }
  return prefix.empty() ? prefix : prefix + ": ";
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string unknown(std::string_view kind, const std::string& name,
                    const std::vector<std::string>& choices) {
  const std::vector<std::string_view> views(choices.begin(), choices.end());
  return unknown_name(kind, name, views);
}

// What nothing could be made of is told before what is missing: a slip in an option's name causes
// both.
std::string usage_fault(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = innermost(root);
  const std::vector<std::string> names = subcommand_names(app);
  const std::string_view kind = app.get_parent() == nullptr ? "command" : "family";
  const std::vector<std::string> rest = root.remaining(true);
  if (!rest.empty()) {
    const std::string name = rest.front().substr(0, rest.front().find('='));
    if (name.size() > 1 && name.front() == '-') return unknown("option", name, option_names(app));
    if (!names.empty()) return unknown(kind, name, names);
    return fmt::format("unexpected argument '{}'", rest.front());
  }
  if (!names.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return fmt::format("no {} given; one of: {}", kind, fmt::join(names, ", "));
  }
  return error.what();
}

}  // namespace

ExitStatus run_command_line(int argc, const char* const* argv) {
  CLI::App app{"Plans, proves and runs pipelined broadcasts on networks whose links are not alike.",
               "espalier"};
  app.footer(kFooter);
  app.set_version_flag("--version", "espalier " ESPALIER_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  const std::vector<Command> commands = add_commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    write_text("-", std::string(version.what()) + '\n');
    return ExitStatus::kDone;
  } catch (const CLI::Success&) {
    write_text("-", app.help() + '\n');
    return ExitStatus::kDone;
  } catch (const CLI::ParseError& error) {
    throw InputError(prefix_of(innermost(app)) + usage_fault(app, error));
  }
  const auto chosen = std::find_if(commands.begin(), commands.end(),
                                   [](const Command& command) { return command.app->parsed(); });
  return chosen->run();
}

}  // namespace espalier::cli
