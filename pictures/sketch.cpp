#include "pictures/sketch.hpp"

#include <fmt/format.h>

#include "pictures/lines.hpp"
#include "pictures/pictures.hpp"
#include "support/errors.hpp"

namespace espalier::pictures {

using platforms::Node;
using platforms::Platform;

void require_drawable(const Platform& platform) {
  if (platform.nodes().size() <= kMostNodes) return;
  throw InputError(fmt::format("a picture holds at most {} nodes, and there are {}", kMostNodes,
                               platform.nodes().size()));
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
          {"margin", many ? "0.03,0.015" : "0.07,0.03"},
          {"width", "0.1"},
          {"height", "0.1"}};
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

}  // namespace espalier::pictures
