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

#include "platforms/core/platform.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/generators/geography.hpp"

namespace espalier::platforms {

// true, yes, 1 or false, no, 0, case-insensitive; empty is false. Throws InputError (reason only).
bool parse_flag(std::string_view text, std::string_view what);

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

}  // namespace espalier::platforms
