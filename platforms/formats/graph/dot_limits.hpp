// Whether libcgraph may be given a text: `{a b} -> {c d}` makes links by the product, attributes
// cost by the node or link, and its parser holds on to what stands behind a graph. Not installed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier::platforms {

// The longest string that is read or written: libcgraph's scanner starts a string again with every
// few kilobytes more of it.
inline constexpr std::size_t kLongestDotString = std::size_t{256} << 10U;

// Throws InputError (file, line, reason) when `text` is over 16 MiB, nests over 64 deep, may come
// to over 300,000 nodes and links (each counted in every subgraph that holds it), over 100 names
// of attributes or 4,000,000 values of them, sets attributes over 2,000,000 times, has a string
// over kLongestDotString or 1 MiB in strings over 4 KiB, does not close a string or comment, or
// goes on after its graph.
void require_bounded_dot(std::string_view text, const std::string& file);

// `text` from its first word on: without a byte order mark, blanks and comments.
std::string_view skip_dot_comments(std::string_view text);

}  // namespace espalier::platforms
