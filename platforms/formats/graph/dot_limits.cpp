#include "platforms/formats/graph/dot_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "support/errors.hpp"

namespace espalier::platforms {

namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
constexpr std::size_t kDeepest = 64;
constexpr std::uint64_t kMostParts = 300'000;
constexpr std::uint64_t kMostValues = 4'000'000;
constexpr std::size_t kMostAttributes = 100;
constexpr std::uint64_t kMostSettings = 2'000'000;
// The scanner's time grows with the square of a string's length.
constexpr std::size_t kLongString = std::size_t{4} << 10U;
// At a line end within a string, the scanner rescans the string from its beginning.
constexpr std::uint64_t kMostLineSteps = 50'000'000;
constexpr std::size_t kMostLongBytes = std::size_t{1} << 20U;

bool in_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' ||
         static_cast<unsigned char>(letter) >= 0x80;
}

bool same_word(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  });
}

// Removes a comment at the start of `text`; false if there is none, or if it has no end.
bool cut_comment(std::string_view& text, bool line_starts) {
  if (text.starts_with("/*")) {
    const std::size_t end = text.find("*/", 2);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 2);
    return true;
  }
  if (!text.starts_with("//") && !(line_starts && text.starts_with('#'))) return false;
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  return true;
}

// Scans the tokens of a text without parsing the grammar, and computes upper bounds.
class DotCounter {
 public:
  DotCounter(std::string_view text, const std::string& file)
      : text_(text), rest_(text), file_(file) {}

  void run() {
    while (!rest_.empty()) step();
  }

 private:
  // A group in braces: the number of nodes before it, the number of nodes from which links lead to
  // it (0: none), and whether its name may refer to nodes elsewhere.
  struct Group {
    std::uint64_t before;
    std::uint64_t linked_from;
    bool named;
  };

  enum class Naming : std::uint8_t { kNone, kKeyword, kNamed };  // after "subgraph", after its name

  [[noreturn]] void refuse(const std::string& reason) const {
    const auto lines = std::count(text_.begin(), text_.end() - std::ssize(rest_), '\n');
    throw InputError(file_, fmt::format("line {}", lines + 1), reason);
  }

