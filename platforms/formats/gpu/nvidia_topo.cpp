// Output of `nvidia-smi topo -m`: the class of the connection between each pair of GPUs of a
// machine, which a table converts to a rate (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/text_lines.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kNvlink = "NV";
// NVLinks of a Hopper or Blackwell GPU, the maximum: if the links to a GPU's peers add up to more,
// they go through NVSwitch and are the same links for all peers.
constexpr std::uint64_t kMostNvlinks = 18;
// Above the number of devices of any machine.
constexpr std::size_t kMostDevices = 1'000;

// Bytes per second per direction. NVLink 2 to 4: 25 GB/s per link. PCIe: NCCL's values for a PCIe
// 3.0 slot of 16 lanes and for the link between Skylake sockets (PCI_BW and SKL_QPI_BW in its
// src/graph/topo.h), because the classes do not contain the generation.
struct DefaultRate {
  std::string_view name;
  double rate;
};
constexpr std::array<DefaultRate, 7> kDefaults{{{kNvlink, 25e9},
                                                {"PIX", 12e9},
                                                {"PXB", 12e9},
                                                {"PHB", 12e9},
                                                {"NODE", 12e9},
                                                {"SYS", 10e9},
                                                {"SOC", 10e9}}};

// The number of NVLinks of "NV12"; unset for other classes.
std::optional<std::uint64_t> nvlinks_of(std::string_view name) {
  if (!name.starts_with(kNvlink)) return std::nullopt;
  return parse_whole<std::uint64_t>(name.substr(kNvlink.size()));
}

bool crosses_pcie(std::string_view name) {
  return name != kNvlink &&
         std::ranges::find(kDefaults, name, &DefaultRate::name) != kDefaults.end();
}

bool is_gpu(std::string_view name) {
  constexpr std::string_view kGpu = "GPU";
  return name.starts_with(kGpu) && parse_whole<std::uint32_t>(name.substr(kGpu.size())).has_value();
}

// Removes terminal escape sequences (colours, underlines): ESC [ digits letter.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') ++i;
    while (i + 1 < line.size() &&
           (line[i + 1] == ';' || (line[i + 1] >= '0' && line[i + 1] <= '9')))
      ++i;
    ++i;  // the letter
  }
  return plain;
}

// The devices in a line of column headings: GPU0, then others up to "CPU Affinity"; empty if it is
// not such a line.
std::vector<std::string> devices_of(const std::vector<std::string_view>& words) {
  std::vector<std::string> devices;
  for (const std::string_view word : words) {
    if (word == "CPU" || word == "NUMA" || word == "GPU") break;
    devices.emplace_back(word);
  }
  const bool matrix =
      !devices.empty() && is_gpu(devices.front()) && (devices.size() == 1 || devices[1] != "X");
  return matrix ? devices : std::vector<std::string>{};
}

// The rate of each class of links: from the options, otherwise the default.
class Rates {
 public:
  explicit Rates(std::span<const ClassRate> given) : given_(given) {}

  // Unset: no link. Throws InputError if the class is unknown.
  std::optional<BytesPerSecond> of(const std::string& name) {
    if (const ClassRate* const exact = find_given(name)) return exact->rate;
    const auto links = nvlinks_of(name);
    const std::string_view family = links ? kNvlink : std::string_view(name);
    const double count = links ? static_cast<double>(*links) : 1;
    if (const ClassRate* const known = find_given(family)) {
      if (!known->rate) return std::nullopt;
      return scaled(known->rate->value, count);
    }
    const auto* const known = std::ranges::find(kDefaults, family, &DefaultRate::name);
    if (known == kDefaults.end()) {
      throw InputError(fmt::format("unknown class {}; give its rate with --class-rate {}=RATE",
                                   in_quotes(name), printable(name)));
    }
    defaulted_.insert(known->name);
    return scaled(known->rate, count);
  }

  // Throws InputError if an option names a class that is neither known nor in the file.
  void require_all_known() const {
    for (const ClassRate& rate : given_) {
      const bool known =
          used_.contains(rate.name) || nvlinks_of(rate.name) ||
          std::ranges::find(kDefaults, rate.name, &DefaultRate::name) != kDefaults.end();
      if (!known)
        throw InputError(fmt::format("--class-rate: no link is of class {}", in_quotes(rate.name)));
    }
  }

  // "NV 25 GB/s a link, SYS 10 GB/s"; empty if the options gave all rates.
  [[nodiscard]] std::string defaults_taken() const {
    std::vector<std::string> taken;
    for (const DefaultRate& rate : kDefaults) {
      if (!defaulted_.contains(rate.name)) continue;
      taken.push_back(fmt::format("{} {} GB/s{}", rate.name, rate.rate / 1e9,
                                  rate.name == kNvlink ? " a link" : ""));
    }
    return fmt::format("{}", fmt::join(taken, ", "));
  }

 private:
  // The last option for that class; null: none.
  const ClassRate* find_given(std::string_view name) {
    const auto found = std::find_if(given_.rbegin(), given_.rend(),
                                    [&](const ClassRate& rate) { return rate.name == name; });
    if (found == given_.rend()) return nullptr;
    used_.insert(found->name);
    return &*found;
  }

  static std::optional<BytesPerSecond> scaled(double rate, double count) {
    require_rate({rate * count}, "a bandwidth");
    return BytesPerSecond{rate * count};
  }

  std::span<const ClassRate> given_;
  std::set<std::string, std::less<>> used_;
  std::set<std::string_view> defaulted_;
};

// Links out of a GPU, or into it, through one of its ports.
struct Port {
  std::vector<std::pair<NodeId, NodeId>> links = {};
  BytesPerSecond fastest;
  std::uint64_t nvlinks = 0;

