// Output of osu_bw and osu_latency (OSU Micro-Benchmarks) for one pair of hosts, which the file
// name gives (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "platforms/formats/measured/pair_measurements.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr double kMegabyte = 1e6;  // the unit of "MB/s" in this output
constexpr std::string_view kTitle = "# OSU ";

struct Ends {
  std::string from;
  std::string to;
};

// From the name a__b.bw or, with a label for the run, a__b__2.bw.
Ends ends_of(const Source& source) {
  constexpr std::string_view kBetween = "__";
  const std::string stem = std::filesystem::path(source.file).stem().string();
  const std::size_t first = stem.find(kBetween);
  if (first == std::string::npos) {
    source.refuse("the file name must give the pair, as in FROM__TO.bw, but it has no '__'");
  }
  const std::string_view rest = std::string_view(stem).substr(first + kBetween.size());
  Ends ends{stem.substr(0, first), std::string(rest.substr(0, rest.find(kBetween)))};
  try {
    require_name(ends.from, "a host name");
    require_name(ends.to, "a host name");
  } catch (const InputError& fault) {
    source.refuse(fmt::format("the file name must be FROM__TO.bw: {}", fault.what()));
  }
  return ends;
}

enum class Test { kBandwidth, kLatency };

// The test in a title such as "# OSU MPI-CUDA Bandwidth Test v5.8".
Test test_of(std::string_view title) {
  title.remove_prefix(kTitle.size());
  const std::string_view name = title.substr(0, title.find(" Test"));
  const auto words = words_of(name);
  const bool is_mpi = words.size() == 2 && (words[0] == "MPI" || words[0].starts_with("MPI-"));
  if (is_mpi && words[1] == "Bandwidth") return Test::kBandwidth;
  if (is_mpi && words[1] == "Latency") return Test::kLatency;
  throw InputError(fmt::format("{} is neither osu_bw nor osu_latency", in_quotes(name)));
}

class OsuReader {
 public:
  OsuReader(const Source& source, PairMeasurements& into)
      : source_(source), ends_(ends_of(source)), into_(into) {
    const std::string& size = source.options.osu_size;
    if (!size.empty()) size_ = at_place({}, "--osu-size", [&] { return parse_size(size); });
  }

  void gather() {
    TextLines(source_.text, source_.file).each([&](std::string_view line) { read_line(line); });
    end_table();
    if (tables_ == 0) source_.refuse("there is no line '# OSU MPI ... Test'");
  }

 private:
  struct Row {
    Bytes size;
    double value;
  };

  void read_line(std::string_view line) {
    if (line.starts_with(kTitle)) {
      end_table();
      test_ = test_of(line);
      ++tables_;
      return;
    }
    if (!test_ || line.starts_with('#')) return;
    const auto words = words_of(line);
    if (words.empty()) return;
    const auto size = parse_whole<std::uint64_t>(words[0]);
    if (!size) return;  // output of mpirun or of the job
    const auto value = words.size() > 1 ? parse_number(words[1]) : std::nullopt;
    if (!value)
      throw InputError(fmt::format("expected a size and a figure, got {}", in_quotes(line)));
    if (*value < 0) throw InputError(fmt::format("the figure {} is below 0", in_quotes(words[1])));
    rows_.push_back({{*size}, *value});
    if (words.back() == "Fail") failed_ = true;
  }

  // Takes the result from the table that was being read.
  void end_table() {
    if (!test_) return;
    if (rows_.empty()) {
      into_.add_failure(source_.file, "a table without figures");
    } else if (failed_) {
      into_.add_failure(source_.file, "the validation failed");
    } else if (*test_ == Test::kBandwidth) {
      add_bandwidth();
    } else {
      const auto least = std::ranges::min_element(rows_, {}, &Row::size);
      into_.add_latency(ends_.from, ends_.to, {least->value * kMicrosecond});
    }
    rows_.clear();
    failed_ = false;
    test_.reset();
  }

  void add_bandwidth() {
    const auto row = size_ ? std::ranges::find(rows_, *size_, &Row::size)
                           : std::ranges::max_element(rows_, {}, &Row::value);
    if (row == rows_.end()) {
      source_.refuse(fmt::format("no figure for messages of {}", format_size(*size_)));
    }
    if (row->value == 0) return into_.add_failure(source_.file, "nothing was received");
    into_.add_bandwidth(ends_.from, ends_.to, {row->value * kMegabyte});
  }

  const Source& source_;
  Ends ends_;
  PairMeasurements& into_;
  std::optional<Bytes> size_;
  std::optional<Test> test_;  // of the table that is being read
  std::vector<Row> rows_;
  bool failed_ = false;
  std::size_t tables_ = 0;
};

// Output of mpirun or of the job may precede the title.
bool detects_osu(std::string_view text) {
  const std::string_view head = head_of(text);
  for (std::size_t at = head.find(kTitle); at != std::string_view::npos;
       at = head.find(kTitle, at + 1)) {
    if (at == 0 || head[at - 1] == '\n') return true;
  }
  return false;
}

}  // namespace

constinit const FormatEntry kOsuFormat{
    "osu",
    "Output of osu_bw and osu_latency for a pair of hosts; a folder of it is a platform",
    detects_osu,
    nullptr,
    1,
    "",
    nullptr,
    [](Source& source, PairMeasurements& into) { OsuReader(source, into).gather(); }};

}  // namespace espalier::platforms
