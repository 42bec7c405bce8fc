// Output of ibnetdiscover for an InfiniBand fabric, as stanzas or, with -p, one port per line
// (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/text_lines.hpp"

namespace espalier::platforms {

namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 10U;  // descriptions have 64 bytes

// The text between the first `open` in `text` and the next `close`; removes both and all before.
std::optional<std::string_view> take_between(std::string_view& text, char open, char close) {
  const std::size_t first = text.find(open);
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t last = text.find(close, first + 1);
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(first + 1, last - first - 1);
  text.remove_prefix(last + 1);
  return inside;
}

// Data rate of a link: number of lanes times Gbit/s per lane. InfiniBand Trade Association,
// roadmap; without the 8b/10b coding for SDR to QDR, and without 64b/66b from FDR on.
BytesPerSecond link_rate(std::string_view width, std::string_view speed) {
  struct Lane {
    std::string_view name;
    double gigabits;
  };
  constexpr std::array<Lane, 9> kLanes{{{"SDR", 2},
                                        {"DDR", 4},
                                        {"QDR", 8},
                                        {"FDR10", 10},
                                        {"FDR", 13.64},
                                        {"EDR", 25},
                                        {"HDR", 50},
                                        {"NDR", 100},
                                        {"XDR", 200}}};
  const auto lanes = parse_whole<std::uint32_t>(width);
  const auto* const lane = std::ranges::find(kLanes, speed, &Lane::name);
  if (!lanes || *lanes < 1 || *lanes > 12 || lane == kLanes.end()) {
    throw InputError(fmt::format("a link is 1 to 12 lanes of SDR to XDR, such as 4xQDR, not {}",
                                 in_quotes(fmt::format("{}x{}", width, speed))));
  }
  return {*lanes * lane->gigabits * 1e9 / 8};
}

struct Port {
  std::string node;  // its key: GUID with prefix, or kind and lid
  std::uint32_t number;
  auto operator<=>(const Port&) const = default;  // NOLINT(modernize-use-nullptr): as in quantities
};

class FabricReader : LineReader {
 public:
  using LineReader::LineReader;

  Platform platform() {
    lines_.each([&](std::string_view line) {
      read_line(line.substr(std::min(line.find_first_not_of(kBlank), line.size())));
    });
    if (nodes_.empty()) source_.refuse("there are no switches and no adapters");
    source_.at({}, [&] { name_nodes(); });
    for (const auto& entry : cables_) {
      lines_.at(entry.second.line,
                [&] { add_cable(entry.first.first, entry.first.second, entry.second.rate); });
    }
    source_.note_count(disagreeing_,
                       "{} cables have different rates at their ends: took the lower");
    source_.note_count(loops_, "left out {} cables from a node to itself");
    source_.note_count(dangling_, "{} ports are not connected");
    return source_.build(std::move(builder_));
  }

