// What pictures of platforms and of plans have in common. Not installed.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "platforms/core/platform.hpp"
#include "render/dot_text.hpp"
#include "render/legend.hpp"

namespace espalier::render {

inline constexpr const char* kFont = "Helvetica,Arial,DejaVu Sans,sans-serif";

// Throws InputError (reason only) for more than kMostNodes nodes.
void require_drawable(const platforms::Platform& platform);

// Of any picture: its ground, font, and a start that is the same every time.
DotAttributes common_graph_attributes();
DotAttributes node_defaults(std::size_t nodes);

// Where nodes are drawn, by their positions. Used when at least half of the nodes have some that
// are not all one place; the others are then laid out between them. Nodes of one place stand around
// it, and what overlaps is moved apart.
class Map {
 public:
  explicit Map(const platforms::Platform& platform);
  [[nodiscard]] bool used() const { return !places_.empty(); }
  // Of the graph, and of `node`, to be drawn so. Precondition: used().
  static DotAttributes graph_attributes();
  [[nodiscard]] DotAttributes place_of(const platforms::Node& node) const;

 private:
  std::map<std::string, platforms::Position, std::less<>> places_;  // inches; empty: not used
};

// What nodes look like: relays are octagons, hosts boxes, filled by family.
class NodeLooks {
 public:
  explicit NodeLooks(const platforms::Platform& platform);
  [[nodiscard]] DotAttributes looks(const platforms::Node& node) const;
  void add_to(Legend& legend) const;

 private:
  std::map<std::string, std::string_view, std::less<>> fills_;  // by family; empty: all are white
  bool caps_written_;
};

}  // namespace espalier::render
