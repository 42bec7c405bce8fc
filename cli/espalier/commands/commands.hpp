// The commands of `espalier`, one file each in this folder.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

// A command: its arguments, and the function that runs it after they are parsed.
struct Command {
  Arguments arguments;
  std::function<ExitStatus()> run;
};

Command add_plan(Arguments root);
Command add_compare(Arguments root);
Command add_bound(Arguments root);
Command add_explain(Arguments root);
Command add_verify(Arguments root);
Command add_simulate(Arguments root);
Command add_predict(Arguments root);
Command add_decide(Arguments root);
Command add_fit(Arguments root);
Command add_convert(Arguments root);
Command add_show(Arguments root);
std::vector<Command> add_generate(Arguments root);  // one per family
std::vector<Command> add_study(Arguments root);     // one per family, and `files`
Command add_list(Arguments root);

// All commands, in the order of help.
std::vector<Command> add_commands(Arguments root);

// A family that `generate` makes.
struct FamilyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  Command (*add)(Arguments& generate, const FamilyEntry& entry);
};
std::span<const FamilyEntry> families();

}  // namespace espalier::cli
