#include "cli/espalier/costs/measured_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "planner/plan/decision_table.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::cli {

namespace {

using cost_models::Measurement;

// The column of the time in measurements, and in predictions that are used as measurements.
constexpr std::string_view kSeconds = "seconds";
constexpr std::string_view kPredicted = "predicted_s";

enum Field { kOperation, kAlgorithm, kSegment, kRanks, kMessage, kTime, kFields };
constexpr std::array<std::string_view, kFields> kFieldNames{
    "operation", "algorithm", "segment_bytes", "ranks", "message_bytes", kSeconds};

bool is_time(double seconds) {
  return std::isfinite(seconds) && seconds > 0;
}

// Whether rows of this operation are wanted; `wanted` empty: all are.
bool is_wanted(std::string_view operation, std::string_view wanted) {
  return wanted.empty() || operation.empty() || operation == wanted;
}

// A plan's algorithm as decisions name it.
struct Executed {
  std::string algorithm;
  planner::ExecutedFormula formula;  // without one, that of one tree
};

// Whose formulas have other names than their plans. In an alltoall along flat trees each rank sends
// to all others in turn, the next one first: CM's pairwise exchange.
constexpr std::array kOfBlocks{
    planner::ExecutedFormula{planner::Operation::kAlltoall, "pairwise", "flat"},
    planner::ExecutedFormula{planner::Operation::kScatter, "linear", "flat"},
    planner::ExecutedFormula{planner::Operation::kGather, "linear", "flat"},
    planner::ExecutedFormula{planner::Operation::kReduceScatter, "recursive-halving",
                             "recursive-doubling"}};

Executed executed(std::string_view operation, std::string_view algorithm) {
  for (const planner::ExecutedFormula& one : kOfBlocks) {
    if (planner::name_of(one.operation) != operation || one.shape != algorithm) continue;
    return {std::string(one.algorithm), one};
  }
  const bool has_levels = algorithm.starts_with(planner::kHierarchical);
  const std::string_view shape =
      has_levels ? algorithm.substr(planner::kHierarchical.size()) : algorithm;
  for (const planner::ExecutedFormula& one : planner::executed_formulas()) {
    if (planner::name_of(one.operation) != operation || one.shape != shape) continue;
    return {std::string(has_levels ? planner::kHierarchical : "").append(one.algorithm), one};
  }
  return {std::string(algorithm), {}};
}

// A row of `espalier-mpi bench` or `tune`. Empty for segments so long that some trees have none.
std::optional<Measurement> bench_row(const JsonCursor& row, std::string_view operation,
                                     std::uint64_t ranks) {
  std::uint64_t message = row.at("message_bytes").unsigned_integer();
  // Formulas count what one rank sends to another.
  if (operation == planner::name_of(planner::Operation::kAlltoall) && ranks > 0) message /= ranks;
  const JsonCursor time = row.at("median_s");
  if (!is_time(time.number())) time.refuse("a time must be above zero");
  if (row.at("algorithm").value().is_null()) {
    return Measurement{std::string(planner::kLibrary), {}, ranks, {message}, {time.number()}};
  }
  const auto [algorithm, as] = executed(operation, row.at("algorithm").string());
  const std::uint64_t plan_segment = row.at("slice_bytes").unsigned_integer();
  if (as.trees > 1 && message > 1 && plan_segment >= message) return std::nullopt;
  const std::uint64_t share = message / as.trees + (message % as.trees != 0 ? 1 : 0);
  const Bytes segment{plan_segment < share ? plan_segment * as.parts : 0};
  return Measurement{algorithm, segment, ranks, {message}, {time.number()}};
}

// What `espalier-mpi bench --json` writes.
std::vector<MeasuredRow> parse_bench(const JsonCursor& root, std::string_view wanted) {
  const std::string& operation = root.at("operation").string();
  const std::uint64_t ranks = root.at("ranks").unsigned_integer();
  std::vector<MeasuredRow> times;
  if (!is_wanted(operation, wanted)) return times;
  for (const JsonCursor& row : root.at("rows").elements()) {
    if (auto measured = bench_row(row, operation, ranks)) {
      times.push_back({operation, std::move(*measured)});
    }
  }
  return times;
}

std::vector<MeasuredRow> parse_json_times(std::string_view text, const std::string& file,
                                          std::string_view wanted) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  if (root.has("ranks")) return parse_bench(root, wanted);
  const auto common = root.find("operation");
  std::vector<MeasuredRow> times;
  for (const JsonCursor& row : root.at("rows").elements()) {
    const auto own = row.find("operation");
    const auto& given = own ? own : common;
    const std::string operation = given ? given->string() : std::string{};
    if (!is_wanted(operation, wanted)) continue;
    const auto predicted = row.find(kPredicted);
    const JsonCursor time = predicted && !row.has(kSeconds) ? *predicted : row.at(kSeconds);
    times.push_back({operation,
                     {row.at("algorithm").string(),
                      {row.at("segment_bytes").unsigned_integer()},
                      row.at("ranks").unsigned_integer(),
                      {row.at("message_bytes").unsigned_integer()},
                      {time.number()}}});
    if (!is_time(time.number())) time.refuse("a time must be above zero");
  }
  return times;
}

