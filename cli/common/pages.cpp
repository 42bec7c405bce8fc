#include "cli/common/pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/text.hpp"

namespace espalier::cli {

namespace {

// "plan", "generate star"; empty for the program itself.
std::string words_of(const CommandFacts& command) {
  const std::span words = std::span(command.path).subspan(1);
  return fmt::format("{}", fmt::join(words, " "));
}

// The function of a script: no dashes.
std::string function_of(const CommandFacts& program) {
  std::string name = "_" + program.path.front();
  std::ranges::replace(name, '-', '_');
  return name;
}

// The name that completion offers: others are short, or old.
const std::string& offered_name(const OptionFacts& option) {
  const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(option.names, is_long);
  return found == option.names.end() ? option.names.front() : *found;
}

// The beginning of a help text, as far as it fits beside a name.
std::string brief(const std::string& help) {
  constexpr std::size_t kMost = 60;
  std::string text = help.substr(0, help.find_first_of(";:\n"));
  text = text.substr(0, std::min(text.find(". "), text.find(", one of")));
  if (text.size() <= kMost) return text;
  return text.substr(0, text.rfind(' ', kMost)) + " ...";
}

// What bash and zsh have in common: from `words` to `named`, the command that is named, with a
// blank before each of its words.
std::string named_loop(std::span<const CommandFacts> commands, std::string_view words,
                       std::string_view first, std::string_view current) {
  std::string patterns;
  for (const CommandFacts& command : commands.subspan(1)) {
    patterns += fmt::format("{}' {}'", patterns.empty() ? "" : "|", words_of(command));
  }
  return fmt::format(
      "  for ((i = {0}; i < {1}; i++)); do\n"
      "    case \"$named ${{{2}[i]}}\" in\n"
      "      {3}) named+=\" ${{{2}[i]}}\" ;;\n"
      "    esac\n"
      "  done\n",
      first, current, words, patterns);
}

// "' plan:--model'|' bound:--model') one-port ... ;;" for each list of choices, where `take` makes
// the words its completions.
std::string value_cases(std::span<const CommandFacts> commands, const auto& take) {
  std::string cases;
  for (const CommandFacts& command : commands) {
    const std::string words = words_of(command);
    for (const OptionFacts& option : command.options) {
      if (option.positional || option.choices.empty()) continue;
      std::string patterns;
      for (const std::string& name : option.names) {
        patterns += fmt::format("{}'{}{}:{}'", patterns.empty() ? "" : "|",
                                words.empty() ? "" : " ", words, name);
      }
      cases += fmt::format("    {}) {}; return ;;\n", patterns, take(option.choices));
    }
  }
  return cases;
}

// The commands that a command leads to, and its options: name and brief help.
struct Offer {
  std::string name;
  std::string help;
};
std::vector<Offer> offers_of(const CommandFacts& command, std::span<const CommandFacts> all) {
  std::vector<Offer> offers;
  for (const CommandFacts& other : all) {
    if (other.path.size() != command.path.size() + 1) continue;
    if (!std::equal(command.path.begin(), command.path.end(), other.path.begin())) continue;
    offers.push_back({other.path.back(), brief(other.help)});
  }
  for (const OptionFacts& option : command.options) {
    if (!option.positional) offers.push_back({offered_name(option), brief(option.help)});
  }
  return offers;
}

std::string bash_script(std::span<const CommandFacts> commands) {
  const std::string function = function_of(commands.front());
  std::string script = fmt::format(
      "# bash completion of {0}, written by '{0} --completion bash'\n{1}() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} named= "
      "list= i\n",
      commands.front().path.front(), function);
  script += named_loop(commands, "COMP_WORDS", "1", "COMP_CWORD");
  script += "  case \"$named:$previous\" in\n";
  script += value_cases(commands, [](const std::vector<std::string>& choices) {
    return fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                       in_shell_quotes(fmt::format("{}", fmt::join(choices, " "))));
  });
  script += "  esac\n  case \"$named\" in\n";
  for (const CommandFacts& command : commands) {
    std::vector<std::string> names;
    for (const Offer& offer : offers_of(command, commands)) names.push_back(offer.name);
    const std::string words = words_of(command);
    script += fmt::format("    '{}{}') list={} ;;\n", words.empty() ? "" : " ", words,
                          in_shell_quotes(fmt::format("{}", fmt::join(names, " "))));
  }
  // Without a reply bash completes files.
  script += fmt::format(
      "  esac\n"
      "  [[ $current == -* || $list != -* ]] && COMPREPLY=($(compgen -W \"$list\" -- "
      "\"$current\"))\n"
      "}}\ncomplete -o default -F {} {}\n",
      function, commands.front().path.front());
  return script;
}

std::string zsh_script(std::span<const CommandFacts> commands) {
  const std::string& program = commands.front().path.front();
  std::string script = fmt::format(
      "#compdef {0}\n# zsh completion of {0}, written by '{0} --completion zsh'\n_{0}() {{\n"
      "  local named= i\n  local -a list\n",
      program);
  script += named_loop(commands, "words", "2", "CURRENT");
  script += "  case \"$named:${words[CURRENT - 1]}\" in\n";
  script += value_cases(commands, [](const std::vector<std::string>& choices) {
    return fmt::format("compadd -- {}", fmt::join(choices, " "));
  });
  script += "  esac\n  case \"$named\" in\n";
  for (const CommandFacts& command : commands) {
    std::string list;
    for (const Offer& offer : offers_of(command, commands)) {
      list += ' ' + in_shell_quotes(offer.name + ':' + offer.help);
    }
    const std::string words = words_of(command);
    script += fmt::format("    '{}{}') list=({} ) ;;\n", words.empty() ? "" : " ", words, list);
  }
  script += fmt::format(
      "  esac\n"
      "  if [[ ${{words[CURRENT]}} == -* || ${{list[1]}} != -* ]]; then\n"
      "    _describe {0} list\n  else\n    _files\n  fi\n}}\n"
      // The file is the function's body where zsh loads it, or it is sourced.
      "if [[ ${{funcstack[1]}} == _{0} ]]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n",
      program);
  return script;
}

// Whether the command is the one named.
std::string fish_condition(const CommandFacts& command) {
  if (command.path.size() == 1) return "__fish_use_subcommand";
  std::string condition;
  for (std::size_t i = 1; i < command.path.size(); ++i) {
    condition +=
        fmt::format("{}__fish_seen_subcommand_from {}", i == 1 ? "" : "; and ", command.path[i]);
  }
  if (!command.commands.empty()) {
    condition +=
        fmt::format("; and not __fish_seen_subcommand_from {}", fmt::join(command.commands, " "));
  }
  return condition;
}

std::string fish_option(const OptionFacts& option) {
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    if (is_long && name != offered_name(option)) continue;
    text += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
  }
  if (!option.value.empty()) text += " -r";
  if (!option.choices.empty()) {
    text += fmt::format(" -f -a {}",
                        in_shell_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  return text;
}

std::string fish_script(std::span<const CommandFacts> commands) {
  const std::string& program = commands.front().path.front();
  std::string script =
      fmt::format("# fish completion of {0}, written by '{0} --completion fish'\n", program);
  const auto add = [&](const CommandFacts& command, const std::string& what,
                       const std::string& help) {
    script +=
        fmt::format("complete -c {} -n {}{} -d {}\n", program,
                    in_shell_quotes(fish_condition(command)), what, in_shell_quotes(brief(help)));
  };
  for (const CommandFacts& command : commands) {
    for (const Offer& offer : offers_of(command, commands)) {
      if (!offer.name.starts_with('-')) add(command, " -f -a " + offer.name, offer.help);
    }
    for (const OptionFacts& option : command.options) {
      if (!option.positional) add(command, fish_option(option), option.help);
    }
  }
  return script;
}

// Text of a manual page: troff's own letters escaped, and no line that begins with one.
std::string troff(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const bool begins_line = result.empty() || result.back() == '\n';
    if (begins_line && (letter == '.' || letter == '\'')) result += "\\&";
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string page_name(std::span<const std::string> path) {
  return fmt::format("{}", fmt::join(path, "-"));
}

std::string manual_option(const OptionFacts& option) {
  std::string text = ".TP\n\\fB" + troff(fmt::format("{}", fmt::join(option.names, ", "))) + "\\fR";
  if (!option.value.empty()) text += " \\fI" + troff(option.value) + "\\fR";
  text += '\n' + troff(option.help);
  if (option.required) text += " (required)";
  if (!option.shown.empty()) text += " (default: " + troff(option.shown) + ")";
  return text + '\n';
}

}  // namespace

std::string completion_script(std::span<const CommandFacts> commands, std::string_view shell) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  static constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};
  throw InputError({}, "--completion", unknown_name("shell", shell, kShells));
}

