#include "platforms/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "platforms/formats/readers.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms {

namespace {

void require_size(std::size_t most_MiB, std::string_view text, const std::string& file) {
  const std::size_t most = most_MiB << 20U;
  if (text.size() <= most) return;
  throw InputError(
      file, {}, fmt::format("larger than {}, the size limit of this format", format_size({most})));
}

// Readers that first refuse a text above a size limit. The limits are far above the size of real
// files and low enough to read a file at once.
template <std::size_t kMostMiB, auto kParse>
ReadResult up_to(std::string_view text, const std::string& file, const ReadOptions& options) {
  require_size(kMostMiB, text, file);
  return kParse(text, file, options);
}
template <std::size_t kMostMiB, auto kGather>
void up_to_each(std::string_view text, const std::string& file, const ReadOptions& options,
                PairMeasurements& into) {
  require_size(kMostMiB, text, file);
  kGather(text, file, options, into);
}

constexpr std::array<FormatEntry, 19> kFormats{{
    {"json", "Espalier's own format: everything a platform has", &detects_json, &parse_json_format,
     &write_json_format, ".json"},
    {"edges", "CSV, one link a row: from,to,bandwidth_UNIT,...", &detects_edges, &parse_edges,
     &write_edges, ".csv,.edges"},
    {"matrix", "CSV, a square matrix of bandwidths, the unit in the first cell", &detects_matrix,
     &parse_matrix, &write_matrix, ".matrix"},
    {"skyplane", "CSV, Skyplane's measured throughput grids", &detects_skyplane, &parse_skyplane,
     nullptr, ""},
    {"tiers", "Output of Tiers, the generator of WAN-MAN-LAN topologies", &detects_tiers,
     &up_to<64, &parse_tiers>, nullptr, ".tiers"},
    {"simgrid", "XML, SimGrid's platforms: zones, clusters, routes over shared links",
     &detects_simgrid, &parse_simgrid, &write_simgrid, ".xml"},
    {"graphml", "GraphML: links with bandwidths, or the Internet Topology Zoo's with coordinates",
     &detects_graphml, &parse_graphml, &write_graphml, ".graphml"},
    {"dot", "Graphviz's language: links with bandwidths", &detects_dot, &parse_dot, &write_dot,
     ".dot,.gv"},
    {"ibnetdiscover", "An InfiniBand fabric as ibnetdiscover prints it, with or without -p",
     &detects_ibnetdiscover, &up_to<64, &parse_ibnetdiscover>, nullptr, ".ibnetdiscover"},
    {"mpigraph", "Bandwidths between all pairs of ranks as mpiGraph prints them", &detects_mpigraph,
     &up_to<128, &parse_mpigraph>, nullptr, ""},
    {"nvbandwidth", "Bandwidths between GPUs as nvbandwidth measures them, text or JSON (-j)",
     &detects_nvbandwidth, &up_to<16, &parse_nvbandwidth>, nullptr, ""},
    {"p2pbandwidth", "Bandwidths between GPUs as CUDA's p2pBandwidthLatencyTest prints them",
     &detects_p2pbandwidth, &up_to<16, &parse_p2pbandwidth>, nullptr, ""},
    {"nvidiatopo", "Connections of GPUs as nvidia-smi topo -m prints them, with a table of rates",
     &detects_nvidiatopo, &up_to<16, &parse_nvidiatopo>, nullptr, ""},
    {"starpu", "Bandwidths between the memory nodes of a machine as StarPU samples them",
     &detects_starpu, &up_to<16, &parse_starpu>, nullptr, ".bandwidth"},
    {"gpufabric", "CSV, GPUs and switches, one directed link a row: src,dst,GBps,alpha_us,kind",
     &detects_gpufabric, &up_to<64, &parse_gpufabric>, nullptr, ""},
    {"iperf3", "Output of iperf3 -J for a pair of hosts; a folder of such files is a platform",
     &detects_iperf3, &up_to<8, &parse_iperf3>, nullptr, "", &up_to_each<8, &gather_iperf3>},
    {"osu", "Output of osu_bw and osu_latency for a pair of hosts; a folder of it is a platform",
     &detects_osu, &up_to<1, &parse_osu>, nullptr, "", &up_to_each<1, &gather_osu>},
    {"slurm-conf", "Slurm's topology.conf; --level-bandwidth gives the speeds", &detects_slurm_conf,
     &up_to<64, &parse_slurm_conf>, nullptr, ""},
    {"slurm-yaml", "Slurm's topology.yaml; --level-bandwidth gives the speeds", &detects_slurm_yaml,
     &parse_slurm_yaml, nullptr, ""},
}};

constexpr std::array<std::string_view, kFormats.size()> format_names() {
  std::array<std::string_view, kFormats.size()> names{};
  for (std::size_t i = 0; i < kFormats.size(); ++i) names[i] = kFormats[i].name;
  return names;
}

const FormatEntry& detected(std::string_view text, const std::string& file) {
  if (const FormatEntry* const found = detected_format(text)) return *found;
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

// The caps by node index; empty if no prefix matches.
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

// read(), with the file in the error of rates that are too far apart: not all readers add it.
template <typename Read>
ReadResult in_file(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const SpreadError& fault) {
    throw InputError(file, {}, fault.what());
  }
}

}  // namespace

