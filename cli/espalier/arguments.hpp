// The arguments of a command. Hides CLI11: only arguments.cpp includes that large header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name is CLI11's
class App;
}

namespace espalier::cli {

// How an argument appears in help, and whether it is required.
struct Style {
  std::string type{};   // name of its value in help, "FILE"; unused by flags
  std::string group{};  // heading in help; empty: the default heading
  bool required = false;
};

// The arguments of one command. Parsing sets the given variables; a variable whose argument is
// missing keeps its value. A name without dashes ("platform") is a positional argument,
// "-o,--output" an option.
class Arguments {
 public:
  void add(const std::string& names, std::string& value, const std::string& help,
           const Style& style = {});
  void add(const std::string& names, std::uint64_t& value, const std::string& help,
           const Style& style = {});
  void add(const std::string& names, double& value, const std::string& help,
           const Style& style = {});
  // Repeatable; a positional argument takes all values.
  void add(const std::string& names, std::vector<std::string>& value, const std::string& help,
           const Style& style = {});
  void add_flag(const std::string& names, bool& value, const std::string& help);
  // The two options exclude each other.
  void exclude(const std::string& one, const std::string& other);
  // Below the options in help.
  void add_footer(const std::string& text);

  // Adds a subcommand.
  Arguments add_command(const std::string& name, const std::string& help);
  // Whether the command line names this command; whether it contains this option.
  [[nodiscard]] bool chosen() const;
  [[nodiscard]] bool given(const std::string& option) const;

 private:
  friend class CommandLine;
  explicit Arguments(CLI::App& app) : app_(&app) {}
  CLI::App* app_;
};

// The program's command line: --help, --version, or one of the commands.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& program,
              const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  CommandLine(CommandLine&&) = delete;
  CommandLine& operator=(CommandLine&&) = delete;

  [[nodiscard]] Arguments root();

  // Sets the variables. Returns the text to print for --help and --version, otherwise an empty
  // string. Throws InputError: one line with command, option and reason, and the nearest name for a
  // typo.
  [[nodiscard]] std::string parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace espalier::cli
