// Reader of GraphML with the names of the platform file, or as written by the Internet Topology Zoo
// (docs/formats.md).
// S. Knight et al., "The Internet Topology Zoo", JSAC 29(9), 2011, doi:10.1109/JSAC.2011.111002.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>

#include "platforms/formats/attributes.hpp"
#include "platforms/formats/graph/xml.hpp"
#include "platforms/formats/readers.hpp"

namespace espalier::platforms {

namespace {

class GraphmlReader {
 public:
  explicit GraphmlReader(Source& source) : source_(source), xml_(source.text, source.file) {}

  Platform platform() {
    const pugi::xml_node root = xml_.document().child("graphml");
    if (!root) source_.refuse("there is no element <graphml>");
    for (const pugi::xml_node key : root.children("key")) {
      xml_.at(key, [&] { add_key(key); });
    }
    const pugi::xml_node graph = root.child("graph");
    if (!graph) source_.refuse("there is no element <graph>");
    if (graph.next_sibling("graph")) source_.refuse("there is more than one graph");
    xml_.at(graph, [&] { start(graph); });
    for (const pugi::xml_node node : graph.children("node")) {
      xml_.at(node, [&] { add_node(node); });
    }
    for (const pugi::xml_node edge : graph.children("edge")) {
      xml_.at(edge, [&] { add_edge(edge); });
    }
    for (const pugi::xml_node node : graph.children("hyperedge")) {
      xml_.at(node, [] { throw InputError("element <hyperedge> is not supported"); });
    }
    if (builder_->size() == 0) source_.refuse("the graph has no nodes");
    builder_->add_notes(/*note_latencies=*/true);
    source_.note_count(external_, "{} nodes belong to other networks (Internal is 0)");
    return builder_->platform();
  }

 private:
  using Data = std::map<std::string, std::string, std::less<>>;

  void add_key(const pugi::xml_node& key) {
    const std::string_view name = key.attribute("attr.name").value();
    keys_.emplace(required_attribute(key, "id"), name);
    const std::string_view of = key.attribute("for").as_string("all");
    if (of == "edge" || of == "all") link_attributes_.declare(name);
    if (of == "node" || of == "all") node_attributes_.declare(name);
    const pugi::xml_node value = key.child("default");
    if (!value) return;
    for (auto& [element, defaults] : defaults_) {
      if (of == element || of == "all") defaults.emplace(name, value.child_value());
    }
  }

  // The <data> below `node`, by the names that <key> assigns to the ids.
  Data data_of(const pugi::xml_node& node) const {
    Data data;
    for (const pugi::xml_node entry : node.children("data")) {
      const auto key = keys_.find(required_attribute(entry, "key"));
      if (key == keys_.end()) {
        throw InputError(
            fmt::format("there is no key {}", in_quotes(entry.attribute("key").value())));
      }
      data.emplace(key->second, entry.child_value());
    }
    const Data& defaults = defaults_.find(std::string_view(node.name()))->second;
    data.insert(defaults.begin(), defaults.end());
    return data;
  }

  static std::string_view text_of(const Data& data, std::string_view name) {
    const auto found = data.find(name);
    return found == data.end() ? std::string_view{} : std::string_view(found->second);
  }

  void start(const pugi::xml_node& graph) {
    const std::string edges = required_attribute(graph, "edgedefault");
    if (edges != "directed" && edges != "undirected") {
      throw InputError(
          fmt::format("edgedefault is directed or undirected, not {}", in_quotes(edges)));
    }
    directed_ = edges == "directed";
    builder_.emplace(source_, name_of(data_of(graph)));
  }

  std::string name_of(const Data& graph) const {
    if (!source_.options.name.empty()) return source_.options.name;
    if (graph.contains("name")) return printable(text_of(graph, "name"));
    const std::string_view label = text_of(graph, "label");
    return label.empty() ? source_.default_name() : printable(label);
  }

