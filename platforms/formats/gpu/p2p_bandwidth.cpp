// Output of CUDA's sample p2pBandwidthLatencyTest (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/figure_table.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

struct Matrix {
  std::string title;
  FigureTable table;
};

class P2pReader {
 public:
  P2pReader(std::string_view text, const std::string& file, const ReadOptions& options)
      : lines_(text, file), file_(file), options_(options) {}

  ReadResult result() && {
    while (const auto line = lines_.next()) {
      lines_.at(lines_.number(), [&] { read_line(*line); });
    }
    const Matrix& taken = chosen();
    const Matrix* const latency = latency_of(taken);
    require_complete(taken);
    if (latency != nullptr) require_complete(*latency);

    ReadResult result{{}, "p2pbandwidth", {}};
    result.notes.push_back(fmt::format("took {}", in_quotes(taken.title)));
    PlatformBuilder builder(default_name(file_, options_));
    const auto gpus = add_gpus(taken.table.size(), builder);
    const LinkCounts counts =
        add_links({.bandwidths = taken.table,
                   .latencies = latency == nullptr ? nullptr : &latency->table,
                   .columns_send = has(taken.title, "(P2P Reads)")},
                  gpus, builder);
    if (latency != nullptr) {
      result.notes.push_back(fmt::format("latencies from {}", in_quotes(latency->title)));
    }
    if (counts.unlinked > 0) {
      result.notes.push_back(fmt::format("{} pairs have no figure: no link", counts.unlinked));
    }
    if (staged_ > 0 && has(taken.title, "P2P=Enabled")) {
      result.notes.push_back(fmt::format(
          "{} pairs cannot access each other: their figures are for copies through the host",
          staged_));
    }
    result.platform = std::move(builder).build(&result.notes);
    return result;
  }

 private:
  void read_line(std::string_view line) {
    const auto words = words_of(line, kMostColumns + 2);
    if (words.empty()) return;
    if (rows_of_ != nullptr && add_numbered_row(rows_of_->back().table, words)) return;
    rows_of_ = nullptr;
    // There are two latency matrices under one title; the second, "CPU", measures the launch, not
    // the copy, and is not read.
    if (!title_.empty() && (words[0] == "D\\D" || words[0] == "GPU") &&
        count_up(std::span(words).subspan(1))) {
      const bool rates = title_.ends_with("(GB/s)");
      rows_of_ = rates ? &bandwidths_ : &latencies_;
      rows_of_->push_back(
          {std::move(title_),
           FigureTable(words.size() - 1, rates ? rates_in({1e9}) : durations_in({1e-6}))});
      title_.clear();
      return;
    }
    if (has(line, " CANNOT Access Peer ")) ++staged_;
    line = line.substr(line.find_first_not_of(kBlank));
    line = line.substr(0, line.find_last_not_of(kBlank) + 1);
    if (!has(line, "P2P=")) return;
    title_.clear();
    // Bidirectional values do not give those of one direction.
    if (has(line, "Bidirectional")) return;
    if (line.ends_with("(GB/s)") || line.ends_with("(us)")) title_ = printable(line);
  }

  [[nodiscard]] const Matrix& chosen() const {
    if (bandwidths_.empty()) {
      throw InputError(file_, {}, "there is no matrix of unidirectional bandwidths");
    }
    if (options_.table.empty()) {
      const auto enabled = std::ranges::find_if(
          bandwidths_, [](const Matrix& matrix) { return has(matrix.title, "P2P=Enabled"); });
      return enabled == bandwidths_.end() ? bandwidths_.front() : *enabled;
    }
    std::vector<std::string> titles;
    titles.reserve(bandwidths_.size());
    for (const Matrix& matrix : bandwidths_) titles.push_back(matrix.title);
    try {
      return bandwidths_[index_of_name(titles, options_.table, "matrix")];
    } catch (const InputError& fault) {
      throw InputError(file_, {}, fault.what());
    }
  }

  // The latencies of the same setting and, if there are several, the same kind of copies; null:
  // none.
  [[nodiscard]] const Matrix* latency_of(const Matrix& taken) const {
    const std::string_view setting =
        has(taken.title, "P2P=Enabled") ? "P2P=Enabled" : "P2P=Disabled";
    const std::string_view kind = has(taken.title, "(P2P Reads)") ? "(P2P Reads)" : "(P2P Writes)";
    const Matrix* found = nullptr;
    for (const Matrix& matrix : latencies_) {
      if (!has(matrix.title, setting) || matrix.table.size() != taken.table.size()) continue;
      if (found == nullptr || has(matrix.title, kind)) found = &matrix;
    }
    return found;
  }

  void require_complete(const Matrix& matrix) const {
    if (matrix.table.complete()) return;
    throw InputError(
        file_, {},
        fmt::format("{}: {} rows for {} GPUs: the matrix is cut short", in_quotes(matrix.title),
                    matrix.table.rows(), matrix.table.size()));
  }

  TextLines lines_;
  const std::string& file_;
  const ReadOptions& options_;
  std::string title_;  // of the matrix whose column headings are expected next
  std::vector<Matrix> bandwidths_;
  std::vector<Matrix> latencies_;
  std::vector<Matrix>* rows_of_ = nullptr;  // the list whose last matrix is being read
  std::size_t staged_ = 0;
};

}  // namespace

bool detects_p2pbandwidth(std::string_view text) {
  constexpr std::size_t kEnough = 100'000;
  const std::string_view head = text.substr(0, kEnough);
  return has(head, "D\\D") && (has(head, "P2P=Enabled") || has(head, "P2P=Disabled"));
}

ReadResult parse_p2pbandwidth(std::string_view text, const std::string& file,
                              const ReadOptions& options) {
  return P2pReader(text, file, options).result();
}

}  // namespace espalier::platforms
