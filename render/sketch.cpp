#include "render/sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "render/lines.hpp"
#include "render/pictures.hpp"
#include "support/errors.hpp"

namespace espalier::render {

using platforms::Node;
using platforms::Platform;

void require_drawable(const Platform& platform, std::size_t most) {
  if (platform.nodes().size() <= most) return;
  throw InputError(fmt::format("the platform has {} nodes; a picture can show at most {}",
                               platform.nodes().size(), most));
}

DotAttributes common_graph_attributes() {
  return {{"start", "1"},       {"outputorder", "edgesfirst"},
          {"bgcolor", "white"}, {"fontname", kFont},
          {"fontsize", "10"},   {"labelloc", "t"},
          {"labeljust", "l"},   {"pad", "0.15"}};
}

DotAttributes node_defaults(std::size_t nodes) {
  const bool many = nodes > 40;
  return {{"shape", "box"},
          {"style", "rounded,filled"},
          {"fillcolor", "white"},
          {"color", "#444444"},
          {"penwidth", "0.8"},
          {"fontname", kFont},
          {"fontsize", many ? "8" : "10"},
          {"margin", many ? "0.09,0.015" : "0.11,0.03"},
          {"width", "0.1"},
          {"height", "0.1"}};
}

Map::Map(const Platform& platform) {
  constexpr double kGreatest = std::numeric_limits<double>::max();
  platforms::Position least{kGreatest, kGreatest};
  platforms::Position most{-kGreatest, -kGreatest};
  std::size_t placed = 0;
  for (const Node& node : platform.nodes()) {
    if (!node.position) continue;
    ++placed;
    least = {std::min(least.x, node.position->x), std::min(least.y, node.position->y)};
    most = {std::max(most.x, node.position->x), std::max(most.y, node.position->y)};
  }
  if (placed == 0 || 2 * placed < platform.nodes().size()) return;
  // Halves, because the difference of two coordinates may overflow.
  const double half = std::max(most.x / 2 - least.x / 2, most.y / 2 - least.y / 2);
  if (!(half > 0)) return;
  const platforms::Position middle{most.x / 2 + least.x / 2, most.y / 2 + least.y / 2};
  const double inches = std::max(4.0, 0.5 * std::sqrt(static_cast<double>(placed)));
  std::map<std::pair<double, double>, std::size_t> taken;
  for (const Node& node : platform.nodes()) {
    if (!node.position) continue;
    const auto drawn = [&](double at, double centre) {
      return std::round(((at / 2 - centre / 2) / half) * 2 * inches * 1e3) / 1e3;
    };
    platforms::Position place{drawn(node.position->x, middle.x), drawn(node.position->y, middle.y)};
    // Nodes with equal coordinates form a spiral by the golden angle, because Graphviz's overlap
    // removal does not separate them.
    constexpr double kGolden = 2.399963229728653;
    constexpr double kStep = 0.2;
    const auto before = static_cast<double>(taken[{place.x, place.y}]++);
    place.x += kStep * std::sqrt(before) * std::cos(kGolden * before);
    place.y += kStep * std::sqrt(before) * std::sin(kGolden * before);
    places_.emplace(node.name, place);
  }
}

DotAttributes Map::graph_attributes() const {
  return {{"layout", "neato"},
          {"overlap", places_.size() <= kMostApart ? "prism" : "true"},  // "true" leaves them
          {"overlap_scaling", "0"},
          {"overlap_shrink", "false"},
          {"sep", "+5"},
          {"splines", "line"}};
}

DotAttributes Map::place_of(const Node& node) const {
  const auto found = places_.find(node.name);
  if (found == places_.end()) return {};
  return {{"pos", fmt::format("{:.3f},{:.3f}!", found->second.x, found->second.y)}};
}

NodeLooks::NodeLooks(const Platform& platform) : caps_written_(platform.nodes().size() <= 40) {
  for (const Node& node : platform.nodes()) {
    const std::string_view family = family_of(node);
    if (!family.empty()) fills_.emplace(family, std::string_view{});
  }
  if (fills_.size() > kFamilyFills.size()) fills_.clear();
  std::size_t next = 0;
  for (auto& [family, fill] : fills_) fill = kFamilyFills[next++];
}

DotAttributes NodeLooks::looks(const Node& node) const {
  std::string caps;
  if (node.send) caps += fmt::format("\nsends {}", short_rate(*node.send));
  if (node.receive) caps += fmt::format("\nreceives {}", short_rate(*node.receive));
  DotAttributes looks{{"label", node.name + (caps_written_ ? caps : "")},
                      {"tooltip", node.name + caps}};
  if (node.relay) {
    looks.push_back({"shape", "octagon"});
    looks.push_back({"style", "filled"});
    looks.push_back({"fillcolor", "#dddddd"});
    return looks;
  }
  const auto fill = fills_.find(family_of(node));
  if (fill != fills_.end()) looks.push_back({"fillcolor", std::string(fill->second)});
  return looks;
}

void NodeLooks::add_to(Legend& legend) const {
  legend.start_row();
  for (const auto& [family, fill] : fills_) legend.add_field(fill, family);
}

}  // namespace espalier::render