const FormatEntry& format_named(std::string_view name) {
  const auto* const found = std::ranges::find(kFormats, name, &FormatEntry::name);
  if (found == kFormats.end()) throw InputError(unknown_name("format", name, format_names()));
  return *found;
}

const FormatEntry* detected_format(std::string_view text) {
  // The first, Espalier's own, accepts any JSON, so the others are tried before it.
  const auto others = std::span(kFormats).subspan(1);
  const auto found =
      std::ranges::find_if(others, [&](const FormatEntry& entry) { return entry.detects(text); });
  if (found != others.end()) return &*found;
  return kFormats.front().detects(text) ? &kFormats.front() : nullptr;
}

void require_plain(const Platform& platform, std::string_view format) {
  const auto refuse = [&](std::string_view what) {
    throw InputError(fmt::format("{} cannot represent {}; write JSON instead", format, what));
  };
  const std::string& name = platform.name();
  if (name.starts_with(' ') || name.ends_with(' ')) {
    refuse(fmt::format("the blanks around the name {}", in_quotes(name)));
  }
  for (const Node& node : platform.nodes()) {
    if (node.relay) refuse(fmt::format("relay {}", in_quotes(node.name)));
    if (node.send || node.receive) refuse(fmt::format("the caps of {}", in_quotes(node.name)));
    if (!node.group.empty()) refuse(fmt::format("the group of {}", in_quotes(node.name)));
  }
  if (!platform.shared_links().empty()) {
    refuse(fmt::format("shared link {}", in_quotes(platform.shared_links().front().name)));
  }
}

std::span<const FormatEntry> formats() {
  return kFormats;
}

ReadResult parse_platform(std::string_view text, const std::string& file,
                          const ReadOptions& options) {
  const FormatEntry& format =
      options.format.empty() ? detected(text, file) : format_named(options.format);
  return in_file(file, [&] { return format.parse(text, file, options); });
}

ReadResult read_platform(const std::string& file, const ReadOptions& options) {
  if (!options.format.empty()) format_named(options.format);  // fail before a long read
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    return in_file(file, [&] { return read_folder(file, options); });
  }
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
  std::vector<Node> nodes(platform.nodes().begin(), platform.nodes().end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (send_caps[i]) nodes[i].send = send_caps[i];
    if (receive_caps[i]) nodes[i].receive = receive_caps[i];
  }
  std::vector<BytesPerSecond> shared;
  for (const SharedLink& link : platform.shared_links()) shared.push_back(link.bandwidth);
  return with_figures(platform, std::move(nodes), platform.arcs(), shared);
}

}  // namespace espalier::platforms
