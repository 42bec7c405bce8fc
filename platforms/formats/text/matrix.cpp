// The square matrix: row = sender, column = receiver, the unit in the first cell (docs/formats.md).
#include <fmt/format.h>

#include <iterator>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/formats/text/figure_table.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kCorner = "bandwidth";

bool is_corner(std::string_view cell) {
  return cell == kCorner || (cell.starts_with(kCorner) && cell[kCorner.size()] == '_');
}

void read_row(const CsvReader& csv, std::size_t row,
              const QuantityColumn<BytesPerSecond>& bandwidths, PlatformBuilder& builder) {
  const auto& fields = csv.fields();
  const std::size_t count = builder.nodes().size();
  if (row == count) csv.refuse(fmt::format("more rows than the {} columns", count));
  const std::string& name = builder.nodes()[row].name;
  if (fields[0] != name) {
    csv.refuse(
        fmt::format("row {} where the columns have {}", in_quotes(fields[0]), in_quotes(name)));
  }
  if (fields.size() != count + 1) {
    csv.refuse(fmt::format("{} cells where there are {} columns", fields.size() - 1, count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (i == row || is_missing(fields[i + 1])) continue;
    csv.at_place([&] {
      const auto column = [&] { return "column " + in_quotes(builder.nodes()[i].name); };
      at_place({}, column, [&] {
        builder.add_arc({NodeId{static_cast<std::uint32_t>(row)},
                         NodeId{static_cast<std::uint32_t>(i)}, bandwidths.read(fields[i + 1])});
      });
    });
  }
}

// Throws InputError on latencies and overheads, which a matrix cannot represent either.
void require_bandwidths_only(const Platform& platform) {
  for (const Arc& arc : platform.arcs()) {
    if (arc.latency.value > 0)
      throw InputError("a matrix cannot represent latencies; write JSON instead");
    if (arc.overhead.value > 0)
      throw InputError("a matrix cannot represent overheads; write JSON instead");
  }
}

bool detects_matrix(std::string_view text) {
  const auto header = header_of(text);
  return header.size() > 1 && is_corner(header[0]) && !has_headings(text, {"from", "to"});
}

Platform read_matrix(Source& source) {
  CsvReader csv(source.text, source.file);
  csv.start();
  const auto header = csv.fields();
  if (!is_corner(header[0])) {
    csv.refuse(fmt::format("the first cell must be 'bandwidth_UNIT' (bandwidth_Gbps), not {}",
                           in_quotes(header[0])));
  }
  PlatformBuilder builder = csv.builder(source);
  const auto bandwidths =
      csv.at_place([&] { return QuantityColumn<BytesPerSecond>(header[0], &parse_rate); });
  csv.at_place([&] {
    for (auto column = header.begin() + 1; column != header.end(); ++column) {
      builder.add_node({.name = std::string(*column)});
    }
  });
  std::size_t rows = 0;
  while (csv.next()) read_row(csv, rows++, bandwidths, builder);
  if (rows < builder.nodes().size()) {
    csv.refuse(fmt::format("the rows end here: {} of {}", rows, builder.nodes().size()));
  }
  return source.build(std::move(builder));
}

std::string write_matrix(const Platform& platform) {
  require_plain(platform, "a matrix");
  require_bandwidths_only(platform);
  std::string text;
  auto out = std::back_inserter(text);
  if (!platform.name().empty()) fmt::format_to(out, "# name: {}\n", platform.name());
  text += "bandwidth_Bps";
  for (const Node& node : platform.nodes()) fmt::format_to(out, ",{}", csv_field(node.name));
  text += '\n';
  const std::size_t count = platform.nodes().size();
  for (std::size_t row = 0; row < count; ++row) {
    text += csv_field(platform.nodes()[row].name);
    const auto [first, last] = platform.arcs_out_of(NodeId{static_cast<std::uint32_t>(row)});
    std::uint32_t next = first;
    for (std::size_t column = 0; column < count; ++column) {
      text += ',';
      if (next == last || index_of(platform.arcs()[next].to) != column) continue;
      fmt::format_to(out, "{}", platform.arcs()[next++].bandwidth.value);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

constinit const FormatEntry kMatrixFormat{
    "matrix",       "CSV, a square matrix of bandwidths, the unit in the first cell",
    detects_matrix, read_matrix,
    1024,           ".matrix",
    write_matrix};

}  // namespace espalier::platforms
