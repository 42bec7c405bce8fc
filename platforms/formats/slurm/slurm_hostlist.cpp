#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "platforms/formats/slurm/slurm_topology.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr std::size_t kMostDigits = 20;
constexpr std::string_view kSeparators = ", \t\r\n";

// "01-04", or "7" alone.
struct Range {
  std::uint64_t first;
  std::uint64_t last;
  std::size_t width;  // padded with zeros to this many digits
};

// The text of a name up to a bracket, and the ranges in the bracket; no ranges at the end of a
// name.
struct Piece {
  std::string_view text;
  std::vector<Range> ranges;
};

Range parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const auto first = parse_whole<std::uint64_t>(low);
  const auto last = parse_whole<std::uint64_t>(high);
  if (!first || !last || *last < *first || low.size() > kMostDigits) {
    throw InputError(fmt::format("a bracket holds numbers and ranges, such as [01-04,7], not {}",
                                 in_quotes(text)));
  }
  return {*first, *last, low.size()};
}

[[noreturn]] void refuse_count() {
  throw InputError(fmt::format("more than {} names in the file", kMostNames));
}

[[noreturn]] void refuse_length() {
  throw InputError(fmt::format("a name of over {} bytes", kMostNameBytes));
}

std::vector<Range> parse_ranges(std::string_view text) {
  std::vector<Range> ranges;
  for (const std::string_view range : split(text, ',')) {
    ranges.push_back(parse_range(range));
    if (ranges.size() > kMostNames) refuse_count();
  }
  return ranges;
}

// Removes the next name with its brackets from `list`, which does not begin with a separator.
std::vector<Piece> take_name(std::string_view& list) {
  const std::string_view all = list;
  std::vector<Piece> pieces;
  while (true) {
    const std::size_t end = list.find_first_of("[], \t\r\n");
    pieces.push_back({list.substr(0, end), {}});
    if (pieces.size() > kMostNameBytes) refuse_length();  // a bracket gives at least one character
    list.remove_prefix(std::min(end, list.size()));
    if (list.empty() || kSeparators.find(list.front()) != std::string_view::npos) return pieces;
    const std::size_t close = list.find(']');
    if (list.front() == ']' || close == std::string_view::npos) {
      throw InputError(fmt::format("unbalanced brackets in {}", in_quotes(all)));
    }
    pieces.back().ranges = parse_ranges(list.substr(1, close - 1));
    list.remove_prefix(close + 1);
  }
}

// The number of names; unset: more than `most`.
std::optional<std::size_t> count_of(const std::vector<Piece>& pieces, std::size_t most) {
  std::size_t count = 1;
  for (const Piece& piece : pieces) {
    if (piece.ranges.empty()) continue;
    std::size_t choices = 0;
    for (const Range& range : piece.ranges) {
      if (range.last - range.first >= most - choices) return std::nullopt;
      choices += static_cast<std::size_t>(range.last - range.first) + 1;
    }
    if (choices > most / count) return std::nullopt;
    count *= choices;
  }
  if (count > most) return std::nullopt;
  return count;
}

// Appends `piece` with each of its numbers to each of `names`, the last bracket varying fastest.
std::vector<std::string> extended(const std::vector<std::string>& names, const Piece& piece) {
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    if (name.size() + piece.text.size() + (piece.ranges.empty() ? 0 : kMostDigits) >
        kMostNameBytes) {
      refuse_length();
    }
    if (piece.ranges.empty()) longer.push_back(name + std::string(piece.text));
    for (const Range& range : piece.ranges) {
      for (std::uint64_t number = range.first;; ++number) {
        longer.push_back(fmt::format("{}{}{:0{}}", name, piece.text, number, range.width));
        if (number == range.last) break;
      }
    }
  }
  return longer;
}

}  // namespace

std::vector<std::string> Hostlists::expand(std::string_view list) {
  std::vector<std::string> all;
  while (true) {
    list.remove_prefix(std::min(list.find_first_not_of(kSeparators), list.size()));
    if (list.empty()) return all;
    const std::vector<Piece> pieces = take_name(list);
    const auto count = count_of(pieces, left_);
    if (!count) refuse_count();
    left_ -= *count;
    std::vector<std::string> names{""};
    for (const Piece& piece : pieces) names = extended(names, piece);
    all.insert(all.end(), std::make_move_iterator(names.begin()),
               std::make_move_iterator(names.end()));
  }
}

std::string Hostlists::single(std::string_view name) {
  if (name.size() > kMostNameBytes) refuse_length();
  if (left_ == 0) refuse_count();
  --left_;
  return std::string(name);
}

}  // namespace espalier::platforms
