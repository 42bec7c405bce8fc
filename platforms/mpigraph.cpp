// What mpiGraph (LLNL) prints: bandwidths between all pairs of ranks (docs/formats.md).
#include <fmt/format.h>

#include "platforms/csv.hpp"
#include "platforms/readers.hpp"
#include "platforms/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr double kMebibyte = 1048576;
constexpr std::string_view kTo = " to";

// The fields of a line of tabs, without the empty one that its last tab leaves.
std::vector<std::string_view> fields_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.ends_with('\t')) line.remove_suffix(1);
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

class MpigraphReader {
 public:
  MpigraphReader(std::string_view text, const std::string& file, const ReadOptions& options)
      : lines_(text, file), file_(file), builder_(default_name(file, options)) {}

  ReadResult result() && {
    for (auto line = lines_.next(); line; line = done_ ? std::nullopt : lines_.next()) {
      lines_.at(lines_.number(), [&] { read_line(*line); });
    }
    if (names_.empty()) throw InputError(file_, {}, "there is no line 'Send' with the ranks");
    if (rows_ < names_.size()) {
      throw InputError(file_, {},
                       fmt::format("{} rows of 'Send' for {} ranks: the file is cut short", rows_,
                                   names_.size()));
    }
    ReadResult result{{}, "mpigraph", {}};
    result.notes.emplace_back(
        "took what was sent, in MiB/s, measured while all ranks send; left out what was received");
    if (silent_ > 0) result.notes.push_back(fmt::format("{} pairs measured 0: no link", silent_));
    result.platform = std::move(builder_).build(&result.notes);
    return result;
  }

 private:
  void read_line(std::string_view line) {
    const auto fields = fields_of(line);
    if (names_.empty()) {
      if (fields[0] != "Send" || fields.size() < 2) return;
      names_.assign(fields.begin() + 1, fields.end());
      for (const std::string_view name : names_) {
        Node node;
        node.name = name;
        builder_.add_node(std::move(node));
      }
      return;
    }
    read_row(fields);
    done_ = rows_ == names_.size();
  }

  void read_row(const std::vector<std::string_view>& fields) {
    if (fields.size() != names_.size() + 1) {
      throw InputError(fmt::format("{} values for {} ranks", fields.size() - 1, names_.size()));
    }
    const std::string_view name = names_[rows_];
    if (!fields[0].ends_with(kTo) || fields[0].substr(0, fields[0].size() - kTo.size()) != name) {
      throw InputError(fmt::format("expected the row of {}, got {}",
                                   in_quotes(fmt::format("{}{}", name, kTo)),
                                   in_quotes(fields[0])));
    }
    for (std::size_t to = 0; to < names_.size(); ++to) {
      const auto speed = parse_number(fields[to + 1]);
      if (!speed)
        throw InputError(fmt::format("expected a number, got {}", in_quotes(fields[to + 1])));
      if (to == rows_) continue;
      if (*speed == 0) {
        ++silent_;
        continue;
      }
      builder_.add_arc({NodeId{static_cast<std::uint32_t>(rows_)},
                        NodeId{static_cast<std::uint32_t>(to)},
                        {*speed * kMebibyte},
                        {},
                        {}});
    }
    ++rows_;
  }

  TextLines lines_;
  const std::string& file_;
  PlatformBuilder builder_;
  std::vector<std::string_view> names_;
  std::size_t rows_ = 0;
  std::size_t silent_ = 0;
  bool done_ = false;
};

}  // namespace

bool detects_mpigraph(std::string_view text) {
  return text.starts_with("START mpiGraph");
}

ReadResult parse_mpigraph(std::string_view text, const std::string& file,
                          const ReadOptions& options) {
  return MpigraphReader(text, file, options).result();
}

}  // namespace espalier::platforms
