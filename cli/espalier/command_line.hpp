// `espalier COMMAND …`: which command is meant, and one line for whatever is wrong with how it was
// written.
#pragma once

#include "support/errors.hpp"

namespace espalier::cli {

// Runs the command that the arguments name and returns what it ends with. --help and --version
// print and are done. Wrong usage throws InputError, naming command, option and reason; commands
// throw what they throw.
ExitStatus run_command_line(int argc, const char* const* argv);

}  // namespace espalier::cli
