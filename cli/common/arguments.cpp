#include "cli/common/arguments.hpp"

#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace espalier::cli {

namespace {

void apply(CLI::Option* option, const Style& style) {
  if (!style.type.empty()) option->type_name(style.type);
  if (!style.group.empty()) option->group(style.group);
  if (style.hidden) option->group("");
  if (style.last_counts) option->take_last();
  if (style.shown) option->default_str(*style.shown);
  option->required(style.required);
}

// The name of an argument in messages: "--segment" of "--segment,--slice".
std::string label_of(const std::string& names) {
  const std::vector<std::string> all = split_list(names);
  const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(all, is_long);
  return found == all.end() ? all.front() : *found;
}

void require_within(const Range& range, std::uint64_t value) {
  if (value >= range.least && value <= range.most) return;
  throw InputError(fmt::format("{} is not from {} to {}{}{}", value, range.least, range.most,
                               range.what.empty() ? "" : " ", range.what));
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
    const bool takes_options_only = std::ranges::all_of(
        app.get_options(), [](const CLI::Option* option) { return !option->get_positional(); });
    return fmt::format("unexpected argument {}{}", in_quotes(rest.front()),
                       takes_options_only ? "; this command takes options only, see --help" : "");
  }
  if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return fmt::format("no {} given; one of: {}", kind, fmt::join(commands, ", "));
  }
  const std::string text = error.what();  // may have several lines
  return text.substr(0, text.find('\n'));
}

}  // namespace

struct CommandState {
  explicit CommandState(CLI::App& own) : app(&own) {}

  // Has `act` called after parsing if the option is given; a refusal gets the option's name.
  void when_given(const CLI::Option* option, const std::string& names, std::function<void()> act) {
    after.emplace_back([option, names, act = std::move(act)] {
      if (option->count() == 0) return;
      try {
        act();
      } catch (const InputError& fault) {
        throw InputError({}, label_of(names), fault.what());
      }
    });
  }

  CLI::App* app;
  // What CLI11 stores until it is read; the addresses must stay.
  std::deque<std::string> texts{};
  std::deque<std::vector<std::string>> lists{};
  std::vector<std::function<void()>> after{};  // readers and checks, in order
  std::function<ExitStatus()> run{};
  std::deque<CommandState> commands{};
};

namespace {

// Adds an option that CLI11 itself converts.
template <class Value>
CLI::Option* add_native(CommandState& state, const std::string& names, Value& value,
                        const std::string& help, const Style& style) {
  CLI::Option* const option = state.app->add_option(names, value, help);
  option->capture_default_str();
  apply(option, style);
  return option;
}

// The same for a list. Otherwise an option would consume the positional arguments that follow it.
CLI::Option* add_list(CommandState& state, const std::string& names,
                      std::vector<std::string>& value, const std::string& help,
                      const Style& style) {
  CLI::Option* const option = state.app->add_option(names, value, help);
  apply(option, style);
  if (names.front() == '-') option->allow_extra_args(false);
  return option;
}

// The same for a whole number, which may have a range.
template <class Value>
void add_whole(CommandState& state, const std::string& names, Value& value, const std::string& help,
               const Style& style) {
  CLI::Option* const option = add_native(state, names, value, help, style);
  option->check([](const std::string& text) {  // CLI11 takes -1 as the largest number
    return parse_whole<std::uint64_t>(text)
               ? std::string()
               : in_quotes(text) + " is not a whole number of at least 0";
  });
  if (!style.range) return;
  state.when_given(option, names, [&value, range = *style.range] {
    if constexpr (std::is_arithmetic_v<Value>) {
      require_within(range, value);
    } else {
      require_within(range, *value);
    }
  });
}

// The state of the command that was named.
CommandState* chosen_of(CommandState& root) {
  for (CommandState& command : root.commands) {
    if (command.app->parsed()) return chosen_of(command);
  }
  return &root;
}

}  // namespace

void Arguments::add(const std::string& names, std::string& value, const std::string& help,
                    const Style& style) {
  add_native(*state_, names, value, help, style);
}

void Arguments::add(const std::string& names, std::optional<std::string>& value,
                    const std::string& help, const Style& style) {
  add_native(*state_, names, value, help, style);
}

void Arguments::add(const std::string& names, std::vector<std::string>& value,
                    const std::string& help, const Style& style) {
  add_list(*state_, names, value, help, style);
}

void Arguments::add(const std::string& names, std::uint64_t& value, const std::string& help,
                    const Style& style) {
  add_whole(*state_, names, value, help, style);
}

void Arguments::add(const std::string& names, std::optional<std::uint64_t>& value,
                    const std::string& help, const Style& style) {
  add_whole(*state_, names, value, help, style);
}

void Arguments::add(const std::string& names, double& value, const std::string& help,
                    const Style& style) {
  add_native(*state_, names, value, help, style);
}

void Arguments::add(const std::string& names, bool& value, const std::string& help) {
  state_->app->add_flag(names, value, help);
}

void Arguments::add_text(const std::string& names, std::function<void(const std::string&)> take,
                         const std::string& help, const Style& style, const std::string& text) {
  std::string& stored = state_->texts.emplace_back(text);
  const CLI::Option* const option = add_native(*state_, names, stored, help, style);
  state_->when_given(option, names, [&stored, take = std::move(take)] { take(stored); });
}

void Arguments::add_texts(const std::string& names,
                          std::function<void(const std::vector<std::string>&)> take,
                          const std::string& help, const Style& style, const std::string& text) {
  std::vector<std::string>& stored = state_->lists.emplace_back();
  CLI::Option* const option = add_list(*state_, names, stored, help, style);
  if (!text.empty()) option->default_str(text);
  state_->when_given(option, names, [&stored, take = std::move(take)] { take(stored); });
}

void Arguments::exclude(const std::string& one, const std::string& other) {
  state_->app->get_option(one)->excludes(state_->app->get_option(other));
}

void Arguments::check(std::function<void()> act) {
  state_->after.push_back(std::move(act));
}

void Arguments::add_footer(const std::string& text) {
  state_->app->footer(text);
}

Arguments Arguments::add_group(const std::string& name, const std::string& help) {
  state_->app->require_subcommand(1);
  return Arguments(state_->commands.emplace_back(*state_->app->add_subcommand(name, help)));
}

void Arguments::on_run(std::function<ExitStatus()> run) {
  state_->run = std::move(run);
}

CommandLine::CommandLine(const std::string& description, const std::string& program,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, program)),
      root_(std::make_unique<CommandState>(*app_)) {
  app_->set_version_flag("--version", program + ' ' + version, "Print the version and exit");
}

CommandLine::~CommandLine() = default;

Arguments CommandLine::root() {
  return Arguments(*root_);
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
  for (const std::function<void()>& act : chosen_of(*root_)->after) act();
  return {};
}

ExitStatus CommandLine::run() {
  return chosen_of(*root_)->run();
}

}  // namespace espalier::cli