// The position of each column.
class Header {
 public:
  explicit Header(const platforms::CsvReader& reader) {
    const std::vector<std::string_view>& fields = reader.fields();
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::string_view name = fields[f] == kPredicted ? kSeconds : fields[f];
      const auto* const known = std::ranges::find(kFieldNames, name);
      if (known == kFieldNames.end()) continue;  // other figures of the same measurement
      std::optional<std::size_t>& place =
          places_[static_cast<std::size_t>(known - kFieldNames.begin())];
      if (place) reader.refuse(fmt::format("column {} appears twice", in_quotes(name)));
      place = f;
    }
    for (std::size_t c = kAlgorithm; c < kFields; ++c) {
      if (!places_[c]) reader.refuse(fmt::format("no column {}", in_quotes(kFieldNames[c])));
    }
    width_ = fields.size();
  }

  [[nodiscard]] bool has(Field column) const { return places_[column].has_value(); }
  [[nodiscard]] std::string_view text(const platforms::CsvReader& row, Field column) const {
    return row.fields()[*places_[column]];
  }
  [[nodiscard]] std::uint64_t whole(const platforms::CsvReader& row, Field column) const {
    const std::string_view field = text(row, column);
    const auto value = parse_whole<std::uint64_t>(field);
    if (!value) {
      row.refuse(fmt::format("{}: {} is not a whole number of at least 0", kFieldNames[column],
                             in_quotes(field)));
    }
    return *value;
  }
  [[nodiscard]] double time(const platforms::CsvReader& row) const {
    const std::string_view field = text(row, kTime);
    const auto value = espalier::parse_number(field);
    if (!value || !is_time(*value)) {
      row.refuse(fmt::format("{}: {} is not a number above zero", kSeconds, in_quotes(field)));
    }
    return *value;
  }
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  std::array<std::optional<std::size_t>, kFields> places_{};
  std::size_t width_ = 0;
};

std::vector<MeasuredRow> parse_csv_times(std::string_view text, const std::string& file,
                                         std::string_view wanted) {
  platforms::CsvReader reader(text, file);
  if (!reader.next()) throw InputError(file, {}, "no measured times: the file is empty");
  const Header header(reader);
  std::vector<MeasuredRow> times;
  while (reader.next()) {
    if (reader.fields().size() != header.width()) {
      reader.refuse(
          fmt::format("{} fields, but the header has {}", reader.fields().size(), header.width()));
    }
    const std::string operation(header.has(kOperation) ? header.text(reader, kOperation)
                                                       : std::string_view{});
    if (!is_wanted(operation, wanted)) continue;
    times.push_back({operation,
                     {std::string(header.text(reader, kAlgorithm)),
                      {header.whole(reader, kSegment)},
                      header.whole(reader, kRanks),
                      {header.whole(reader, kMessage)},
                      {header.time(reader)}}});
  }
  return times;
}

std::vector<MeasuredRow> parse_rows(std::string_view text, const std::string& file,
                                    std::string_view wanted) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  return json ? parse_json_times(text, file, wanted) : parse_csv_times(text, file, wanted);
}

}  // namespace

std::vector<MeasuredRow> parse_measured_rows(std::string_view text, const std::string& file) {
  return parse_rows(text, file, {});
}

std::vector<Measurement> parse_measured_times(std::string_view text, const std::string& file,
                                              std::string_view operation) {
  std::vector<Measurement> times;
  for (MeasuredRow& row : parse_rows(text, file, operation)) {
    times.push_back(std::move(row.measurement));
  }
  return times;
}

MeasuredTimes read_measured_times(const std::vector<std::string>& files, std::string_view operation,
                                  bool with_library) {
  MeasuredTimes measured;
  for (const std::string& name : files) {
    const std::string file = display_name(name);
    measured.files += (measured.files.empty() ? "" : ", ") + file;
    for (Measurement& one : parse_measured_times(read_text(name), file, operation)) {
      if (!with_library && one.algorithm == planner::kLibrary) continue;
      measured.times.push_back(std::move(one));
    }
  }
  if (measured.times.empty()) {
    throw InputError(measured.files, {}, fmt::format("no measured times of {}", operation));
  }
  return measured;
}

}  // namespace espalier::cli
