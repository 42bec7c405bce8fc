// The commands of `espalier`, one file each in this folder.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "support/errors.hpp"

namespace espalier::cli {

// A command's place in the command line, and what it does once its options are read.
struct Command {
  CLI::App* app;
  std::function<ExitStatus()> run;
};

Command add_plan(CLI::App& root);
Command add_compare(CLI::App& root);
Command add_bound(CLI::App& root);
Command add_verify(CLI::App& root);
Command add_convert(CLI::App& root);
std::vector<Command> add_generate(CLI::App& root);  // one a family
Command add_list(CLI::App& root);

// All of them, in the order that help shows.
std::vector<Command> add_commands(CLI::App& root);

// What `generate` makes, for `list families`.
struct FamilyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
};
std::span<const FamilyEntry> families();

}  // namespace espalier::cli