std::string manual_page(const CommandFacts& command, const std::string& version) {
  const std::string invoked = troff(fmt::format("{}", fmt::join(command.path, " ")));
  std::string positionals;
  std::string options;
  for (const OptionFacts& option : command.options) {
    if (option.positional) positionals += ' ' + troff(option.names.front());
    options += manual_option(option);
  }
  std::string page = fmt::format(
      ".TH \"{0}\" 1 \"\" \"{1}\" \"Espalier\"\n.SH NAME\n{0} \\- {2}\n"
      ".SH SYNOPSIS\n\\fB{3}\\fR [OPTIONS]{4}{5}\n.SH OPTIONS\n{6}",
      troff(page_name(command.path)), troff(version),
      troff(command.help.substr(0, command.help.find('\n'))), invoked,
      command.commands.empty() ? "" : " COMMAND", positionals, options);
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const std::string& next : command.commands) {
    page += fmt::format(".TP\n\\fB{0} {1}\\fR\nsee \\fB{2}\\-{1}\\fR(1)\n", invoked, troff(next),
                        troff(page_name(command.path)));
  }
  if (const std::size_t more = command.help.find('\n'); more != std::string::npos) {
    page += ".SH EXAMPLES\n.nf\n" + troff(command.help.substr(more + 1)) + "\n.fi\n";
  }
  if (!command.footer.empty()) page += ".SH NOTES\n.nf\n" + troff(command.footer) + "\n.fi\n";
  return page;
}

}  // namespace espalier::cli
