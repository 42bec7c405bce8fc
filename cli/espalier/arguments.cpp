#include "cli/espalier/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace espalier::cli {

namespace {

void apply(CLI::Option* option, const Style& style) {
  if (!style.type.empty()) option->type_name(style.type);
  if (!style.group.empty()) option->group(style.group);
  option->required(style.required);
}

template <typename Value>
void add_single(CLI::App& app, const std::string& names, Value& value, const std::string& help,
                const Style& style) {
  CLI::Option* option = app.add_option(names, value, help);
  apply(option, style);
  option->capture_default_str();
}

// The innermost command that was named: `random` of `generate random`.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().back();
  return *current;
}

// "plan: ", "generate random: "; empty for the program itself.
std::string prefix_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* part = &app; part->get_parent() != nullptr; part = part->get_parent()) {
    names.insert(names.begin(), part->get_name());
  }
  return names.empty() ? std::string{} : fmt::format("{}: ", fmt::join(names, " "));
}

std::vector<std::string> command_names(const CLI::App& app) {
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

// Reports unknown arguments before missing ones, since a typo in an option's name causes both.
std::string usage_fault(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = innermost(root);
  const std::vector<std::string> commands = command_names(app);
  const std::string_view kind = app.get_parent() == nullptr ? "command" : "family";
  const std::vector<std::string> rest = root.remaining(true);
  if (!rest.empty()) {
    const std::string name = rest.front().substr(0, rest.front().find('='));
    if (name.size() > 1 && name.front() == '-') return unknown("option", name, option_names(app));
    if (!commands.empty()) return unknown(kind, name, commands);
    return fmt::format("unexpected argument {}", in_quotes(rest.front()));
  }
  if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return fmt::format("no {} given; one of: {}", kind, fmt::join(commands, ", "));
  }
  return error.what();
}

}  // namespace

void Arguments::add(const std::string& names, std::string& value, const std::string& help,
                    const Style& style) {
  add_single(*app_, names, value, help, style);
}

void Arguments::add(const std::string& names, std::uint64_t& value, const std::string& help,
                    const Style& style) {
  add_single(*app_, names, value, help, style);
}

void Arguments::add(const std::string& names, double& value, const std::string& help,
                    const Style& style) {
  add_single(*app_, names, value, help, style);
}

void Arguments::add(const std::string& names, std::vector<std::string>& value,
                    const std::string& help, const Style& style) {
  CLI::Option* option = app_->add_option(names, value, help);
  apply(option, style);
  // Otherwise an option would consume the positional arguments that follow it.
  if (names.front() == '-') option->allow_extra_args(false);
}

void Arguments::add_flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help);
}

void Arguments::exclude(const std::string& one, const std::string& other) {
  app_->get_option(one)->excludes(app_->get_option(other));
}

void Arguments::add_footer(const std::string& text) {
  app_->footer(text);
}

Arguments Arguments::add_command(const std::string& name, const std::string& help) {
  app_->require_subcommand(1);
  return Arguments(*app_->add_subcommand(name, help));
}

bool Arguments::chosen() const {
  return app_->parsed();
}

bool Arguments::given(const std::string& option) const {
  return app_->count(option) > 0;
}

CommandLine::CommandLine(const std::string& description, const std::string& program,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, program)) {
  app_->set_version_flag("--version", program + ' ' + version, "Print the version and exit");
}

CommandLine::~CommandLine() = default;

Arguments CommandLine::root() {
  return Arguments(*app_);
}

std::string CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + '\n';
  } catch (const CLI::Success&) {
    return app_->help() + '\n';
  } catch (const CLI::ParseError& error) {
    throw InputError(prefix_of(innermost(*app_)) + usage_fault(*app_, error));
  }
  return {};
}

}  // namespace espalier::cli
