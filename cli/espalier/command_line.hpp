// `espalier COMMAND …`: selects and runs the command.
#pragma once

#include "support/errors.hpp"

namespace espalier::cli {

// Runs the command that the arguments name and returns its exit status. --help and --version print
// their text. Throws InputError with command, option and reason for wrong usage; errors of the
// commands pass through.
ExitStatus run_command_line(int argc, const char* const* argv);

}  // namespace espalier::cli
