#include "platforms/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "platforms/readers.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms {

namespace {

constexpr std::array<FormatEntry, 10> kFormats{{
    {"json", "Espalier's own: everything a platform has", &detects_json, &parse_json_format,
     &write_json_format, ".json"},
    {"edges", "CSV, one link a row: from,to,bandwidth_UNIT,...", &detects_edges, &parse_edges,
     &write_edges, ".csv,.edges"},
    {"matrix", "CSV, a square matrix of bandwidths, the unit in the first cell", &detects_matrix,
     &parse_matrix, &write_matrix, ".matrix"},
    {"skyplane", "CSV, Skyplane's measured throughput grids", &detects_skyplane, &parse_skyplane,
     nullptr, ""},
    {"tiers", "Output of Tiers, the generator of WAN-MAN-LAN topologies", &detects_tiers,
     &parse_tiers, nullptr, ".tiers"},
    {"simgrid", "XML, SimGrid's platforms: zones, clusters, routes over shared links",
     &detects_simgrid, &parse_simgrid, &write_simgrid, ".xml"},
    {"graphml", "GraphML: links with bandwidths, or the Internet Topology Zoo's with coordinates",
     &detects_graphml, &parse_graphml, &write_graphml, ".graphml"},
    {"dot", "Graphviz's language: links with bandwidths", &detects_dot, &parse_dot, &write_dot,
     ".dot,.gv"},
    {"ibnetdiscover", "An InfiniBand fabric as ibnetdiscover prints it, with or without -p",
     &detects_ibnetdiscover, &parse_ibnetdiscover, nullptr, ".ibnetdiscover"},
    {"mpigraph", "Bandwidths between all pairs of ranks as mpiGraph prints them", &detects_mpigraph,
     &parse_mpigraph, nullptr, ""},
}};

constexpr std::array<std::string_view, kFormats.size()> format_names() {
  std::array<std::string_view, kFormats.size()> names{};
  for (std::size_t i = 0; i < kFormats.size(); ++i) names[i] = kFormats[i].name;
  return names;
}

const FormatEntry& format_named(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &FormatEntry::name);
  if (found == kFormats.end()) throw InputError(unknown_name("format", name, format_names()));
  return *found;
}

const FormatEntry& detected(std::string_view text, const std::string& file) {
  const auto* const found =
      std::ranges::find_if(kFormats, [&](const FormatEntry& entry) { return entry.detects(text); });
  if (found != kFormats.end()) return *found;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError(file, {}, "the file is empty");
  }
  throw InputError(file, {},
                   fmt::format("cannot tell the format from the content; name it, one of: {}",
                               fmt::join(format_names(), ", ")));
}

bool matches(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == ':');
}

// The caps by node index; empty where no prefix matches.
std::vector<std::optional<BytesPerSecond>> caps_of(const Platform& platform,
                                                   std::span<const PrefixCap> caps) {
  std::vector<std::optional<BytesPerSecond>> found(platform.nodes().size());
  std::vector<std::size_t> length(found.size(), 0);
  for (const PrefixCap& cap : caps) {
    bool used = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!matches(platform.nodes()[i].name, cap.prefix)) continue;
      used = true;
      if (cap.prefix.size() < length[i]) continue;
      length[i] = cap.prefix.size();
      found[i] = cap.cap;
    }
    if (!used) {
      throw InputError(fmt::format("no node is named {} or starts with {}", in_quotes(cap.prefix),
                                   in_quotes(cap.prefix + ":")));
    }
  }
  return found;
}

}  // namespace

std::string default_name(const std::string& file, const ReadOptions& options) {
  if (!options.name.empty()) return options.name;
  if (file == display_name("-")) return "stdin";
  return printable(std::filesystem::path(file).stem().string());
}

void require_plain(const Platform& platform, std::string_view format) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("{} cannot say {}", format, what));
  };
  for (const Node& node : platform.nodes()) {
    if (node.relay) refuse(fmt::format("that {} is a relay", in_quotes(node.name)));
    if (node.send || node.receive) refuse(fmt::format("the caps of {}", in_quotes(node.name)));
    if (!node.group.empty()) refuse(fmt::format("the group of {}", in_quotes(node.name)));
  }
  if (!platform.shared_wires().empty()) {
    refuse(fmt::format("the shared wire {}", in_quotes(platform.shared_wires().front().name)));
  }
}

std::span<const FormatEntry> formats() {
  return kFormats;
}

ReadResult parse_platform(std::string_view text, const std::string& file,
                          const ReadOptions& options) {
  const FormatEntry& format =
      options.format.empty() ? detected(text, file) : format_named(options.format);
  return format.parse(text, file, options);
}

ReadResult read_platform(const std::string& file, const ReadOptions& options) {
  if (!options.format.empty()) format_named(options.format);  // before a long read
  return parse_platform(read_text(file), display_name(file), options);
}

std::string write_platform(const Platform& platform, std::string_view format) {
  const FormatEntry& entry = format_named(format);
  if (entry.write == nullptr) {
    throw InputError(fmt::format("format '{}' is read only", entry.name));
  }
  return entry.write(platform);
}

PrefixCap parse_prefix_cap(std::string_view text) {
  const std::size_t mark = text.rfind('=');
  if (mark == std::string_view::npos || mark == 0) {
    throw InputError(
        fmt::format("cap {}: expected PREFIX=RATE, such as aws=5Gbit/s", in_quotes(text)));
  }
  PrefixCap cap{std::string(text.substr(0, mark)), parse_rate(text.substr(mark + 1))};
  require_rate(cap.cap, fmt::format("cap {}: the rate", in_quotes(text)));
  return cap;
}

Platform with_caps(const Platform& platform, std::span<const PrefixCap> send,
                   std::span<const PrefixCap> receive) {
  const auto send_caps = caps_of(platform, send);
  const auto receive_caps = caps_of(platform, receive);
  PlatformBuilder builder(platform.name());
  for (std::size_t i = 0; i < send_caps.size(); ++i) {
    Node node = platform.nodes()[i];
    if (send_caps[i]) node.send = send_caps[i];
    if (receive_caps[i]) node.receive = receive_caps[i];
    builder.add_node(std::move(node));
  }
  for (const Arc& arc : platform.arcs()) builder.add_arc(arc);
  for (const SharedWire& wire : platform.shared_wires()) {
    std::vector<std::pair<NodeId, NodeId>> ends;
    for (const ArcId arc : wire.arcs) {
      ends.emplace_back(platform.arc(arc).from, platform.arc(arc).to);
    }
    builder.add_shared_wire(wire.name, wire.bandwidth, std::move(ends));
  }
  return std::move(builder).build();
}

}  // namespace espalier::platforms