  void step() {
    const bool line_starts = rest_.size() == text_.size() || *(rest_.data() - 1) == '\n';
    if (cut_comment(rest_, line_starts)) return;
    const char letter = rest_[0];
    if (rest_.starts_with("/*")) refuse("the comment has no end");
    if (letter == '\0') refuse("a byte of value 0");
    if (letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n') return skip(1);
    if (ended_) refuse("there is text after the graph");
    if (letter == '"') return quoted();
    if (letter == '<') return bracketed();
    if (rest_.starts_with("->") || rest_.starts_with("--")) return link();
    if (in_word(letter)) return word();
    if (letter == '{') open();
    if (letter == '}') close();
    if (letter == '[') ++brackets_;
    if (letter == ']' && brackets_ > 0) --brackets_;
    if (letter == '=') name_attribute();
    if (letter == ';') start_statement();
    if (letter == ',' && brackets_ == 0) listing_ = true;
    if (letter == '+') joining_ = true;
    skip(1);
  }

  void skip(std::size_t letters) { rest_.remove_prefix(letters); }

  void quoted() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) refuse("the string has no end");
    name(rest_.substr(1, end - 1), 1);
    skip(end + 1);
  }

  void bracketed() {
    std::size_t depth = 0;
    std::size_t end = 0;
    do {
      if (rest_[end] == '<') ++depth;
      if (rest_[end] == '>') --depth;
      ++end;
    } while (depth > 0 && end < rest_.size());
    if (depth > 0) refuse("the string in <> has no end");
    name(rest_.substr(0, end), 1);
    skip(end);
  }

  // A number ends before a letter or a second point, so one word may be several names.
  void word() {
    const auto end =
        static_cast<std::size_t>(std::ranges::find_if_not(rest_, in_word) - rest_.begin());
    const std::string_view text = rest_.substr(0, end);
    if (same_word(text, "subgraph")) {
      start_named();
    } else {
      const bool number = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
      name(text, number ? 2 + static_cast<std::uint64_t>(std::ranges::count(text, '.')) : 1);
    }
    skip(end);
  }

  void name(std::string_view text, std::uint64_t count) {
    line_steps_ += static_cast<std::uint64_t>(std::ranges::count(text, '\n')) * text.size();
    if (line_steps_ > kMostLineSteps) refuse("names and values have too many lines");
    if (joining_ && !last_.empty()) {  // "a" + "b" is one name
      joining_ = false;
      last_ = {last_.data(), static_cast<std::size_t>(text.data() + text.size() - last_.data())};
      return require_short();
    }
    joining_ = false;
    last_ = text;
    require_short();
    if (brackets_ > 0) return;
    nodes_ += count;
    add(count);
    if (naming_ == Naming::kKeyword) {
      naming_ = Naming::kNamed;
      return;
    }
    naming_ = Naming::kNone;
    operand(count);
  }

  // A concatenated string is copied for each part, so every intermediate length counts.
  void require_short() {
    if (last_.size() > kLongestDotString) {
      refuse(fmt::format("a name or value of more than {} bytes", kLongestDotString));
    }
    if (last_.size() <= kLongString) return;
    long_bytes_ += last_.size();
    if (long_bytes_ > kMostLongBytes) {
      refuse(fmt::format("more than {} bytes in names and values of over {} bytes", kMostLongBytes,
                         kLongString));
    }
  }

  // Adds `size` nodes to the current end of a link; a comma continues the same end.
  void operand(std::uint64_t size) {
    if (!listing_) {
      linked_from_ = linking_ ? size_ : 0;
      size_ = 0;
    }
    listing_ = linking_ = false;
    size_ += size;
    add(linked_from_ * size);
  }

  // The name may refer to any of the nodes so far.
  void start_named() {
    naming_ = Naming::kKeyword;
    operand(std::max<std::uint64_t>(nodes_, 1));
  }

  void link() {
    if (brackets_ == 0) linking_ = true;
    naming_ = Naming::kNone;
    skip(2);
  }

  void open() {
    if (groups_.size() >= kDeepest) refuse(fmt::format("nested over {} levels", kDeepest));
    const bool named = naming_ != Naming::kNone;
    groups_.push_back({nodes_, named ? linked_from_ : linking_ ? size_ : 0, named});
    add(1);
    start_statement();
  }

  void close() {
    if (groups_.empty()) return;
    const Group group = groups_.back();
    groups_.pop_back();
    start_statement();
    size_ = group.named ? nodes_ : nodes_ - group.before;
    add(group.linked_from * size_);
    ended_ = groups_.empty();
  }

  void start_statement() {
    listing_ = linking_ = false;
    naming_ = Naming::kNone;
    linked_from_ = 0;
  }

  void name_attribute() {
    if (++settings_ > kMostSettings) {
      refuse(fmt::format("attributes are set more than {} times", kMostSettings));
    }
    attributes_.insert(last_);
    if (attributes_.size() > kMostAttributes) {
      refuse(fmt::format("more than {} different attributes", kMostAttributes));
    }
    require_values();
  }

  // Every node and link belongs to all enclosing subgraphs.
  void add(std::uint64_t parts) {
    parts_ += parts * std::max<std::uint64_t>(groups_.size(), 1);
    if (parts_ > kMostParts) {
      refuse(fmt::format("more than {} nodes and links, counted once per subgraph", kMostParts));
    }
    require_values();
  }

  void require_values() const {
    if (parts_ * attributes_.size() <= kMostValues) return;
    refuse(fmt::format("{} attributes of {} nodes and links: more than {} values",
                       attributes_.size(), parts_, kMostValues));
  }

  std::string_view text_;
  std::string_view rest_;
  const std::string& file_;
  std::vector<Group> groups_;
  std::unordered_set<std::string_view> attributes_;
  std::string_view last_;
  std::uint64_t settings_ = 0;  // of attributes, repeated ones included
  std::uint64_t line_steps_ = 0;
  std::size_t long_bytes_ = 0;  // in strings over kLongString
  std::uint64_t nodes_ = 0;
  std::uint64_t parts_ = 0;
  std::uint64_t size_ = 0;         // of the last operand
  std::uint64_t linked_from_ = 0;  // size of the operand before it in a link; 0: none
  std::size_t brackets_ = 0;
  bool linking_ = false;  // after "->" or "--"
  bool listing_ = false;  // after a comma between nodes
  bool joining_ = false;  // after a plus
  Naming naming_ = Naming::kNone;
  bool ended_ = false;
};

}  // namespace

void require_bounded_dot(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes) {
    throw InputError(file, {}, fmt::format("more than {} bytes", kMostBytes));
  }
  DotCounter(text, file).run();
}

std::string_view skip_dot_comments(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  bool line_starts = true;
  while (!text.empty()) {
    if (cut_comment(text, line_starts)) continue;
    const std::size_t blanks = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    if (blanks == 0) break;
    line_starts = text[blanks - 1] == '\n';
    text.remove_prefix(blanks);
  }
  return text;
}

}  // namespace espalier::platforms
