// NCCL's description of a machine (NCCL_TOPO_DUMP_FILE) and of the rings that it chose in it
// (NCCL_GRAPH_DUMP_FILE), both XML. Source of elements and figures: src/graph/xml.cc, topo.cc and
// topo.h in https://github.com/NVIDIA/nccl (docs/formats.md).
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/formats/graph/xml.hpp"
#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kSwitchClass = "0x068000";
constexpr std::size_t kMostDepth = 32;  // of PCI bridges
constexpr std::size_t kMostCpus = 256;

// Bytes per second of a lane, for link_speed "8.0 GT/s PCIe", as NCCL counts them.
struct LaneRate {
  std::string_view speed;
  double rate;
};
constexpr std::array<LaneRate, 6> kLanes{
    {{"2.5", 0.1875e9}, {"5", 0.375e9}, {"8", 0.75e9}, {"16", 1.5e9}, {"32", 3e9}, {"64", 6e9}}};
constexpr double kUnknownPcie = 12e9;    // a slot of PCIe 3.0 with 16 lanes
constexpr double kBetweenCpus = 10e9;    // SYS of the format nvidiatopo
constexpr double kUsualNvlink = 25e9;    // of NVLink 2 to 4, in each direction
constexpr double kNvlinkOfSm60 = 20e9;   // NVLink 1
constexpr double kNvlinkOfSm100 = 50e9;  // NVLink 5

std::uint64_t whole_attribute(const pugi::xml_node& node, const char* name) {
  const std::string text = required_attribute(node, name);
  const auto value = parse_whole<std::uint32_t>(text);
  if (value) return *value;
  throw InputError(fmt::format("{}={} is not a whole number", name, in_quotes(text)));
}

bool is_called(const pugi::xml_node& node, std::string_view name) {
  return node.name() == name;
}

class NcclTopologyReader {
 public:
  explicit NcclTopologyReader(Source& source)
      : source_(source), xml_(source.text, source.file), builder_(source.default_name()) {}

  Platform platform() {
    const pugi::xml_node system = xml_.document().child("system");
    if (!system) source_.refuse("there is no <system>");
    for (const pugi::xml_node cpu : system.children("cpu")) {
      xml_.at(cpu, [&] { read_cpu(cpu); });
    }
    if (gpus_.empty()) source_.refuse("there is no <gpu>");
    for (const Gpu& gpu : gpus_) {
      xml_.at(gpu.element, [&] { add_nvlinks(gpu); });
    }
    xml_.at(system, [&] { add_cpu_links(); });
    add_notes();
    return source_.build(std::move(builder_));
  }

 private:
  struct Gpu {
    NodeId node;
    pugi::xml_node element;
  };

  // The rate of a class from --class-rate, otherwise the default; unset: no link.
  std::optional<double> rate_of(std::string_view name, double usual) {
    for (const ClassRate& given : source_.options.class_rates) {
      if (given.name == name) return given.rate ? std::optional(given.rate->value) : std::nullopt;
    }
    taken_[std::string(name)] = usual;
    return usual;
  }

  void read_cpu(const pugi::xml_node& cpu) {
    const NodeId node = builder_.add_node(
        {.name = fmt::format("CPU{}", whole_attribute(cpu, "numaid")), .relay = true});
    if (cpus_.size() == kMostCpus) throw InputError(fmt::format("more than {} CPUs", kMostCpus));
    cpus_.push_back(node);
    read_children(cpu, node, 0);
  }

  void read_children(const pugi::xml_node& of, NodeId parent, std::size_t depth) {
    if (depth > kMostDepth) throw InputError("PCI bridges are nested too deeply");
    for (const pugi::xml_node child : of.children()) {
      xml_.at(child, [&] {
        if (is_called(child, "pci")) {
          read_pci(child, parent, depth);
        } else if (is_called(child, "nic")) {
          ++adapters_;
        } else if (is_called(child, "gpu")) {
          throw InputError("a <gpu> must be in a <pci>");
        }
      });
    }
  }

