#include "platforms/formats/attributes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/text.hpp"

namespace espalier::platforms {

std::optional<double> optional_number(std::string_view text, std::string_view what) {
  if (text.empty()) return std::nullopt;
  const auto number = parse_number(text);
  if (!number) throw InputError(fmt::format("{} is a number, not {}", what, in_quotes(text)));
  return number;
}

bool parse_flag(std::string_view text, std::string_view what) {
  constexpr std::array<std::string_view, 3> kYes{"true", "yes", "1"};
  constexpr std::array<std::string_view, 4> kNo{"false", "no", "0", ""};
  const std::string lower = lower_case(text.substr(0, kNo[0].size() + 1));
  if (std::ranges::find(kYes, lower) != kYes.end()) return true;
  if (std::ranges::find(kNo, lower) != kNo.end()) return false;
  throw InputError(fmt::format("{} is true or false, not {}", what, in_quotes(text)));
}

std::optional<Position> parse_position(std::string_view x, std::string_view y) {
  const auto east = optional_number(x, "x");
  const auto north = optional_number(y, "y");
  if (!east || !north) return std::nullopt;
  return Position{*east, *north};
}

void LinkAttributes::declare(std::string_view name) {
  bandwidth.declare(name);
  latency.declare(name);
  overhead.declare(name);
}

void NodeAttributes::declare(std::string_view name) {
  send.declare(name);
  receive.declare(name);
}

std::optional<Place> parse_place(std::string_view latitude, std::string_view longitude) {
  const auto north = optional_number(latitude, "Latitude");
  const auto east = optional_number(longitude, "Longitude");
  if (!north || !east) return std::nullopt;
  if (std::abs(*north) > 90 || std::abs(*east) > 360) {
    throw InputError(fmt::format("no such place: latitude {}, longitude {}", *north, *east));
  }
  return Place{*north, *east};
}

GraphBuilder::GraphBuilder(Source& source, std::string name)
    : source_(source), builder_(std::move(name)) {
  if (source.options.missing_bandwidth.empty()) return;
  missing_ = parse_rate(source.options.missing_bandwidth);
  require_rate(*missing_, "the missing bandwidth");
}

NodeId GraphBuilder::add_node(Node node, const std::optional<Place>& place) {
  if (place && !node.position) node.position = position_of(*place);
  const NodeId id = builder_.add_node(std::move(node));
  places_.push_back(place);
  return id;
}

Seconds GraphBuilder::latency_of(NodeId from, NodeId to, const std::optional<Seconds>& given) {
  if (given) return *given;
  const auto& one = places_[index_of(from)];
  const auto& other = places_[index_of(to)];
  if (one && other) return latency_between(*one, *other);
  ++placeless_;
  return {};
}

void GraphBuilder::add_notes(bool note_latencies) {
  source_.note_counted(unknown_, "link",
                       "left out {} without a speed; give them one with --missing-bandwidth");
  source_.note_counted(note_latencies ? placeless_ : 0, "link",
                       "no latency for {}: an end has no coordinates");
  source_.note_counted(loops_, "link", "left out {} from a node to itself");
}

Platform GraphBuilder::platform() {
  return source_.at({}, [&] { return source_.build(std::move(builder_)); });
}

}  // namespace espalier::platforms
