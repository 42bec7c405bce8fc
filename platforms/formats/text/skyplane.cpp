// Skyplane's grids: iperf3 between cloud regions, one ordered pair per row (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kFrom = "src_region";
constexpr std::string_view kTo = "dst_region";
// The second is a misspelling in the grid of November 2022.
constexpr std::array<std::string_view, 2> kThroughput{"throughput_received", "throughput_recieved"};

// A grid with columns identified by name; other columns are ignored.
class Grid {
 public:
  Grid(std::string_view text, const std::string& file, std::span<const std::string_view> value,
       std::string tier)
      : csv_(text, file), tier_(std::move(tier)) {
    if (!csv_.next()) throw InputError(file, {}, "there is no header line");
    width_ = csv_.fields().size();
    from_ = required({&kFrom, 1});
    to_ = required({&kTo, 1});
    value_ = required(value);
    from_tier_ = column("src_tier");
    to_tier_ = column("dst_tier");
    success_ = column("success");
  }

  // Moves to the next row of the tier between two different regions.
  bool next() {
    while (csv_.next()) {
      if (csv_.fields().size() != width_) {
        csv_.refuse(fmt::format("{} fields where the header has {}", csv_.fields().size(), width_));
      }
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
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(csv_.fields(), name);
    if (found == csv_.fields().end()) return std::nullopt;
    return static_cast<std::size_t>(found - csv_.fields().begin());
  }
  [[nodiscard]] std::size_t required(std::span<const std::string_view> spellings) const {
    for (const std::string_view name : spellings) {
      if (const auto found = column(name)) return *found;
    }
    csv_.refuse(fmt::format("there is no column '{}'", spellings.front()));
  }
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
  std::size_t width_ = 0;
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
  Importer(const ReadOptions& options, std::string name)
      : options_(options), builder_(std::move(name)) {}

  void read_throughputs(std::string_view text, const std::string& file) {
    Grid grid(text, file, kThroughput, options_.tier);
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
    if (samples_.empty()) throw InputError(file, {}, nothing_left(grid, failed));
    std::erase_if(unmeasured, [&](const std::string& name) { return builder_.find_node(name); });
    note_left_out(grid, failed, unmeasured.size());
  }

  void read_latencies(const std::string& file) {
    constexpr std::array<std::string_view, 1> kRoundTrip{"avg_rtt"};
    const std::string text = read_text(file);
    Grid grid(text, display_name(file), kRoundTrip, options_.tier);
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

  ReadResult result() && {
    std::size_t without = 0;
    for (const auto& [pair, sample] : samples_) {
      Arc arc{pair.first, pair.second, {sample.sum / static_cast<double>(sample.count)}, {}, {}};
      const auto latency = latency_of(pair);
      arc.latency = latency.value_or(Seconds{});
      if (!latency) ++without;
      builder_.add_arc(arc);
    }
    if (!options_.latencies.empty() && without > 0) {
      notes_.push_back(
          fmt::format("no latency for {} of {} links: taken as 0", without, samples_.size()));
    }
    Platform platform = std::move(builder_).build(&notes_);
    return {std::move(platform), "skyplane", std::move(notes_)};
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
    if (grid.other_tier() > 0) {
      notes_.push_back(fmt::format("left out {} not of tier {} at both ends",
                                   counted(grid.other_tier(), "row"), options_.tier));
    }
    if (failed > 0) {
      notes_.push_back("left out " + counted(failed, "failed measurement"));
    }
    if (unmeasured > 0) {
      notes_.push_back("left out " + counted(unmeasured, "region") + " without any measurement");
    }
    if (grid.self_pairs() > 0) {
      notes_.push_back("left out " + counted(grid.self_pairs(), "row") +
                       " from a region to itself");
    }
    std::size_t repeats = 0;
    for (const auto& [pair, sample] : samples_) repeats += sample.count - 1;
    if (repeats > 0) {
      notes_.push_back(fmt::format("took the mean where a pair was measured more than once ({})",
                                   counted(repeats, "repeated row")));
    }
  }

  // The round-trip time is equal when measured from the other end.
  [[nodiscard]] std::optional<Seconds> latency_of(const Pair& pair) const {
    for (const Pair& key : {pair, Pair{pair.second, pair.first}}) {
      if (const auto found = latencies_.find(key); found != latencies_.end()) return found->second;
    }
    return std::nullopt;
  }

  const ReadOptions& options_;
  PlatformBuilder builder_;
  std::map<Pair, Sample> samples_;
  std::map<Pair, Seconds> latencies_;
  std::vector<std::string> notes_;
};

}  // namespace

bool detects_skyplane(std::string_view text) {
  const auto header = header_of(text);
  const auto has = [&](std::string_view name) {
    return std::ranges::find(header, name) != header.end();
  };
  return has(kFrom) && has(kTo);
}

ReadResult parse_skyplane(std::string_view text, const std::string& file,
                          const ReadOptions& options) {
  Importer importer(options, default_name(file, options));
  importer.read_throughputs(text, file);
  if (!options.latencies.empty()) importer.read_latencies(options.latencies);
  return std::move(importer).result();
}

}  // namespace espalier::platforms
