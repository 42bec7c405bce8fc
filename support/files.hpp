// Reads and writes whole files; a write that fails changes nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// The largest text input that Espalier reads: a platform of 50,000 links is 5 MB.
inline constexpr std::size_t kMaxInputBytes = std::size_t{1} << 30;

// The name of an input in messages: the file name, or "<stdin>" for "-".
std::string display_name(const std::string& file);

// The contents of `file`, or of standard input for "-". Throws InputError when it cannot be opened
// or read, is a directory, or exceeds kMaxInputBytes.
std::string read_text(const std::string& file);

// Writes `contents` to a temporary file in the same folder, syncs it, and renames it to `file`. So
// the file is either complete or unchanged. "-" is standard output. Devices and pipes cannot be
// replaced and are written in place. Throws InputError with the file's name and the system's reason
// (unwritable folder, full disk).
void write_text(const std::string& file, std::string_view contents);

}  // namespace espalier
