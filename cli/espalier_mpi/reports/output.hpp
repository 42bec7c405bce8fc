// Checks of a file that is written at the end of a command.
#pragma once

#include <string>

namespace espalier::cli {

// Throws InputError if `file` is a folder or cannot be written, so that this shows at the start and
// not after minutes. Empty and - are accepted.
void require_writable(const std::string& file);

}  // namespace espalier::cli
