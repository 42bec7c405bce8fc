// StarPU's samples of a machine's bus: HOST.bandwidth, and HOST.latency in the same folder
// (docs/formats.md).
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/figure_table.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/files.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kLatencyEnding = ".latency";

// "# to 0		to 1		..."; unset if the line is different.
std::optional<std::size_t> columns_of(std::string_view line) {
  const auto words = words_of(line, 2 * kMostColumns + 2);
  if (words.size() < 3 || words.size() % 2 == 0 || words[0] != "#") return std::nullopt;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (words[i] != "to" || parse_whole<std::size_t>(words[i + 1]) != i / 2) return std::nullopt;
  }
  return words.size() / 2;
}

// Reads the single table of a file.
FigureTable read_table(const Source& source, FigureUnit unit) {
  TextLines lines(source.text, source.file);
  std::optional<FigureTable> table;
  lines.each([&](std::string_view line) {
    if (!table) {
      const auto columns = columns_of(line);
      if (!columns) throw InputError("the first line must be '# to 0 to 1 ...'");
      table.emplace(*columns, unit);
      return true;
    }
    const auto words = words_of(line, table->size() + 1);
    if (!words.empty() && !words[0].starts_with('#')) table->add_row(words);
    return true;
  });
  if (!table) source.refuse("the file is empty");
  if (!table->complete()) {
    source.refuse(fmt::format("{} rows for {} memory nodes: the file is cut short", table->rows(),
                              table->size()));
  }
  return *table;
}

// StarPU writes the number of columns for which it was built, most of them for nodes that do not
// exist.
std::vector<std::optional<NodeId>> add_nodes(const FigureTable& table, PlatformBuilder& builder) {
  std::vector<std::optional<NodeId>> nodes(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.has_any(i)) nodes[i] = builder.node_named(fmt::format("{}", i));
  }
  return nodes;
}

// The file of latencies in the folder of `file`, under StarPU's name; empty if there is none.
std::string latencies_beside(const std::string& file) {
  std::filesystem::path beside(file);
  beside.replace_extension(kLatencyEnding);
  std::error_code ignored;
  return std::filesystem::is_regular_file(beside, ignored) ? beside.string() : std::string{};
}

// Of the file given, whose table must have `size` rows.
FigureTable read_latencies(const Source& bandwidths, std::size_t size) {
  const std::string text = read_text(bandwidths.options.latencies);
  const std::string name = display_name(bandwidths.options.latencies);
  const Source source{text, name, bandwidths.options};
  FigureTable latencies = read_table(source, durations_in({1e-6}));
  if (latencies.size() != size) {
    source.refuse(fmt::format("{} memory nodes where {} has {}", latencies.size(),
                              printable(bandwidths.file), size));
  }
  return latencies;
}

Platform read_starpu(Source& source) {
  if (source.file.ends_with(kLatencyEnding)) {
    source.refuse(
        "this file contains latencies; give the file of bandwidths, and this one as --latencies");
  }
  const FigureTable bandwidths = read_table(source, rates_in({1e6}));
  std::optional<FigureTable> latencies;
  if (!source.options.latencies.empty()) latencies = read_latencies(source, bandwidths.size());
  PlatformBuilder builder(source.default_name());
  const auto nodes = add_nodes(bandwidths, builder);
  const LinkCounts counts = add_links(
      {.bandwidths = bandwidths, .latencies = latencies ? &*latencies : nullptr}, nodes, builder);
  source.note_count(nodes.size() - builder.nodes().size(),
                    "left out {} memory nodes that do not exist");
  source.note_count(counts.unlinked, "{} pairs have no figure: no link");
  source.note_counted(counts.without_latency, "link", "no latency for {}: taken as 0");
  if (const std::string beside = latencies_beside(source.file); !latencies && !beside.empty()) {
    source.note("no latencies; read them with --latencies {}", printable(beside));
  }
  return source.build(std::move(builder));
}

}  // namespace

constinit const FormatEntry kStarpuFormat{
    "starpu",
    "Bandwidths between the memory nodes of a machine as StarPU samples them",
    [](std::string_view text) { return columns_of(text.substr(0, text.find('\n'))).has_value(); },
    read_starpu,
    16,
    ".bandwidth"};

}  // namespace espalier::platforms
