// The commands of `espalier`, one file each in this folder.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/espalier/arguments.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

// A command's place in the command line, and what it does once its options are read.
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
std::vector<Command> add_generate(Arguments root);  // one a family
std::vector<Command> add_study(Arguments root);     // one a family, and `files`
Command add_list(Arguments root);

// All of them, in the order that help shows.
std::vector<Command> add_commands(Arguments root);

// What `generate` makes, for `list families`.
struct FamilyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  Command (*add)(Arguments& generate, const FamilyEntry& entry);
};
std::span<const FamilyEntry> families();

}  // namespace espalier::cli
