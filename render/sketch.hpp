// Common parts of the pictures of platforms and plans. Not installed.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "platforms/core/platform.hpp"
#include "render/dot_text.hpp"
#include "render/legend.hpp"

namespace espalier::render {

inline constexpr const char* kFont = "Helvetica,Arial,DejaVu Sans,sans-serif";

// Throws InputError (reason only) for more than so many nodes.
void require_drawable(const platforms::Platform& platform, std::size_t most);

// Attributes of every picture: background, font, and a fixed random start of the layout.
DotAttributes common_graph_attributes();
DotAttributes node_defaults(std::size_t nodes);

// Places nodes by their coordinates. It is used if at least half of the nodes have coordinates that
// are not all equal; the other nodes are then laid out between them. Nodes with equal coordinates
// are placed around them, and overlapping nodes are moved apart.
class Map {
 public:
  explicit Map(const platforms::Platform& platform);
  [[nodiscard]] bool used() const { return !places_.empty(); }
  // The attributes of the graph and of `node` for this placement. Precondition: used().
  [[nodiscard]] DotAttributes graph_attributes() const;
  [[nodiscard]] DotAttributes place_of(const platforms::Node& node) const;

 private:
  std::map<std::string, platforms::Position, std::less<>> places_;  // inches; empty: not used
};

// The appearance of nodes: relays are octagons, hosts are boxes with a fill colour by family.
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