  void add_node(const pugi::xml_node& element) {
    if (element.child("graph")) throw InputError("a graph inside a node is not supported");
    const std::string id = required_attribute(element, "id");
    const Data data = data_of(element);
    Node node = node_attributes_.read([&](std::string_view name) { return text_of(data, name); });
    node.name = printable(text_of(data, "label"));
    // Labels may repeat ("None", "?"); the id makes them unique.
    if (node.name.empty() || builder_->has_node(node.name)) {
      node.name =
          node.name.empty() ? printable(id) : fmt::format("{} ({})", node.name, printable(id));
    }
    if (node.group.empty()) node.group = text_of(data, "Country");
    node.group = printable(node.group);
    node.relay =
        node.relay || text_of(data, "hyperedge") == "1" || text_of(data, "type") == "hyperedge";
    if (text_of(data, "Internal") == "0") ++external_;
    const auto place = parse_place(text_of(data, "Latitude"), text_of(data, "Longitude"));
    if (!ids_.emplace(id, NodeId{static_cast<std::uint32_t>(builder_->size())}).second) {
      throw InputError(fmt::format("two nodes have the id {}", in_quotes(id)));
    }
    builder_->add_node(std::move(node), place);
  }

  [[nodiscard]] NodeId end_of(const pugi::xml_node& edge, const char* end) const {
    const std::string id = required_attribute(edge, end);
    const auto found = ids_.find(id);
    if (found != ids_.end()) return found->second;
    throw InputError(fmt::format("there is no node of id {}", in_quotes(id)));
  }

  // LinkSpeedRaw in bit/s, otherwise LinkSpeed with LinkSpeedUnits.
  static std::optional<BytesPerSecond> speed_of(const Data& data) {
    constexpr std::string_view kRaw = "LinkSpeedRaw";
    if (const auto bits = optional_number(text_of(data, kRaw), kRaw))
      return BytesPerSecond{*bits / 8};
    const std::string_view units = text_of(data, "LinkSpeedUnits");
    const auto speed = parse_number(text_of(data, "LinkSpeed"));
    if (!speed || units.empty()) return std::nullopt;
    const std::size_t power = std::string_view("KMGT").find(units);
    if (units.size() != 1 || power == std::string_view::npos) {
      throw InputError(fmt::format("LinkSpeedUnits is K, M, G or T, not {}", in_quotes(units)));
    }
    return BytesPerSecond{*speed * std::pow(1000, static_cast<double>(power + 1)) / 8};
  }

  void add_edge(const pugi::xml_node& element) {
    const NodeId from = end_of(element, "source");
    const NodeId to = end_of(element, "target");
    const Data data = from == to ? Data{} : data_of(element);
    builder_->add_link(
        from, to, !element.attribute("directed").as_bool(directed_), link_attributes_,
        [&](std::string_view name) { return text_of(data, name); }, [&] { return speed_of(data); });
  }

  Source& source_;
  XmlFile xml_;
  std::optional<GraphBuilder> builder_;
  std::map<std::string, std::string> keys_;  // by id: the name
  std::map<std::string, Data, std::less<>> defaults_{{"graph", {}}, {"node", {}}, {"edge", {}}};
  LinkAttributes link_attributes_;
  NodeAttributes node_attributes_;
  std::unordered_map<std::string, NodeId> ids_;
  bool directed_ = false;
  std::size_t external_ = 0;
};

bool detects_graphml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || text[first] != '<') return false;
  return text.find("<graphml") != std::string_view::npos;
}

}  // namespace

constinit const FormatEntry kGraphmlFormat{
    "graphml",
    "GraphML: links with bandwidths, or the Internet Topology Zoo's with coordinates",
    detects_graphml,
    [](Source& source) { return GraphmlReader(source).platform(); },
    64,
    ".graphml",
    write_graphml,
    nullptr,
    /*leaves_out_shared_links=*/true};

}  // namespace espalier::platforms
