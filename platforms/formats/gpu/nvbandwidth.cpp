// Output of NVIDIA's nvbandwidth for the GPUs of a machine, as text or, with -j, as JSON
// (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/figure_table.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/json.hpp"

namespace espalier::platforms {

namespace {

// In the order of similarity to the copies of a broadcast.
constexpr std::array<std::string_view, 4> kPreferred{
    "device_to_device_memcpy_write_ce", "device_to_device_memcpy_read_ce",
    "device_to_device_memcpy_write_sm", "device_to_device_memcpy_read_sm"};

struct Testcase {
  std::string name;                       // of the test; empty in a text with only a matrix
  std::string description = {};           // heading of the matrix
  std::string fault = {};                 // message instead of a matrix: waived, failed
  std::optional<FigureTable> table = {};  // if the test is a usable one
};

bool measures_latency(const Testcase& test) {
  return has(test.description, "GPU(row)") && has(test.description, "(ns)") &&
         (test.name.empty() || has(test.name, "device_to_device_latency"));
}

// Whether its values are unidirectional and for each pair of GPUs. The sums of all_to_one and
// one_to_all have the same heading, but a single row.
bool measures_links(const Testcase& test) {
  return has(test.description, "(GB/s)") &&
         (has(test.description, "GPU(row) -> GPU(column)") ||
          has(test.description, "GPU(row) <- GPU(column)")) &&
         (test.name.empty() || has(test.name, "device_to_device_memcpy_"));
}

// Creates the table of a usable test, without rows.
void start_table(Testcase& test, std::size_t size) {
  const bool latency = measures_latency(test);
  if (!latency && !measures_links(test)) return;
  test.table.emplace(size, latency ? durations_in({1e-9}) : rates_in({1e9}));
}

class TextReader {
 public:
  std::vector<Testcase> testcases(const Source& source) && {
    TextLines(source.text, source.file).each([&](std::string_view line) { read_line(line); });
    return std::move(tests_);
  }

 private:
  enum class Within { kNothing, kHeading, kRows };

  void read_line(std::string_view line) {
    const auto words = words_of(line, kMostColumns + 2);
    if (words.empty()) return;
    line = trimmed(line);
    if (within_ == Within::kRows && add_numbered_row(*tests_.back().table, words)) return;
    if (within_ == Within::kHeading && count_up(words)) {
      start_table(tests_.back(), words.size());
      within_ = tests_.back().table ? Within::kRows : Within::kNothing;
      return;
    }
    within_ = Within::kNothing;
    if (words[0] == "Running" && words.size() == 2) {
      std::string_view name = words[1];
      if (name.ends_with('.')) name.remove_suffix(1);
      tests_.push_back({printable(name)});
    } else if (has(line, "(row)") && has(line, "(column)")) {
      // A test may print several matrices, and a text may contain only a matrix.
      if (tests_.empty()) tests_.emplace_back();
      if (!tests_.back().description.empty()) tests_.push_back({tests_.back().name});
      tests_.back().description = printable(line);
      within_ = Within::kHeading;
    } else if (!tests_.empty() && tests_.back().description.empty() && is_fault(words[0])) {
      tests_.back().fault = printable(line);
    }
  }

  static bool is_fault(std::string_view word) {
    constexpr std::array<std::string_view, 5> kFaults{"WAIVED", "Waived", "ERROR", "Error",
                                                      "ASSERT"};
    return std::ranges::any_of(kFaults,
                               [&](std::string_view fault) { return word.starts_with(fault); });
  }

