// Whole files in, and whole files out or nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

// The largest text input that Espalier reads: a platform of 50,000 links is 5 MB.
inline constexpr std::size_t kMaxInputBytes = std::size_t{1} << 30;

// What messages call the input: the name itself, "<stdin>" for "-".
std::string display_name(const std::string& file);

// The contents of `file`, or of standard input for "-". Throws InputError when it cannot be opened
// or read, is a directory, or exceeds kMaxInputBytes.
std::string read_text(const std::string& file);

// Writes `contents` beside `file` (same folder, temporary name), syncs, renames over it. For "-"
// writes to standard output. Either the whole file is there or the old state stays. Throws
// InputError naming the file and the system's reason (unwritable folder, full disk).
// /dev/ files and pipes cannot be replaced and are written in place.
void write_text(const std::string& file, std::string_view contents);

}  // namespace espalier