 private:
  struct Device {
    std::string key;
    std::string description;
    bool relay;
  };
  struct Cable {
    BytesPerSecond rate;
    std::size_t line;
  };

  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line.size() > kLongestLine) {
      throw InputError(fmt::format("a line of more than {} bytes", kLongestLine));
    }
    if (line.starts_with('[')) return read_port(line);
    const auto words = words_of(line);
    if (words[0] == "CA" || words[0] == "SW" || words[0] == "RT") return read_flat(line, words);
    if (words[0] == "Switch") return read_stanza(line, true);
    if (words[0] == "Ca" || words[0] == "Rt") return read_stanza(line, words[0] == "Rt");
    // "vendid=0x66a", "Non-Chassis Nodes", "Chassis 1 (guid 0x...)" and similar lines.
    stanza_.clear();
  }

  // Switch 36 "S-00066a00e3006cb2" # "ibcore01" base port 0 lid 3 lmc 0
  void read_stanza(std::string_view line, bool relay) {
    const auto key = take_between(line, '"', '"');
    if (!key) throw InputError("a stanza has no GUID in quotes");
    const auto description = take_between(line, '"', '"');
    stanza_ = *key;
    if (!add_device(stanza_, description.value_or(""), relay)) {
      throw InputError(fmt::format("duplicate stanza of {}", in_quotes(stanza_)));
    }
  }

  // [1](8f10403960985) "S-0008f10400410015"[6] # lid 16 lmc 1 "SW-6IB4 Voltaire" lid 3 4xSDR
  void read_port(std::string_view line) {
    if (stanza_.empty()) throw InputError("a port before the first Switch or Ca");
    const std::string_view last = words_of(line).back();
    const auto number = parse_whole<std::uint32_t>(take_between(line, '[', ']').value_or(""));
    const auto peer = take_between(line, '"', '"');
    const auto peer_number = parse_whole<std::uint32_t>(take_between(line, '[', ']').value_or(""));
    const std::size_t cross = last.find('x');
    if (!number || !peer || !peer_number || cross == std::string_view::npos) {
      throw InputError("a port must be '[1] \"GUID\"[2] # ... 4xQDR'");
    }
    add_end({stanza_, *number}, {std::string(*peer), *peer_number},
            link_rate(last.substr(0, cross), last.substr(cross + 1)));
  }

  // CA 113 1 0xf4521403007a6d21 4x QDR - SW 109 24 0x0002c90200493108 ( 'one' - 'other' )
  void read_flat(std::string_view line, const std::vector<std::string_view>& words) {
    if (words.size() < 6) throw InputError("a port must be 'CA lid port guid 4x QDR ...'");
    const Port port = flat_port(words, 0);
    if (words.size() < 12 || words[6] != "-") {
      // The port is not connected, but the switch exists.
      add_device(port.node, take_between(line, '\'', '\'').value_or(""), words[0] != "CA");
      ++dangling_;
      return;
    }
    const Port peer = flat_port(words, 7);
    const auto description = take_between(line, '\'', '\'');
    const auto peer_description = take_between(line, '\'', '\'');
    add_device(port.node, description.value_or(""), words[0] != "CA");
    add_device(peer.node, peer_description.value_or(""), words[7] != "CA");
    std::string_view width = words[4];
    if (width.ends_with('x')) width.remove_suffix(1);
    add_end(port, peer, link_rate(width, words[5]));
  }

  static Port flat_port(const std::vector<std::string_view>& words, std::size_t first) {
    const auto lid = parse_whole<std::uint32_t>(words[first + 1]);
    const auto number = parse_whole<std::uint32_t>(words[first + 2]);
    if (!lid || !number) {
      throw InputError(fmt::format("lid and port are whole numbers, not {} and {}",
                                   in_quotes(words[first + 1]), in_quotes(words[first + 2])));
    }
    return {fmt::format("{} {}", words[first], *lid), *number};
  }

  // Whether it is new.
  bool add_device(const std::string& key, std::string_view description, bool relay) {
    if (!nodes_.emplace(key, NodeId{static_cast<std::uint32_t>(devices_.size())}).second) {
      return false;
    }
    devices_.push_back({key, printable(description), relay});
    return true;
  }

  // Each cable is listed at both ends.
  void add_end(const Port& port, const Port& peer, BytesPerSecond rate) {
    const auto ends = std::minmax(port, peer);
    const auto [known, is_new] =
        cables_.try_emplace({ends.first, ends.second}, Cable{rate, lines_.number()});
    if (is_new || known->second.rate == rate) return;
    known->second.rate = std::min(known->second.rate, rate);
    ++disagreeing_;
  }

  // Uses the description if it is unique, because it contains the host name.
  void name_nodes() {
    std::map<std::string, std::size_t> uses;
    for (const Device& device : devices_) ++uses[device.description];
    for (const Device& device : devices_) {
      Node node{.name = device.description, .relay = device.relay};
      if (node.name.empty()) node.name = printable(device.key);
      if (uses[device.description] > 1 && !device.description.empty()) {
        node.name += fmt::format(" ({})", printable(device.key));
      }
      builder_.add_node(std::move(node));
    }
  }

  void add_cable(const Port& port, const Port& peer, BytesPerSecond rate) {
    const auto node_of = [&](const Port& end) {
      const auto found = nodes_.find(end.node);
      if (found != nodes_.end()) return found->second;
      throw InputError(fmt::format("there is no stanza of {}", in_quotes(end.node)));
    };
    const Arc arc{node_of(port), node_of(peer), rate};
    arc.from == arc.to ? static_cast<void>(++loops_) : builder_.add_both_ways(arc);
  }

  std::string stanza_;  // the key of the device whose ports are being listed
  std::vector<Device> devices_;
  std::map<std::string, NodeId, std::less<>> nodes_;
  std::map<std::pair<Port, Port>, Cable> cables_;
  std::size_t disagreeing_ = 0;
  std::size_t loops_ = 0;
  std::size_t dangling_ = 0;
};

bool detects_ibnetdiscover(std::string_view text) {
  const std::string unnamed;
  TextLines lines(head_of(text), unnamed);
  while (const auto line = lines.next()) {
    if (line->starts_with("Switch") || line->starts_with("Ca")) {
      return has(*line, "\"S-") || has(*line, "\"H-");
    }
    if (line->starts_with("CA ") || line->starts_with("SW ")) return has(*line, " 0x");
  }
  return false;
}

}  // namespace

constinit const FormatEntry kIbnetdiscoverFormat{
    "ibnetdiscover",
    "An InfiniBand fabric as ibnetdiscover prints it, with or without -p",
    detects_ibnetdiscover,
    [](Source& source) { return FabricReader(source).platform(); },
    64,
    ".ibnetdiscover"};

}  // namespace espalier::platforms
