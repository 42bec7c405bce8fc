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
constexpr std::string_view kTo = " to";

// The first `most` tab-separated fields of a line, without the empty field after a final tab.
std::vector<std::string_view> fields_of(std::string_view line, std::size_t most) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.ends_with('\t')) line.remove_suffix(1);
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos || fields.size() == most) return fields;
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
    if (!table_->complete()) {
      throw InputError(file_, {},
                       fmt::format("{} rows of 'Send' for {} ranks: the file is cut short",
                                   table_->rows(), names_.size()));
    }
    ReadResult result{{}, "mpigraph", {}};
    result.notes.emplace_back(
        "took the table 'Send', in MiB/s, measured while all ranks send; left out the table "
        "'Recv'");
    const LinkCounts counts = add_links({.bandwidths = *table_}, nodes_, builder_);
    if (counts.unlinked > 0) {
      result.notes.push_back(fmt::format("{} pairs measured 0: no link", counts.unlinked));
    }
    result.platform = std::move(builder_).build(&result.notes);
    return result;
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
        Node node;
        node.name = name;
        nodes_.emplace_back(builder_.add_node(std::move(node)));
      }
      table_.emplace(names_.size(), rates_in({kMebibyte}));
      return;
    }
    read_row(fields);
    done_ = table_->complete();
  }

  void read_row(const std::vector<std::string_view>& fields) {
    if (fields.size() != names_.size() + 1) {
      throw InputError(fmt::format("{} values for {} ranks", fields.size() - 1, names_.size()));
    }
    const std::string_view name = names_[table_->rows()];
    if (!fields[0].ends_with(kTo) || fields[0].substr(0, fields[0].size() - kTo.size()) != name) {
      throw InputError(fmt::format("expected the row of {}, got {}",
                                   in_quotes(fmt::format("{}{}", name, kTo)),
                                   in_quotes(fields[0])));
    }
    table_->add_row(std::span(fields).subspan(1));
  }

  TextLines lines_;
  const std::string& file_;
  PlatformBuilder builder_;
  std::vector<std::string_view> names_;
  std::vector<std::optional<NodeId>> nodes_;
  std::optional<FigureTable> table_;  // once the ranks are known
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
