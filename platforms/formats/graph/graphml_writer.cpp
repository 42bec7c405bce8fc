// Writer of GraphML that NetworkX, Gephi and yEd read, too: directed edges, no parallel edges, no
// hyperedges; node names are the ids if XML allows them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "platforms/formats/readers.hpp"
#include "support/xml_text.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kHead = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="graph" attr.name="name" attr.type="string"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="relay" for="node" attr.name="relay" attr.type="boolean"><default>false</default></key>
<key id="group" for="node" attr.name="group" attr.type="string"/>
<key id="send" for="node" attr.name="send_Bps" attr.type="double"/>
<key id="receive" for="node" attr.name="receive_Bps" attr.type="double"/>
<key id="x" for="node" attr.name="x" attr.type="double"/>
<key id="y" for="node" attr.name="y" attr.type="double"/>
<key id="bandwidth" for="edge" attr.name="bandwidth_Bps" attr.type="double"/>
<key id="latency" for="edge" attr.name="latency_s" attr.type="double"><default>0</default></key>
<key id="overhead" for="edge" attr.name="overhead_s" attr.type="double"><default>0</default></key>
)";

// The ASCII part of XML's NMTOKEN.
bool is_token(std::string_view name) {
  return std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') ||
           std::string_view("-._:").find(letter) != std::string_view::npos;
  });
}

class GraphmlWriter {
 public:
  explicit GraphmlWriter(const Platform& platform) : platform_(platform) {
    const bool tokens = std::ranges::all_of(platform.nodes(), is_token, &Node::name);
    for (std::size_t i = 0; i < platform.nodes().size(); ++i) {
      ids_.push_back(tokens ? platform.nodes()[i].name : fmt::format("n{}", i));
    }
  }

  std::string write() {
    text_ = kHead;
    text_ += "<graph edgedefault=\"directed\">\n";
    put_text("name", platform_.name());
    text_ += '\n';
    for (std::size_t i = 0; i < ids_.size(); ++i) write_node(i);
    for (const Arc& arc : platform_.arcs()) write_arc(arc);
    text_ += "</graph>\n</graphml>\n";
    return std::move(text_);
  }

 private:
  void put_text(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "<data key=\"{}\">{}</data>", key,
                   xml_escaped(value));
  }
  void put_number(std::string_view key, double value) {
    fmt::format_to(std::back_inserter(text_), "<data key=\"{}\">{}</data>", key, value);
  }

  void write_node(std::size_t index) {
    const Node& node = platform_.nodes()[index];
    fmt::format_to(std::back_inserter(text_), "<node id=\"{}\">", ids_[index]);
    put_text("label", node.name);
    if (node.relay) put_text("relay", "true");
    if (!node.group.empty()) put_text("group", node.group);
    if (node.send) put_number("send", node.send->value);
    if (node.receive) put_number("receive", node.receive->value);
    if (node.position) {
      put_number("x", node.position->x);
      put_number("y", node.position->y);
    }
    text_ += "</node>\n";
  }

  void write_arc(const Arc& arc) {
    fmt::format_to(std::back_inserter(text_), "<edge source=\"{}\" target=\"{}\">",
                   ids_[index_of(arc.from)], ids_[index_of(arc.to)]);
    put_number("bandwidth", arc.bandwidth.value);
    if (arc.latency.value > 0) put_number("latency", arc.latency.value);
    if (arc.overhead.value > 0) put_number("overhead", arc.overhead.value);
    text_ += "</edge>\n";
  }

  const Platform& platform_;
  std::vector<std::string> ids_;
  std::string text_;
};

}  // namespace

std::string write_graphml(const Platform& platform) {
  return GraphmlWriter(platform).write();
}

}  // namespace espalier::platforms
