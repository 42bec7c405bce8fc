// Limits on the text that is given to libcgraph: `{a b} -> {c d}` creates the product of links,
// every attribute costs memory per node or link, and the parser keeps text after a graph. Not
// installed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier::platforms {

// The longest string that is read or written: libcgraph's scanner restarts a string after every few
// kilobytes.
inline constexpr std::size_t kLongestDotString = std::size_t{256} << 10U;

// Throws InputError (file, line, reason) if `text` is over 16 MiB, nests over 64 levels, may create
// over 300,000 nodes and links (counted once per enclosing subgraph), over 100 attribute names or
// 4,000,000 attribute values, sets attributes over 2,000,000 times, has a string over
// kLongestDotString or 1 MiB in strings over 4 KiB, does not close a string or comment, or has text
// after its graph.
void require_bounded_dot(std::string_view text, const std::string& file);

// `text` from its first word: without a byte order mark, leading blanks and comments.
std::string_view skip_dot_comments(std::string_view text);

}  // namespace espalier::platforms
