// A fabric of GPUs and switches as a list of directed links: src,dst,GBps,alpha_us,kind
// (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kGpu = "gpu";

// "gpu3", "n0_gpu3", "NODE1_GPU3"; the text before the underscore is the machine.
bool is_gpu(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789") + 1;
  if (end == name.size() || end < kGpu.size()) return false;
  std::string_view stem = name.substr(0, end);
  const bool named = lower_case(stem.substr(end - kGpu.size())) == kGpu;
  stem.remove_suffix(kGpu.size());
  return named && (stem.empty() || stem.ends_with('_'));
}

std::string_view machine_of(std::string_view name) {
  const std::size_t mark = name.rfind('_');
  return mark == std::string_view::npos ? std::string_view{} : name.substr(0, mark);
}

// Whether a heading is a unit of rates: "GBps", "Gbps", "MB/s".
bool is_rate_unit(std::string_view heading) {
  try {
    parse_rate(fmt::format("1 {}", heading));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

struct Columns {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t bandwidth = 0;
  std::optional<std::size_t> latency = {};
};

Columns columns_of(const CsvReader& csv) {
  std::optional<std::size_t> from;
  std::optional<std::size_t> to;
  std::optional<std::size_t> bandwidth;
  Columns columns;
  for (std::size_t i = 0; i < csv.fields().size(); ++i) {
    const std::string_view heading = csv.fields()[i];
    const auto take = [&](std::optional<std::size_t>& column) {
      if (column) csv.refuse(fmt::format("two columns give {}", in_quotes(heading)));
      column = i;
    };
    if (heading == "src")
      take(from);
    else if (heading == "dst")
      take(to);
    else if (heading.starts_with("alpha_"))
      take(columns.latency);
    else if (is_rate_unit(heading))
      take(bandwidth);
    else if (heading != "kind")
      csv.refuse(fmt::format("unknown column {}", in_quotes(heading)));
  }
  if (!from || !to) csv.refuse("the columns 'src' and 'dst' are required");
  if (!bandwidth) csv.refuse("there is no column of bandwidths, such as 'GBps'");
  columns.from = *from;
  columns.to = *to;
  columns.bandwidth = *bandwidth;
  return columns;
}

NodeId node_named(PlatformBuilder& builder, std::string_view name) {
  if (const auto known = builder.find_node(name)) return *known;
  Node node{.name = std::string(name), .relay = !is_gpu(name)};
  if (!node.relay) node.group = machine_of(name);
  return builder.add_node(std::move(node));
}

bool detects_gpufabric(std::string_view text) {
  return has_headings(text, {"src", "dst"}) && std::ranges::any_of(header_of(text), is_rate_unit);
}

Platform read_gpufabric(Source& source) {
  CsvReader csv(source.text, source.file);
  csv.start();
  const Columns columns = columns_of(csv);
  const QuantityColumn<BytesPerSecond> bandwidths(
      fmt::format("bandwidth_{}", csv.fields()[columns.bandwidth]), &parse_rate);
  std::optional<QuantityColumn<Seconds>> latencies;
  if (columns.latency) {
    latencies = csv.at_place(
        [&] { return QuantityColumn<Seconds>(csv.fields()[*columns.latency], &parse_duration); });
  }
  PlatformBuilder builder = csv.builder(source);
  while (csv.next_full()) {
    const auto& fields = csv.fields();
    csv.at_place([&] {
      Arc arc{node_named(builder, fields[columns.from]), node_named(builder, fields[columns.to]),
              bandwidths.read(fields[columns.bandwidth])};
      if (latencies && !fields[*columns.latency].empty()) {
        arc.latency = latencies->read(fields[*columns.latency]);
      }
      builder.add_arc(arc);
    });
  }
  Platform platform = csv.at_place([&] { return source.build(std::move(builder)); });
  if (platform.hosts().empty()) {
    source.refuse("there are no hosts; name them 'gpu' and a number");
  }
  return platform;
}

}  // namespace

constinit const FormatEntry kGpufabricFormat{
    "gpufabric", "CSV, GPUs and switches, one directed link a row: src,dst,GBps,alpha_us,kind",
    detects_gpufabric, read_gpufabric, 64};

}  // namespace espalier::platforms