  std::vector<Testcase> tests_;
  Within within_ = Within::kNothing;
};

std::string text_at(const JsonCursor& object, std::string_view key) {
  const auto member = object.find(key);
  return member ? printable(member->string()) : std::string{};
}

void read_row(const JsonCursor& row, FigureTable& table) {
  std::vector<std::string> texts;
  for (const JsonCursor& cell : row.elements()) {
    texts.push_back(cell.value().is_number() ? fmt::format("{}", cell.number()) : cell.string());
  }
  const std::vector<std::string_view> cells(texts.begin(), texts.end());
  row.at_place([&] { table.add_row(cells); });
}

std::vector<Testcase> json_testcases(const Source& source) {
  const Json document = parse_json(source.text, source.file);
  const JsonCursor root(document, source.file);
  std::vector<Testcase> tests;
  for (const JsonCursor& entry : root.at("nvbandwidth").at("testcases").elements()) {
    Testcase test{text_at(entry, "name"), text_at(entry, "bandwidth_description")};
    const auto matrix = entry.find("bandwidth_matrix");
    if (!matrix) {
      const std::string error = text_at(entry, "error");
      test.fault = error.empty() ? text_at(entry, "status") : error;
    } else {
      const auto rows = matrix->elements();
      if (!rows.empty()) start_table(test, rows.front().elements().size());
      for (const JsonCursor& row : rows) {
        if (test.table) read_row(row, *test.table);
      }
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

// Of the tests that measure links: the requested one, otherwise the most preferred, otherwise the
// first.
const Testcase& chosen(const std::vector<const Testcase*>& links, const std::string& wanted) {
  if (!wanted.empty()) {
    std::vector<std::string> names;
    names.reserve(links.size());
    for (const Testcase* test : links) names.push_back(test->name);
    return *links[index_of_name(names, wanted, "device-to-device test")];
  }
  for (const std::string_view name : kPreferred) {
    const auto found =
        std::ranges::find_if(links, [&](const Testcase* test) { return has(test->name, name); });
    if (found != links.end()) return **found;
  }
  return *links.front();
}

std::string label_of(const Testcase& test) {
  return test.name.empty() ? in_quotes(test.description) : test.name;
}

// "there is no ...; waived_test: 'WAIVED'", with the first failed test only.
std::string nothing_found(const std::vector<Testcase>& tests) {
  std::string reason = "there is no matrix of unidirectional bandwidths between GPUs";
  for (const Testcase& test : tests) {
    if (test.fault.empty() || !has(test.name, "device_to_device_memcpy_")) continue;
    return reason + fmt::format("; {}: {}", test.name, in_quotes(test.fault));
  }
  return reason;
}

// Notes on the other tests.
void note_rest(const std::vector<Testcase>& tests, const Testcase& taken, const Testcase* latency,
               Source& source) {
  std::size_t others = 0;
  for (const Testcase& test : tests) {
    if (!test.fault.empty()) {
      source.note("{} has no matrix: {}", label_of(test), in_quotes(test.fault));
    } else if (&test != &taken && &test != latency && !test.description.empty()) {
      ++others;
    }
  }
  source.note_count(
      others, "left out {} more {}; --table NAME selects another of device_to_device_memcpy_*",
      others == 1 ? "matrix" : "matrices");
}

bool is_json(std::string_view text) {
  return detects_json(text) && has(text, "\"nvbandwidth\"");
}

bool detects_nvbandwidth(std::string_view text) {
  const std::string_view head = head_of(text);
  if (detects_json(text)) {
    return has(head, "\"nvbandwidth\"") && !has(head, "\"espalier-platform\"");
  }
  return has(head, "GPU(column)") && (has(head, "GPU(row)") || has(head, "CPU(row)"));
}

Platform read_nvbandwidth(Source& source) {
  const std::vector<Testcase> tests =
      is_json(source.text) ? json_testcases(source) : TextReader().testcases(source);
  std::vector<const Testcase*> links;
  const Testcase* latency = nullptr;
  for (const Testcase& test : tests) {
    if (!test.table) continue;
    if (measures_links(test))
      links.push_back(&test);
    else if (latency == nullptr)
      latency = &test;
  }
  if (links.empty()) source.refuse(nothing_found(tests));
  const Testcase& taken =
      source.at({}, [&]() -> const Testcase& { return chosen(links, source.options.table); });
  const GpuTable bandwidths{label_of(taken), *taken.table};
  bandwidths.require_complete(source);
  std::optional<GpuTable> latencies;
  if (latency != nullptr) {
    latencies.emplace(GpuTable{label_of(*latency), *latency->table});
    latencies->require_complete(source);
    if (latencies->table.size() != bandwidths.table.size()) latency = nullptr;
  }
  source.note("took {}: {}", bandwidths.label, taken.description);
  Platform platform = gpu_platform(bandwidths, latency == nullptr ? nullptr : &*latencies,
                                   has(taken.description, "<-"), source);
  note_rest(tests, taken, latency, source);
  return platform;
}

}  // namespace

constinit const FormatEntry kNvbandwidthFormat{
    "nvbandwidth", "Bandwidths between GPUs as nvbandwidth measures them, text or JSON (-j)",
    detects_nvbandwidth, read_nvbandwidth, 16};

}  // namespace espalier::platforms
