// A file that is written at the end.
#pragma once

#include <string>

namespace espalier::cli {

// Throws InputError for what would only show then, after minutes: a folder, a place where nothing
// can be written. Empty and - are fine.
void require_writable(const std::string& file);

}  // namespace espalier::cli
