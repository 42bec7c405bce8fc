// Skyplane's grids: iperf3 between cloud regions, one ordered pair per row (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kFrom = "src_region";
constexpr std::string_view kTo = "dst_region";
// A grid with columns identified by name; other columns are ignored.
class Grid {
 public:
  Grid(std::string_view text, const std::string& file,
       std::initializer_list<std::string_view> value, std::string tier)
      : csv_(text, file), tier_(std::move(tier)) {
    csv_.start();
    from_ = csv_.column({kFrom});
    to_ = csv_.column({kTo});
    value_ = csv_.column(value);
    from_tier_ = csv_.find_column("src_tier");
    to_tier_ = csv_.find_column("dst_tier");
    success_ = csv_.find_column("success");
  }

  // Moves to the next row of the tier between two different regions.
  bool next() {
    while (csv_.next_full()) {
      if (!of_tier(from_tier_) || !of_tier(to_tier_)) {
        ++other_tier_;
      } else if (from() == to()) {
        ++self_pairs_;
      } else {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::string_view from() const { return csv_.fields()[from_]; }
  [[nodiscard]] std::string_view to() const { return csv_.fields()[to_]; }
  [[nodiscard]] const CsvReader& csv() const { return csv_; }
  [[nodiscard]] std::size_t other_tier() const { return other_tier_; }
  [[nodiscard]] std::size_t self_pairs() const { return self_pairs_; }

  // The measured value; unset if the measurement failed or has no value.
  [[nodiscard]] std::optional<double> value() const {
    if (!succeeded()) return std::nullopt;
    const std::string_view cell = csv_.fields()[value_];
    if (cell.empty() || cell == "nan") return std::nullopt;
    const auto number = parse_number(cell);
    if (!number) csv_.refuse(fmt::format("expected a number, got {}", in_quotes(cell)));
    if (*number < 0) csv_.refuse(fmt::format("a measurement must not be negative: {}", cell));
    return number;
  }

 private:
  [[nodiscard]] bool of_tier(const std::optional<std::size_t>& column) const {
    return tier_.empty() || !column || csv_.fields()[*column] == tier_;
  }
  [[nodiscard]] bool succeeded() const {
    if (!success_) return true;
    const std::string_view cell = csv_.fields()[*success_];
    if (cell == "True" || cell == "true") return true;
    if (cell == "False" || cell == "false") return false;
    csv_.refuse(fmt::format("success is True or False, not {}", in_quotes(cell)));
  }

  CsvReader csv_;
  std::string tier_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
  std::size_t value_ = 0;
  std::optional<std::size_t> from_tier_;
  std::optional<std::size_t> to_tier_;
  std::optional<std::size_t> success_;
  std::size_t other_tier_ = 0;
  std::size_t self_pairs_ = 0;
};

using Pair = std::pair<NodeId, NodeId>;

// Measurements of one pair; their mean is used.
struct Sample {
  double sum = 0;
  std::size_t count = 0;
};

class Importer {
 public:
  explicit Importer(Source& source)
      : source_(source), options_(source.options), builder_(source.default_name()) {}

  void read_throughputs() {
    // The second is a misspelling in the grid of November 2022.
    Grid grid(source_.text, source_.file, {"throughput_received", "throughput_recieved"},
              options_.tier);
    std::set<std::string> unmeasured;
    std::size_t failed = 0;
    while (grid.next()) {
      const auto bits = grid.value();
      if (!bits || *bits == 0) {
        ++failed;
        unmeasured.emplace(grid.from());
        unmeasured.emplace(grid.to());
        continue;
      }
      grid.csv().at_place([&] {
        Sample& sample =
            samples_[{builder_.node_named(grid.from()), builder_.node_named(grid.to())}];
        sample.sum += *bits / 8;
        ++sample.count;
        require_rate({sample.sum}, "a throughput");
      });
    }
    if (samples_.empty()) source_.refuse(nothing_left(grid, failed));
    std::erase_if(unmeasured, [&](const std::string& name) { return builder_.find_node(name); });
    note_left_out(grid, failed, unmeasured.size());
  }

  void read_latencies(const std::string& file) {
    const std::string text = read_text(file);
    Grid grid(text, display_name(file), {"avg_rtt"}, options_.tier);
    while (grid.next()) {
      const auto milliseconds = grid.value();
      const auto from = builder_.find_node(grid.from());
      const auto to = builder_.find_node(grid.to());
      if (!milliseconds || !from || !to) continue;
      const Seconds one_way{*milliseconds / 2000};
      const auto [known, is_new] = latencies_.try_emplace({*from, *to}, one_way);
      if (!is_new) known->second = std::min(known->second, one_way);
    }
  }

  Platform platform() {
    std::size_t without = 0;
    for (const auto& [pair, sample] : samples_) {
      Arc arc{pair.first, pair.second, {sample.sum / static_cast<double>(sample.count)}};
      const auto latency = latency_of(pair);
      arc.latency = latency.value_or(Seconds{});
      if (!latency) ++without;
      builder_.add_arc(arc);
    }
    if (options_.latencies.empty()) without = 0;  // none were wanted
    source_.note_count(without, "no latency for {} of {} links: taken as 0", samples_.size());
    return source_.build(std::move(builder_));
  }

 private:
  [[nodiscard]] std::string nothing_left(const Grid& grid, std::size_t failed) const {
    if (failed == 0 && grid.other_tier() > 0) {
      return fmt::format("no row of tier {} at both ends; {} of others", in_quotes(options_.tier),
                         grid.other_tier());
    }
    return failed == 0 ? "the grid has no rows" : "every measurement failed";
  }

  void note_left_out(const Grid& grid, std::size_t failed, std::size_t unmeasured) {
    source_.note_counted(grid.other_tier(), "row", "left out {} not of tier {} at both ends",
                         options_.tier);
    source_.note_counted(failed, "failed measurement", "left out {}");
    source_.note_counted(unmeasured, "region", "left out {} without any measurement");
    source_.note_counted(grid.self_pairs(), "row", "left out {} from a region to itself");
    std::size_t repeats = 0;
    for (const auto& [pair, sample] : samples_) repeats += sample.count - 1;
    source_.note_counted(repeats, "repeated row",
                         "took the mean where a pair was measured more than once ({})");
  }

  // The round-trip time is equal when measured from the other end.
  [[nodiscard]] std::optional<Seconds> latency_of(const Pair& pair) const {
    for (const Pair& key : {pair, Pair{pair.second, pair.first}}) {
      if (const auto found = latencies_.find(key); found != latencies_.end()) return found->second;
    }
    return std::nullopt;
  }

  Source& source_;
  const ReadOptions& options_;
  PlatformBuilder builder_;
  std::map<Pair, Sample> samples_;
  std::map<Pair, Seconds> latencies_;
};

Platform read_skyplane(Source& source) {
  Importer importer(source);
  importer.read_throughputs();
  if (!source.options.latencies.empty()) importer.read_latencies(source.options.latencies);
  return importer.platform();
}

}  // namespace

constinit const FormatEntry kSkyplaneFormat{"skyplane", "CSV, Skyplane's measured throughput grids",
                                            [](std::string_view text) {
                                              return has_headings(text, {kFrom, kTo});
                                            },
                                            read_skyplane};

}  // namespace espalier::platforms
