// What a command takes from its command line. Hides CLI11, which is a large header: arguments.cpp
// alone includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 is called so
class App;
}

namespace espalier::cli {

// How an argument shows in help, and what it may look like.
struct Style {
  std::string type{};   // what help calls its value, "FILE"; unused by flags
  std::string group{};  // the heading in help; empty: the common one
  bool required = false;
};

// The arguments of one command; the variables named are set when the command line is parsed, and
// keep what they hold where it says nothing. A name without dashes ("platform") is a positional
// argument, "-o,--output" an option.
class Arguments {
 public:
  void add(const std::string& names, std::string& value, const std::string& help,
           const Style& style = {});
  void add(const std::string& names, std::uint64_t& value, const std::string& help,
           const Style& style = {});
  void add(const std::string& names, double& value, const std::string& help,
           const Style& style = {});
  // Repeatable; a positional one takes as many as there are.
  void add(const std::string& names, std::vector<std::string>& value, const std::string& help,
           const Style& style = {});
  void add_flag(const std::string& names, bool& value, const std::string& help);
  // These two cannot be given together.
  void exclude(const std::string& one, const std::string& other);
  // Below the options in help.
  void add_footer(const std::string& text);

  // A command below this one.
  Arguments add_command(const std::string& name, const std::string& help);
  // Whether the command line names this command; whether it gives this option.
  [[nodiscard]] bool chosen() const;
  [[nodiscard]] bool given(const std::string& option) const;

 private:
  friend class CommandLine;
  explicit Arguments(CLI::App& app) : app_(&app) {}
  CLI::App* app_;
};

// The whole program's command line: --help, --version, and one of the commands.
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

  // Sets the variables. Returns the text to print when help or the version is all that is asked
  // for, else nothing. Throws InputError: one line that names command, option and reason, and the
  // nearest name for a slip.
  [[nodiscard]] std::string parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace espalier::cli
