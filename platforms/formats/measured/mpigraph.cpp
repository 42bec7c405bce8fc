// Output of mpiGraph (LLNL): bandwidths between all pairs of ranks (docs/formats.md).
#include <fmt/format.h>

#include <optional>
#include <span>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/figure_table.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr double kMebibyte = 1048576;
constexpr std::string_view kRowEnding = " to";

// The first `most` tab-separated fields of a line, without the empty field after a final tab.
std::vector<std::string_view> fields_of(std::string_view line, std::size_t most) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.ends_with('\t')) line.remove_suffix(1);
  auto fields = split(line, '\t');
  if (fields.size() > most) fields.resize(most);
  return fields;
}

class MpigraphReader : LineReader {
 public:
  using LineReader::LineReader;

  Platform platform() {
    lines_.each([&](std::string_view line) {
      read_line(line);
      return !table_ || !table_->complete();
    });
    if (names_.empty()) source_.refuse("there is no line 'Send' with the ranks");
    if (!table_->complete()) {
      source_.refuse(fmt::format("{} rows of 'Send' for {} ranks: the file is cut short",
                                 table_->rows(), names_.size()));
    }
    source_.note(
        "took the table 'Send', in MiB/s, measured while all ranks send; left out the table "
        "'Recv'");
    const LinkCounts counts = add_links({.bandwidths = *table_}, nodes_, builder_);
    source_.note_count(counts.unlinked, "{} pairs measured 0: no link");
    return source_.build(std::move(builder_));
  }

 private:
  void read_line(std::string_view line) {
    if (names_.empty() && !line.starts_with("Send\t")) return;
    // One more than allowed, so that the count shows the error.
    const auto fields = fields_of(line, (names_.empty() ? kMostColumns : names_.size()) + 2);
    if (names_.empty()) {
      if (fields.size() < 2) return;
      if (fields.size() > kMostColumns + 1) {
        throw InputError(fmt::format("more than {} ranks", kMostColumns));
      }
      names_.assign(fields.begin() + 1, fields.end());
      for (const std::string_view name : names_) {
        nodes_.emplace_back(builder_.add_node({.name = std::string(name)}));
      }
      table_.emplace(names_.size(), rates_in({kMebibyte}));
      return;
    }
    read_row(fields);
  }

  void read_row(const std::vector<std::string_view>& fields) {
    if (fields.size() != names_.size() + 1) {
      throw InputError(fmt::format("{} values for {} ranks", fields.size() - 1, names_.size()));
    }
    const std::string_view name = names_[table_->rows()];
    if (!fields[0].ends_with(kRowEnding) ||
        fields[0].substr(0, fields[0].size() - kRowEnding.size()) != name) {
      throw InputError(fmt::format("expected the row of {}, got {}",
                                   in_quotes(fmt::format("{}{}", name, kRowEnding)),
                                   in_quotes(fields[0])));
    }
    table_->add_row(std::span(fields).subspan(1));
  }

  std::vector<std::string_view> names_;
  std::vector<std::optional<NodeId>> nodes_;
  std::optional<FigureTable> table_;  // once the ranks are known
};

}  // namespace

constinit const FormatEntry kMpigraphFormat{
    "mpigraph", "Bandwidths between all pairs of ranks as mpiGraph prints them",
    [](std::string_view text) { return text.starts_with("START mpiGraph"); },
    [](Source& source) { return MpigraphReader(source).platform(); }, 128};

}  // namespace espalier::platforms
