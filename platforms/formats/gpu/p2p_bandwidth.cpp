// Output of CUDA's sample p2pBandwidthLatencyTest (docs/formats.md).

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

class P2pReader : LineReader {
 public:
  using LineReader::LineReader;

  Platform platform() {
    lines_.each([&](std::string_view line) { read_line(line); });
    const Matrix& taken = chosen();
    const Matrix* const latency = latency_of(taken);
    const GpuTable bandwidths{in_quotes(taken.title), taken.table};
    bandwidths.require_complete(source_);
    std::optional<GpuTable> latencies;
    if (latency != nullptr) {
      latencies.emplace(GpuTable{in_quotes(latency->title), latency->table});
      latencies->require_complete(source_);
    }
    source_.note("took {}", bandwidths.label);
    Platform platform = gpu_platform(bandwidths, latencies ? &*latencies : nullptr,
                                     has(taken.title, "(P2P Reads)"), source_);
    source_.note_count(
        has(taken.title, "P2P=Enabled") ? staged_ : 0,
        "{} pairs cannot access each other: their figures are for copies through the host");
    return platform;
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
    line = trimmed(line);
    if (!has(line, "P2P=")) return;
    title_.clear();
    // Bidirectional values do not give those of one direction.
    if (has(line, "Bidirectional")) return;
    if (line.ends_with("(GB/s)") || line.ends_with("(us)")) title_ = printable(line);
  }

  [[nodiscard]] const Matrix& chosen() const {
    if (bandwidths_.empty()) source_.refuse("there is no matrix of unidirectional bandwidths");
    if (source_.options.table.empty()) {
      const auto enabled = std::ranges::find_if(
          bandwidths_, [](const Matrix& matrix) { return has(matrix.title, "P2P=Enabled"); });
      return enabled == bandwidths_.end() ? bandwidths_.front() : *enabled;
    }
    std::vector<std::string> titles;
    titles.reserve(bandwidths_.size());
    for (const Matrix& matrix : bandwidths_) titles.push_back(matrix.title);
    return bandwidths_[source_.at(
        {}, [&] { return index_of_name(titles, source_.options.table, "matrix"); })];
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

  std::string title_;  // of the matrix whose column headings are expected next
  std::vector<Matrix> bandwidths_;
  std::vector<Matrix> latencies_;
  std::vector<Matrix>* rows_of_ = nullptr;  // the list whose last matrix is being read
  std::size_t staged_ = 0;
};

bool detects_p2pbandwidth(std::string_view text) {
  const std::string_view head = head_of(text);
  return has(head, "D\\D") && (has(head, "P2P=Enabled") || has(head, "P2P=Disabled"));
}

}  // namespace

constinit const FormatEntry kP2pbandwidthFormat{
    "p2pbandwidth", "Bandwidths between GPUs as CUDA's p2pBandwidthLatencyTest prints them",
    detects_p2pbandwidth, [](Source& source) { return P2pReader(source).platform(); }, 16};

}  // namespace espalier::platforms
