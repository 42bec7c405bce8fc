// The arguments of a command, each bound to a variable whose type says how its text is read and
// shown, unless the declaration names another reader. Hides CLI11's large header.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/common/readers.hpp"
#include "support/errors.hpp"
#include "support/pinned.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the name is CLI11's
class App;
}

namespace espalier::cli {

// The values that a number may have, both inclusive; `what` follows them in the refusal.
struct Range {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::string what{};
};

// How an argument appears in help, and whether it is required.
struct Style {
  std::string type{};   // name of its value in help, "FILE"; empty: that of its kind, "SIZE"
  std::string group{};  // heading in help; empty: the default heading
  bool required = false;
  std::optional<std::string> shown{};  // the default in help; unset: the variable's value
  std::optional<Range> range{};        // of a number that is given
  std::optional<std::string> bare{};   // the value of an option that is given without one
  bool hidden = false;                 // understood, but not in help
  bool last_counts = false;            // of a repeated option
};

// What a value is called in help, by its type.
template <class Value>
inline constexpr const char* kKind = std::is_enum_v<Value> ? "NAME" : "TEXT";
template <>
inline constexpr const char* kKind<Bytes> = "SIZE";
template <>
inline constexpr const char* kKind<Seconds> = "TIME";
template <>
inline constexpr const char* kKind<BytesPerSecond> = "RATE";
template <>
inline constexpr const char* kKind<double> = "NUMBER";
template <>
inline constexpr const char* kKind<std::uint64_t> = "N";

struct CommandState;

// What is stored as it is.
template <class Value>
concept IsPlain =
    std::same_as<Value, std::string> || std::same_as<Value, std::optional<std::string>> ||
    std::same_as<Value, std::vector<std::string>> || std::same_as<Value, std::uint64_t> ||
    std::same_as<Value, std::optional<std::uint64_t>> || std::same_as<Value, double>;
// What is read by its unit.
template <class Value>
concept IsRead = HasReader<Value> && !IsPlain<Value>;

// The arguments of one command. Parsing sets the given variables; a variable whose argument is
// missing keeps its value. A name without dashes ("platform") is a positional argument,
// "-o,--output" an option. Variables must outlive the command line.
class Arguments {
 public:
  // Text as it is, and numbers. A vector is repeatable; a positional one takes all values.
  template <IsPlain Value>
  void add(const std::string& names, Value& value, const std::string& help,
           const Style& style = {});
  // "!--no-cache" sets the variable to false.
  void add(const std::string& names, bool& value, const std::string& help);
  // A quantity, an optional quantity, or a list of quantities (repeatable, separated by commas).
  template <IsRead Value>
  void add(const std::string& names, Value& value, const std::string& help,
           const Style& style = {}) {
    add(names, value, Quantity<ElementOf<Value>>::read, help, style);
  }
  // Anything, by a reader of the text (throws InputError: reason only). If the reader makes an
  // element of the variable, the option is repeatable and its elements are separated by commas.
  template <class Value, class Reader>
  requires std::invocable<Reader, const std::string&>
  void add(const std::string& names, Value& value, Reader read, const std::string& help,
           const Style& style = {}) {
    using Result = std::invoke_result_t<Reader, const std::string&>;
    Style named = style;
    if (named.type.empty()) named.type = kKind<ElementOf<Result>>;
    const std::string text = style.shown.value_or(shown(value));
    if constexpr (std::is_assignable_v<Value&, Result>) {
      add_text(
          names, [&value, read](const std::string& one) { value = read(one); }, help, named, text);
    } else {
      add_texts(
          names,
          [&value, read](const std::vector<std::string>& texts) {
            value.clear();
            for (const std::string& one : texts) {
              for (const std::string_view part : split(one, ',')) {
                value.push_back(read(std::string(part)));
              }
            }
          },
          help, named, text);
    }
  }
  // The text, or the texts of a repeatable option, go to `take`; for what one variable cannot hold.
  void add_text(const std::string& names, std::function<void(const std::string&)> take,
                const std::string& help, const Style& style = {}, const std::string& text = {});
  void add_texts(const std::string& names,
                 std::function<void(const std::vector<std::string>&)> take, const std::string& help,
                 const Style& style = {}, const std::string& text = {});

  // The two options exclude each other.
  void exclude(const std::string& one, const std::string& other);
  // Called after the arguments declared so far are read; throws InputError.
  void check(std::function<void()> act);
  // Below the options in help.
  void add_footer(const std::string& text);

  // Adds a subcommand without arguments of its own.
  Arguments add_group(const std::string& name, const std::string& help);
  // Adds a subcommand: Command::add_to declares its arguments, Command::run runs it, and check(),
  // if it has one, looks at all arguments together. initial: the command's first members.
  template <class Command, class... Initial>
  void add_command(std::string_view name, std::string_view help, Initial... initial) {
    const std::shared_ptr<Command> command(new Command{std::move(initial)...});
    Arguments own = add_group(std::string(name), std::string(help));
    command->add_to(own);
    if constexpr (requires { command->check(); }) own.check([command] { command->check(); });
    own.on_run([command] { return command->run(); });
  }

 private:
  friend class CommandLine;
  explicit Arguments(CommandState& state) : state_(&state) {}
  void on_run(std::function<ExitStatus()> run);

  CommandState* state_;
};

// The program's command line: --help, --version, or one of the commands.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class CommandLine : public Pinned {
 public:
  CommandLine(const std::string& description, const std::string& program,
              const std::string& version);
  ~CommandLine();

  [[nodiscard]] Arguments root();

  // Sets the variables. Returns the text to print for --help and --version, otherwise an empty
  // string. Throws InputError: one line with command, option and reason, and the nearest name for a
  // typo.
  [[nodiscard]] std::string parse(int argc, const char* const* argv);
  // Runs the parsed command.
  ExitStatus run();

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<CommandState> root_;
};

}  // namespace espalier::cli
