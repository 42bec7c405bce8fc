// StarPU's samples of a machine's bus: HOST.bandwidth, and HOST.latency in the same folder
// (docs/formats.md).
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/figure_table.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/files.hpp"
#include "support/quantities.hpp"

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
FigureTable read_table(std::string_view text, const std::string& file, FigureUnit unit) {
  TextLines lines(text, file);
  std::optional<FigureTable> table;
  while (const auto line = lines.next()) {
    lines.at(lines.number(), [&] {
      if (!table) {
        const auto columns = columns_of(*line);
        if (!columns) throw InputError("the first line must be '# to 0 to 1 ...'");
        table.emplace(*columns, unit);
        return;
      }
      const auto words = words_of(*line, table->size() + 1);
      if (!words.empty() && !words[0].starts_with('#')) table->add_row(words);
    });
  }
  if (!table) throw InputError(file, {}, "the file is empty");
  if (!table->complete()) {
    throw InputError(file, {},
                     fmt::format("{} rows for {} memory nodes: the file is cut short",
                                 table->rows(), table->size()));
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

void require_no_latencies(const std::string& file) {
  if (!file.ends_with(kLatencyEnding)) return;
  throw InputError(
      file, {},
      "this file contains latencies; give the file of bandwidths, and this one as --latencies");
}

// The file of latencies in the folder of `file`, under StarPU's name; empty if there is none.
std::string latencies_beside(const std::string& file) {
  std::filesystem::path beside(file);
  beside.replace_extension(kLatencyEnding);
  std::error_code ignored;
  return std::filesystem::is_regular_file(beside, ignored) ? beside.string() : std::string{};
}

}  // namespace

bool detects_starpu(std::string_view text) {
  return columns_of(text.substr(0, text.find('\n'))).has_value();
}

ReadResult parse_starpu(std::string_view text, const std::string& file,
                        const ReadOptions& options) {
  require_no_latencies(file);
  const FigureTable bandwidths = read_table(text, file, rates_in({1e6}));
  std::optional<FigureTable> latencies;
  if (!options.latencies.empty()) {
    const std::string name = display_name(options.latencies);
    latencies = read_table(read_text(options.latencies), name, durations_in({1e-6}));
    if (latencies->size() != bandwidths.size()) {
      throw InputError(name, {},
                       fmt::format("{} memory nodes where {} has {}", latencies->size(),
                                   printable(file), bandwidths.size()));
    }
  }
  ReadResult result{{}, "starpu", {}};
  PlatformBuilder builder(default_name(file, options));
  const auto nodes = add_nodes(bandwidths, builder);
  const LinkCounts counts = add_links(
      {.bandwidths = bandwidths, .latencies = latencies ? &*latencies : nullptr}, nodes, builder);
  const std::size_t absent = nodes.size() - builder.nodes().size();
  if (absent > 0)
    result.notes.push_back(fmt::format("left out {} memory nodes that do not exist", absent));
  if (counts.unlinked > 0) {
    result.notes.push_back(fmt::format("{} pairs have no figure: no link", counts.unlinked));
  }
  if (counts.without_latency > 0) {
    result.notes.push_back(
        fmt::format("no latency for {}: taken as 0", counted(counts.without_latency, "link")));
  }
  if (const std::string beside = latencies_beside(file); !latencies && !beside.empty()) {
    result.notes.push_back(
        fmt::format("no latencies; read them with --latencies {}", printable(beside)));
  }
  result.platform = std::move(builder).build(&result.notes);
  return result;
}

}  // namespace espalier::platforms