  void read_pci(const pugi::xml_node& pci, NodeId parent, std::size_t depth) {
    const std::string bus = required_attribute(pci, "busid");
    if (const pugi::xml_node gpu = pci.child("gpu")) {
      const NodeId node = add_gpu(gpu);
      if (!buses_.emplace(bus, node).second) {
        throw InputError(fmt::format("two GPUs have the bus {}", in_quotes(bus)));
      }
      builder_.add_both_ways({parent, node, {pci_rate(pci)}, {}, {}});
      return;
    }
    if (pci.child("nic")) {
      ++adapters_;
      return;
    }
    if (!pci.child("pci")) return;  // a bridge or device without anything to reach
    const NodeId node = builder_.add_node({.name = "PCI " + bus, .relay = true});
    builder_.add_both_ways({parent, node, {pci_rate(pci)}, {}, {}});
    read_children(pci, node, depth + 1);
  }

  NodeId add_gpu(const pugi::xml_node& gpu) {
    const char* const number = gpu.attribute("rank") ? "rank" : "dev";
    const NodeId node =
        builder_.add_node({.name = fmt::format("GPU{}", whole_attribute(gpu, number)),
                           .group = builder_.nodes()[index_of(cpus_.back())].name});
    gpus_.push_back({node, gpu});
    for (const pugi::xml_node c2c : gpu.children("c2c")) {  // in MB/s
      const double MBps = static_cast<double>(whole_attribute(c2c, "bw")) *
                          static_cast<double>(whole_attribute(c2c, "count"));
      builder_.add_both_ways({cpus_.back(), node, {MBps * 1e6}, {}, {}});
    }
    return node;
  }

  double pci_rate(const pugi::xml_node& pci) {
    const std::string speed = pci.attribute("link_speed").value();
    const auto lanes = parse_whole<std::uint32_t>(pci.attribute("link_width").value());
    const auto number = parse_number(std::string_view(speed).substr(0, speed.find(' ')));
    for (const LaneRate& lane : kLanes) {
      if (lanes && *lanes > 0 && number && *number == *parse_number(lane.speed)) {
        return lane.rate * *lanes;
      }
    }
    ++unknown_slots_;
    return kUnknownPcie;
  }

  void add_nvlinks(const Gpu& gpu) {
    std::map<NodeId, double> rates;  // of the links to each neighbour together
    for (const pugi::xml_node link : gpu.element.children("nvlink")) {
      xml_.at(link, [&] { count_nvlink(gpu, link, rates); });
    }
    for (const auto& [neighbour, rate] : rates) {
      const Arc arc{gpu.node, neighbour, {rate}, {}, {}};
      if (neighbour == switch_) {
        builder_.add_both_ways(arc);
      } else {
        builder_.add_arc(arc);  // the other one lists its own direction
      }
    }
  }

  void count_nvlink(const Gpu& gpu, const pugi::xml_node& link, std::map<NodeId, double>& rates) {
    const std::string target = required_attribute(link, "target");
    const std::uint64_t count = whole_attribute(link, "count");
    if (count == 0) throw InputError("an <nvlink> has at least one link");
    const auto sm = parse_whole<std::uint32_t>(gpu.element.attribute("sm").value()).value_or(0);
    const double usual = sm >= 100           ? kNvlinkOfSm100
                         : sm > 0 && sm < 70 ? kNvlinkOfSm60
                                             : kUsualNvlink;
    const std::optional<double> rate = rate_of("NV", usual);
    if (!rate) return;
    std::optional<NodeId> neighbour;
    if (link.attribute("tclass").value() == kSwitchClass) {
      if (!switch_) switch_ = builder_.add_node({.name = "NVSwitch", .relay = true});
      neighbour = switch_;
    } else if (const auto found = buses_.find(target); found != buses_.end()) {
      neighbour = found->second;
    }
    if (!neighbour) {
      ++unknown_targets_;
    } else if (*neighbour == gpu.node) {
      throw InputError("an <nvlink> of a GPU to itself");
    } else {
      rates[*neighbour] += *rate * static_cast<double>(count);
    }
  }

  void add_cpu_links() {
    if (cpus_.size() < 2) return;
    const std::optional<double> rate = rate_of("SYS", kBetweenCpus);
    if (!rate) return;
    for (std::size_t one = 0; one < cpus_.size(); ++one) {
      for (std::size_t other = one + 1; other < cpus_.size(); ++other) {
        builder_.add_both_ways({cpus_[one], cpus_[other], {*rate}, {}, {}});
      }
    }
  }

