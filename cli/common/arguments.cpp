#include "cli/common/arguments.hpp"

#include <fmt/format.h>

// smpicxx makes it a macro, but CLI11 has a member of that name.
#undef exit
#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <span>

#include "cli/common/pages.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
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
  if (style.bare) option->expected(0, 1);
  option->required(style.required);
}

// The name of an argument in messages: "--segment" of "--segment,--slice".
std::string label_of(const std::string& names) {
  const std::vector<std::string_view> all = split(names, ',');
  const auto is_long = [](std::string_view name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(all, is_long);
  return std::string(found == all.end() ? all.front() : *found);
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

// What a command without positional arguments takes instead: "; this command takes options only:
// --parameters FILE, --against FILE (see --help)".
std::string options_instead(const CLI::App& app) {
  std::vector<std::string> files;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) return {};
    if (option->get_type_name() == "FILE" && !option->check_name("--output")) {
      files.push_back(fmt::format("--{} FILE", option->get_lnames().front()));
    }
  }
  return fmt::format("; this command takes options only{} (see --help)",
                     files.empty() ? "" : fmt::format(": {}", fmt::join(files, ", ")));
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
    return fmt::format("unexpected argument {}{}", in_quotes(rest.front()), options_instead(app));
  }
  if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return fmt::format("no {} given; one of: {}", kind, fmt::join(commands, ", "));
  }
  const std::string text = error.what();  // may have several lines
  return text.substr(0, text.find('\n'));
}

}  // namespace

namespace {

// What follows "one of: " in a help text, up to the end of the list.
std::vector<std::string> choices_in(const std::string& help) {
  constexpr std::string_view kBegin = "one of: ";
  const std::size_t begin = help.find(kBegin);
  if (begin == std::string::npos) return {};
  const std::string_view rest = std::string_view(help).substr(begin + kBegin.size());
  std::vector<std::string> choices;
  for (const std::string_view one : split(rest.substr(0, rest.find_first_of(";.\n(")), ',')) {
    choices.push_back(std::string(trimmed(one)));
  }
  return choices;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  facts.positional = option.get_positional();
  if (facts.positional) facts.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag) facts.value = option.get_type_name();
  facts.help = option.get_description();
  if (!is_flag) facts.shown = option.get_default_str();
  facts.choices = choices_in(facts.help);
  facts.required = option.get_required();
  return facts;
}

// The command, and then all that it leads to.
void add_facts(const CLI::App& app, std::vector<std::string> path,
               std::vector<CommandFacts>& commands) {
  path.push_back(app.get_name());
  CommandFacts facts{path, app.get_description(), app.get_footer(), {}, command_names(app)};
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      const bool is_hidden = option->get_group().empty();
      if (option->get_positional() == positional && !is_hidden) {
        facts.options.push_back(facts_of(*option));
      }
    }
  }
  commands.push_back(std::move(facts));
  for (const CLI::App* next : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_facts(*next, path, commands);
  }
}

// Writes a page for each command, "espalier-plan.1", and says how many.
std::string write_manual(std::span<const CommandFacts> commands, const std::string& version,
                         const std::string& folder) {
  for (const CommandFacts& command : commands) {
    write_text(fmt::format("{}/{}.1", folder, fmt::join(command.path, "-")),
               manual_page(command, version));
  }
  return fmt::format("{} pages in {}", commands.size(), folder);
}

}  // namespace

struct CommandState {
  explicit CommandState(CLI::App& own) : app(&own) {}

  // Has `act` called after parsing if the option is given; a refusal gets the option's name.
  void when_given(const CLI::Option* option, const std::string& names, std::function<void()> act) {
    after.emplace_back([option, names, act = std::move(act)] {
      if (option->count() > 0) at_place({}, label_of(names), act);
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
  if (style.type.empty()) option->type_name(kKind<std::uint64_t>);
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

template <IsPlain Value>
void Arguments::add(const std::string& names, Value& value, const std::string& help,
                    const Style& style) {
  if constexpr (std::same_as<Value, std::vector<std::string>>) {
    add_list(*state_, names, value, help, style);
  } else if constexpr (std::same_as<ElementOf<Value>, std::uint64_t>) {
    add_whole(*state_, names, value, help, style);
  } else {
    add_native(*state_, names, value, help, style);
  }
}

template void Arguments::add(const std::string&, std::string&, const std::string&, const Style&);
template void Arguments::add(const std::string&, std::optional<std::string>&, const std::string&,
                             const Style&);
template void Arguments::add(const std::string&, std::vector<std::string>&, const std::string&,
                             const Style&);
template void Arguments::add(const std::string&, std::uint64_t&, const std::string&, const Style&);
template void Arguments::add(const std::string&, std::optional<std::uint64_t>&, const std::string&,
                             const Style&);
template void Arguments::add(const std::string&, double&, const std::string&, const Style&);

void Arguments::add(const std::string& names, bool& value, const std::string& help) {
  if (names.starts_with('!')) {
    state_->app->add_flag_callback(
        names.substr(1), [&value] { value = false; }, help);
  } else {
    state_->app->add_flag(names, value, help);
  }
}

void Arguments::add_text(const std::string& names, std::function<void(const std::string&)> take,
                         const std::string& help, const Style& style, const std::string& text) {
  std::string& stored = state_->texts.emplace_back(text);
  const CLI::Option* const option = add_native(*state_, names, stored, help, style);
  state_->when_given(option, names, [&stored, bare = style.bare, take = std::move(take)] {
    take(stored.empty() ? bare.value_or("") : stored);
  });
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
  const std::string title = program + ' ' + version;
  app_->set_version_flag("--version", title, "Print the version and exit");
  const auto facts = [app = app_.get()] {
    std::vector<CommandFacts> commands;
    add_facts(*app, {}, commands);
    return commands;
  };
  app_->add_option_function<std::string>(
          "--completion",
          [facts](const std::string& shell) {
            throw CLI::CallForVersion(completion_script(facts(), shell), 0);
          },
          "Print what completes this program's command lines in a shell, one of: bash, zsh, fish")
      ->type_name("SHELL")
      ->trigger_on_parse();
  app_->add_option_function<std::string>(
          "--manual",
          [facts, title](const std::string& folder) {
            throw CLI::CallForVersion(write_manual(facts(), title, folder), 0);
          },
          "Write the manual pages into this folder")
      ->type_name("FOLDER")
      ->trigger_on_parse();
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
