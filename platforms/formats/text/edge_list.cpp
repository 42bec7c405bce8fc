// The edge list: one link per row, columns by name, units in the header (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "platforms/formats/attributes.hpp"
#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms {

namespace {

constexpr std::array<std::string_view, 6> kColumns{"from",    "to",       "bandwidth",
                                                   "latency", "overhead", "both_ways"};
constexpr std::string_view kRegion = "region";
constexpr std::string_view kRate = "rate";

// "bandwidth" of "bandwidth_Gbps"; "both_ways" has no unit. Tables of cloud regions call the
// columns region, region and rate.
std::string_view quantity_of(std::string_view heading, bool has_from) {
  if (heading == "both_ways") return heading;
  if (heading == kRegion) return has_from ? "to" : "from";
  const std::string_view name = heading.substr(0, heading.find('_'));
  return name == kRate ? "bandwidth" : name;
}

template <typename Quantity>
struct Column {
  std::size_t index;
  QuantityColumn<Quantity> quantity;
};

class Header {
 public:
  explicit Header(const CsvReader& csv) {
    std::array<std::optional<std::size_t>, kColumns.size()> found;
    for (std::size_t i = 0; i < csv.fields().size(); ++i) {
      const std::string_view heading = csv.fields()[i];
      const auto* const known =
          std::ranges::find(kColumns, quantity_of(heading, found[0].has_value()));
      if (known == kColumns.end()) csv.refuse(unknown_name("column", heading, kColumns));
      auto& column = found[static_cast<std::size_t>(known - kColumns.begin())];
      if (column) csv.refuse(fmt::format("two columns give '{}'", *known));
      column = i;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (!found[i]) csv.refuse(fmt::format("there is no column '{}'", kColumns[i]));
    }
    from = *found[0];
    are_regions = csv.fields()[from] == kRegion;
    to = *found[1];
    bandwidth = csv.at_place([&] { return column(csv, *found[2], &parse_rate); });
    if (found[3]) latency = csv.at_place([&] { return column(csv, *found[3], &parse_duration); });
    if (found[4]) overhead = csv.at_place([&] { return column(csv, *found[4], &parse_duration); });
    both_ways = found[5];
  }

  std::size_t from = 0;
  std::size_t to = 0;
  bool are_regions = false;  // a table of regions also has each with itself
  std::optional<Column<BytesPerSecond>> bandwidth;
  std::optional<Column<Seconds>> latency;
  std::optional<Column<Seconds>> overhead;
  std::optional<std::size_t> both_ways;

 private:
  template <typename Quantity>
  static std::optional<Column<Quantity>> column(const CsvReader& csv, std::size_t index,
                                                Quantity (*parse)(std::string_view)) {
    return Column<Quantity>{index, QuantityColumn<Quantity>(csv.fields()[index], parse)};
  }
};

Seconds duration_in(const CsvReader& csv, const std::optional<Column<Seconds>>& column) {
  if (!column || csv.fields()[column->index].empty()) return {};
  return column->quantity.read(csv.fields()[column->index]);
}

void read_row(const CsvReader& csv, const Header& header, PlatformBuilder& builder) {
  const auto& fields = csv.fields();
  csv.at_place([&] {
    Arc arc;
    arc.from = builder.node_named(fields[header.from]);
    arc.to = builder.node_named(fields[header.to]);
    arc.bandwidth = header.bandwidth->quantity.read(fields[header.bandwidth->index]);
    arc.latency = duration_in(csv, header.latency);
    arc.overhead = duration_in(csv, header.overhead);
    const bool both_ways = header.both_ways && parse_flag(fields[*header.both_ways], "both_ways");
    both_ways ? builder.add_both_ways(arc) : builder.add_arc(arc);
  });
}

// A list of links cannot represent a node without links.
void require_links(const Platform& platform) {
  std::vector<bool> linked(platform.nodes().size());
  for (const Arc& arc : platform.arcs()) {
    linked[index_of(arc.from)] = true;
    linked[index_of(arc.to)] = true;
  }
  const auto alone = std::ranges::find(linked, false);
  if (alone == linked.end()) return;
  const auto& node = platform.nodes()[static_cast<std::size_t>(alone - linked.begin())];
  throw InputError(
      fmt::format("an edge list cannot represent {}, which has no links; write JSON instead",
                  in_quotes(node.name)));
}

Platform read_edges(Source& source) {
  CsvReader csv(source.text, source.file);
  csv.start();
  const Header header(csv);
  PlatformBuilder builder = csv.builder(source);
  std::size_t within = 0;
  while (csv.next_full()) {
    if (header.are_regions && csv.fields()[header.from] == csv.fields()[header.to]) {
      ++within;
    } else {
      read_row(csv, header, builder);
    }
  }
  source.note_counted(within, "row", "left out {} from a region to itself");
  return csv.at_place([&] { return source.build(std::move(builder)); });
}

std::string write_edges(const Platform& platform) {
  require_plain(platform, "an edge list");
  require_links(platform);
  const auto has = [&](Seconds Arc::*quantity) {
    return std::ranges::any_of(platform.arcs(),
                               [&](const Arc& arc) { return (arc.*quantity).value > 0; });
  };
  const bool latencies = has(&Arc::latency);
  const bool overheads = has(&Arc::overhead);
  std::string text;
  auto out = std::back_inserter(text);
  if (!platform.name().empty()) fmt::format_to(out, "# name: {}\n", platform.name());
  fmt::format_to(out, "from,to,bandwidth_Bps{}{}\n", latencies ? ",latency_s" : "",
                 overheads ? ",overhead_s" : "");
  for (const Arc& arc : platform.arcs()) {
    fmt::format_to(out, "{},{},{}", csv_field(platform.node(arc.from).name),
                   csv_field(platform.node(arc.to).name), arc.bandwidth.value);
    if (latencies) fmt::format_to(out, ",{}", arc.latency.value);
    if (overheads) fmt::format_to(out, ",{}", arc.overhead.value);
    text += '\n';
  }
  return text;
}

}  // namespace

constinit const FormatEntry kEdgesFormat{
    "edges",
    "CSV, one link a row: from,to,bandwidth_UNIT,...",
    [](std::string_view text) {
      return has_headings(text, {"from", "to"}) || has_headings(text, {kRegion});
    },
    read_edges,
    1024,
    ".csv,.edges",
    write_edges};

}  // namespace espalier::platforms