  void add_notes() {
    std::string taken;
    for (const auto& [name, rate] : taken_) {
      taken += fmt::format("{}{} {} GB/s{}", taken.empty() ? "" : ", ", name, rate / 1e9,
                           name == "NV" ? " a link" : "");
    }
    if (!taken.empty()) {
      source_.note("took {}; give the rates of your links with --class-rate CLASS=RATE", taken);
    }
    source_.note_counted(unknown_slots_, "PCIe link",
                         "took PCIe 3.0 with 16 lanes for {} without a known speed and width");
    source_.note_counted(unknown_targets_, "NVLink", "left out {} to devices that are not GPUs");
    source_.note_counted(adapters_, "network adapter", "left out {}");
  }

  Source& source_;
  XmlFile xml_;
  PlatformBuilder builder_;
  std::vector<NodeId> cpus_;
  std::vector<Gpu> gpus_;
  std::map<std::string, NodeId> buses_;  // of GPUs
  std::optional<NodeId> switch_;
  std::map<std::string, double> taken_;  // classes whose default was used
  std::size_t unknown_slots_ = 0;
  std::size_t unknown_targets_ = 0;
  std::size_t adapters_ = 0;
};

// The GPUs of the first graph in the rings of its channels: speedintra GB/s per channel.
Platform read_nccl_graph(Source& source) {
  const XmlFile xml(source.text, source.file);
  const pugi::xml_node graphs = xml.document().child("graphs");
  const pugi::xml_node graph = graphs.child("graph");
  if (!graph) source.refuse("there is no <graph> in <graphs>");
  PlatformBuilder builder(source.default_name());
  std::map<std::pair<NodeId, NodeId>, double> rates;  // of all channels together
  const auto read_channel = [&](const pugi::xml_node& channel, double rate) {
    std::vector<NodeId> ring;
    for (const pugi::xml_node gpu : channel.children("gpu")) {
      xml.at(gpu, [&] {
        ring.push_back(builder.node_named(fmt::format("GPU{}", whole_attribute(gpu, "dev"))));
      });
    }
    // With a network adapter at its ends the ring goes on in another machine.
    const bool is_open = channel.child("net");
    for (std::size_t i = 0; i + (is_open ? 1 : 0) < ring.size() && ring.size() > 1; ++i) {
      rates[{ring[i], ring[(i + 1) % ring.size()]}] += rate;
    }
  };
  xml.at(graph, [&] {
    const std::string text = required_attribute(graph, "speedintra");
    const auto GBps = parse_number(text);
    if (!GBps) throw InputError(fmt::format("speedintra={} is not a number", in_quotes(text)));
    require_rate({*GBps * 1e9}, "speedintra");
    for (const pugi::xml_node channel : graph.children("channel")) {
      xml.at(channel, [&] { read_channel(channel, *GBps * 1e9); });
    }
  });
  if (rates.empty()) source.refuse("no channel has two GPUs");
  xml.at(graph, [&] {
    for (const auto& [pair, rate] : rates)
      builder.add_arc({pair.first, pair.second, {rate}, {}, {}});
  });
  std::size_t others = 0;
  for (const pugi::xml_node other : graphs.children("graph")) others += other == graph ? 0 : 1;
  source.note_counted(others, "graph", "left out {} after the first");
  return source.build(std::move(builder));
}

bool detects_element(std::string_view text, std::string_view element, std::string_view inner) {
  const std::string_view head = head_of(text);
  return has(head, element) && has(head, inner);
}

}  // namespace

constinit const FormatEntry kNccltopoFormat{
    "nccltopo", "XML, a machine's GPUs as NCCL dumps them (NCCL_TOPO_DUMP_FILE)",
    [](std::string_view text) { return detects_element(text, "<system", "<cpu"); },
    [](Source& source) { return NcclTopologyReader(source).platform(); }, 16};

constinit const FormatEntry kNcclgraphFormat{
    "ncclgraph", "XML, the rings of GPUs that NCCL chose (NCCL_GRAPH_DUMP_FILE)",
    [](std::string_view text) { return detects_element(text, "<graphs", "<channel"); },
    read_nccl_graph, 16};

}  // namespace espalier::platforms
