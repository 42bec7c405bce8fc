// The attributes of nodes and links in GraphML and DOT: names with values as text. The names are
// those of the platform file; `bandwidth_Gbps` has numbers in that unit, `bandwidth` texts with a
// unit. Not installed.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/generators/geography.hpp"

namespace espalier::platforms {

// true, yes, 1 or false, no, 0, case-insensitive; empty is false. Throws InputError (reason only).
bool parse_flag(std::string_view text, std::string_view what);

// Unset if `text` is empty. Throws InputError (reason only) if it is not a number.
std::optional<double> optional_number(std::string_view text, std::string_view what);

// Unset if either text is empty. Throws InputError (reason only) if one is not a number.
std::optional<Position> parse_position(std::string_view x, std::string_view y);

// A quantity and the attribute names for it in one file.
template <typename Quantity>
class QuantityAttribute {
 public:
  QuantityAttribute(std::string_view what, Quantity (*parse)(std::string_view))
      : what_(what), parse_(parse) {}

  // Adds `name` if it names this quantity. Throws InputError (reason only) if its unit is unknown.
  void declare(std::string_view name) {
    if (!name.starts_with(what_)) return;
    if (name.size() > what_.size() && name[what_.size()] != '_') return;
    names_.emplace_back(std::string(name), QuantityColumn<Quantity>(name, parse_));
  }

  // `text_of(name)`: the attribute's text, empty if there is none. Throws InputError (reason only)
  // on an invalid value, or if there are two.
  template <typename TextOf>
  std::optional<Quantity> read(TextOf&& text_of) const {
    std::optional<Quantity> quantity;
    const std::string* from = nullptr;
    for (const auto& [name, column] : names_) {
      const std::string_view text = text_of(name);
      if (text.empty()) continue;
      if (from != nullptr) {
        throw InputError(fmt::format("both '{}' and '{}' are given", *from, name));
      }
      quantity = column.read(text);
      from = &name;
    }
    return quantity;
  }

 private:
  std::string_view what_;
  Quantity (*parse_)(std::string_view);
  std::vector<std::pair<std::string, QuantityColumn<Quantity>>> names_;
};

struct LinkAttributes {
  QuantityAttribute<BytesPerSecond> bandwidth{"bandwidth", &parse_rate};
  QuantityAttribute<Seconds> latency{"latency", &parse_duration};
  QuantityAttribute<Seconds> overhead{"overhead", &parse_duration};

  void declare(std::string_view name);
};

struct NodeAttributes {
  QuantityAttribute<BytesPerSecond> send{"send", &parse_rate};
  QuantityAttribute<BytesPerSecond> receive{"receive", &parse_rate};

  void declare(std::string_view name);
  // Caps, group, position and the relay flag; not the name.
  template <typename TextOf>
  Node read(TextOf&& text_of) const {
    Node node;
    node.send = send.read(text_of);
    node.receive = receive.read(text_of);
    node.relay = parse_flag(text_of("relay"), "relay");
    node.group = text_of("group");
    node.position = parse_position(text_of("x"), text_of("y"));
    return node;
  }
};

// Unset if either text is empty. Throws InputError (reason only) if one is not a number or is out
// of range.
std::optional<Place> parse_place(std::string_view latitude, std::string_view longitude);

// A graph of nodes and links with attributes, as both formats read it.
class GraphBuilder {
 public:
  // Throws InputError (reason only) on an invalid --missing-bandwidth or name.
  GraphBuilder(Source& source, std::string name);

  // `place` also is the position of a node without one.
  NodeId add_node(Node node, const std::optional<Place>& place);
  [[nodiscard]] std::size_t size() { return builder_.nodes().size(); }
  [[nodiscard]] bool has_node(std::string_view name) const {
    return builder_.find_node(name).has_value();
  }

  // Adds a link from `from` to `to`, and the reverse if `both_ways`. A link to itself or without a
  // bandwidth is only counted. `text_of` as in QuantityAttribute; bandwidth_of() gives the
  // bandwidth if no attribute does.
  template <typename TextOf, typename BandwidthOf>
  void add_link(NodeId from, NodeId to, bool both_ways, const LinkAttributes& attributes,
                TextOf&& text_of, BandwidthOf&& bandwidth_of) {
    if (from == to) return static_cast<void>(++loops_);
    auto bandwidth = attributes.bandwidth.read(text_of);
    if (!bandwidth) bandwidth = bandwidth_of();
    if (!bandwidth) bandwidth = missing_;
    if (!bandwidth) return static_cast<void>(++unknown_);
    const Seconds overhead = attributes.overhead.read(text_of).value_or(Seconds{});
    const Arc arc{from, to, *bandwidth, latency_of(from, to, attributes.latency.read(text_of)),
                  overhead};
    both_ways ? builder_.add_both_ways(arc) : builder_.add_arc(arc);
  }

  // Notes what was left out; links without a latency only if `note_latencies`.
  void add_notes(bool note_latencies);
  Platform platform();

 private:
  // The given one, otherwise that of the distance if both ends have a place.
  Seconds latency_of(NodeId from, NodeId to, const std::optional<Seconds>& given);

  Source& source_;
  PlatformBuilder builder_;
  std::optional<BytesPerSecond> missing_;
  std::vector<std::optional<Place>> places_;  // by node
  std::size_t unknown_ = 0;
  std::size_t placeless_ = 0;
  std::size_t loops_ = 0;
};

}  // namespace espalier::platforms