  void add(NodeId from, NodeId to, BytesPerSecond rate, std::uint64_t count) {
    links.emplace_back(from, to);
    fastest = std::max(fastest, rate);
    nvlinks += count;
  }
};

class TopologyReader : LineReader {
 public:
  explicit TopologyReader(Source& source)
      : LineReader(source), rates_(source.options.class_rates) {}

  Platform platform() {
    lines_.each([&](std::string_view line) {
      read_line(without_escapes(line));
      return !done_;
    });
    if (devices_.empty()) source_.refuse("there is no line with the GPUs as columns");
    if (!done_) {
      source_.refuse(fmt::format("{} rows of GPUs for {} columns: the table is cut short", rows_,
                                 gpus_.size()));
    }
    source_.at({}, [&] { rates_.require_all_known(); });
    add_ports();
    add_notes();
    return source_.build(std::move(builder_));
  }

 private:
  void read_line(const std::string& line) {
    const auto words = words_of(line, 2 * kMostDevices);
    if (words.empty()) return;
    if (!devices_.empty()) return read_row(words);
    devices_ = devices_of(words);
    if (devices_.size() > kMostDevices) {
      throw InputError(fmt::format("more than {} devices", kMostDevices));
    }
    for (const std::string& device : devices_) {
      if (is_gpu(device)) gpus_.push_back(builder_.add_node({.name = device}));
    }
  }

  // GPU0 X NV12 PIX 0-23 0 N/A: a cell for each device, then the cells of the other columns.
  void read_row(const std::vector<std::string_view>& words) {
    const auto node = is_gpu(words[0]) ? builder_.find_node(words[0]) : std::nullopt;
    if (!node || *node != gpus_[rows_]) {
      throw InputError(fmt::format("expected the row of {}, got {}", builder_.nodes()[rows_].name,
                                   in_quotes(words[0])));
    }
    if (words.size() < devices_.size() + 1) {
      throw InputError(
          fmt::format("{} cells where there are {} columns", words.size() - 1, devices_.size()));
    }
    std::size_t column = 0;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (!is_gpu(devices_[i])) continue;
      const NodeId to = gpus_[column++];
      if (to == *node) {
        if (words[i + 1] != "X") {
          throw InputError(fmt::format("the cell of a GPU with itself must be X, not {}",
                                       in_quotes(words[i + 1])));
        }
      } else {
        add_link(*node, to, std::string(words[i + 1]));
      }
    }
    done_ = ++rows_ == gpus_.size();
  }

  void add_link(NodeId from, NodeId to, const std::string& name) {
    const auto rate = rates_.of(name);
    if (!rate) {
      ++left_out_;
      return;
    }
    builder_.add_arc({from, to, *rate, {}, {}});
    if (const auto links = nvlinks_of(name)) {
      const std::uint64_t count = std::min(*links, kMostNvlinks + 1);  // cannot overflow the sum
      nvlinks_out_[from].add(from, to, *rate, count);
      nvlinks_in_[to].add(from, to, *rate, count);
    } else if (crosses_pcie(name)) {
      slots_out_[from].add(from, to, *rate, 0);
      slots_in_[to].add(from, to, *rate, 0);
    }
  }

  using Ports = std::map<NodeId, Port>;

  // All PCIe links of a GPU share its one slot; NVLinks through NVSwitch are shared by all peers.
  void add_ports() {
    for (Ports* const ports : {&nvlinks_out_, &nvlinks_in_}) {
      std::erase_if(*ports, [](const auto& port) { return port.second.nvlinks <= kMostNvlinks; });
    }
    switched_ = nvlinks_out_.size();
    add_links(nvlinks_out_, "NVLinks out");
    add_links(nvlinks_in_, "NVLinks in");
    add_links(slots_out_, "PCIe out");
    add_links(slots_in_, "PCIe in");
  }

  void add_links(const Ports& ports, std::string_view what) {
    for (const auto& [node, port] : ports) {
      if (port.links.size() < 2) continue;
      builder_.add_shared_link(fmt::format("{} {}", builder_.nodes()[index_of(node)].name, what),
                               port.fastest, port.links);
    }
  }

  void add_notes() {
    if (const std::string taken = rates_.defaults_taken(); !taken.empty()) {
      source_.note("took {}; give the rates of your links with --class-rate CLASS=RATE", taken);
    }
    source_.note_count(switched_,
                       "{} GPUs have more than {} NVLinks in their row: taken as links to an "
                       "NVSwitch, which all peers share",
                       kMostNvlinks);
    source_.note_count(devices_.size() - gpus_.size(), "left out {} network adapters");
    source_.note_counted(left_out_, "link", "left out {} of classes without a rate");
  }

  Rates rates_;
  std::vector<std::string> devices_;  // the columns, once they are known
  std::vector<NodeId> gpus_;          // the GPUs among the devices
  std::size_t rows_ = 0;
  bool done_ = false;
  Ports nvlinks_out_;
  Ports nvlinks_in_;
  Ports slots_out_;
  Ports slots_in_;
  std::size_t switched_ = 0;
  std::size_t left_out_ = 0;
};

bool detects_nvidiatopo(std::string_view text) {
  const std::string unnamed;
  TextLines lines(head_of(text), unnamed);
  while (const auto line = lines.next()) {
    const std::string plain = without_escapes(*line);
    const auto words = words_of(plain, 2);
    if (words.size() == 2 && is_gpu(words[0]) && words[1] == "X") return true;
  }
  return false;
}

}  // namespace

constinit const FormatEntry kNvidiatopoFormat{
    "nvidiatopo", "Connections of GPUs as nvidia-smi topo -m prints them, with a table of rates",
    detects_nvidiatopo, [](Source& source) { return TopologyReader(source).platform(); }, 16};

}  // namespace espalier::platforms
