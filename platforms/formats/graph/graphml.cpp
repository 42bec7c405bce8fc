// Reader of GraphML with the names of the platform file, or as written by the Internet Topology Zoo
// (docs/formats.md).
// S. Knight et al., "The Internet Topology Zoo", JSAC 29(9), 2011, doi:10.1109/JSAC.2011.111002.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "platforms/formats/attributes.hpp"
#include "platforms/formats/graph/xml.hpp"
#include "platforms/formats/readers.hpp"
#include "platforms/formats/text/csv.hpp"
#include "platforms/generators/geography.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

namespace {

class GraphmlReader {
 public:
  GraphmlReader(std::string_view text, const std::string& file, const ReadOptions& options)
      : file_(file), options_(options), xml_(text, file) {}

  ReadResult result() && {
    const pugi::xml_node root = xml_.document().child("graphml");
    if (!root) throw InputError(file_, {}, "there is no element <graphml>");
    for (const pugi::xml_node key : root.children("key")) {
      xml_.at(key, [&] { add_key(key); });
    }
    const pugi::xml_node graph = root.child("graph");
    if (!graph) throw InputError(file_, {}, "there is no element <graph>");
    if (graph.next_sibling("graph")) throw InputError(file_, {}, "there is more than one graph");
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
    if (places_.empty()) throw InputError(file_, {}, "the graph has no nodes");
    return finish();
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

  static std::optional<double> number_of(const Data& data, std::string_view name) {
    const std::string_view text = text_of(data, name);
    if (text.empty()) return std::nullopt;
    const auto number = parse_number(text);
    if (!number) throw InputError(fmt::format("{} is a number, not {}", name, in_quotes(text)));
    return number;
  }

  void start(const pugi::xml_node& graph) {
    const std::string edges = required_attribute(graph, "edgedefault");
    if (edges != "directed" && edges != "undirected") {
      throw InputError(
          fmt::format("edgedefault is directed or undirected, not {}", in_quotes(edges)));
    }
    directed_ = edges == "directed";
    if (!options_.missing_bandwidth.empty()) {
      missing_ = parse_rate(options_.missing_bandwidth);
      require_rate(*missing_, "the missing bandwidth");
    }
    const Data data = data_of(graph);
    shared_ = text_of(data, "shared");
    builder_.emplace(name_of(data));
  }

  std::string name_of(const Data& graph) const {
    if (!options_.name.empty()) return options_.name;
    if (graph.contains("name")) return printable(text_of(graph, "name"));
    const std::string_view label = text_of(graph, "label");
    return label.empty() ? default_name(file_, options_) : printable(label);
  }

  void add_node(const pugi::xml_node& element) {
    if (element.child("graph")) throw InputError("a graph inside a node is not supported");
    const std::string id = required_attribute(element, "id");
    const Data data = data_of(element);
    Node node = node_attributes_.read([&](std::string_view name) { return text_of(data, name); });
    node.name = printable(text_of(data, "label"));
    // Labels may repeat ("None", "?"); the id makes them unique.
    if (node.name.empty() || builder_->find_node(node.name)) {
      node.name =
          node.name.empty() ? printable(id) : fmt::format("{} ({})", node.name, printable(id));
    }
    if (node.group.empty()) node.group = text_of(data, "Country");
    node.group = printable(node.group);
    node.relay =
        node.relay || text_of(data, "hyperedge") == "1" || text_of(data, "type") == "hyperedge";
    if (text_of(data, "Internal") == "0") ++external_;
    const auto place = parse_place(text_of(data, "Latitude"), text_of(data, "Longitude"));
    if (place && !node.position) node.position = position_of(*place);
    if (!ids_.emplace(id, NodeId{static_cast<std::uint32_t>(places_.size())}).second) {
      throw InputError(fmt::format("two nodes have the id {}", in_quotes(id)));
    }
    builder_->add_node(std::move(node));
    places_.push_back(place);
  }

  [[nodiscard]] NodeId end_of(const pugi::xml_node& edge, const char* end) const {
    const std::string id = required_attribute(edge, end);
    const auto found = ids_.find(id);
    if (found != ids_.end()) return found->second;
    throw InputError(fmt::format("there is no node of id {}", in_quotes(id)));
  }

  // From the bandwidth data, otherwise LinkSpeedRaw in bit/s, otherwise LinkSpeed with
  // LinkSpeedUnits.
  [[nodiscard]] std::optional<BytesPerSecond> bandwidth_of(const Data& data) const {
    const auto text = [&](std::string_view name) { return text_of(data, name); };
    if (const auto rate = link_attributes_.bandwidth.read(text)) return rate;
    if (const auto bits = number_of(data, "LinkSpeedRaw")) return BytesPerSecond{*bits / 8};
    const std::string_view units = text_of(data, "LinkSpeedUnits");
    const auto speed = parse_number(text_of(data, "LinkSpeed"));
    if (!speed || units.empty()) return missing_;
    const std::size_t power = std::string_view("KMGT").find(units);
    if (units.size() != 1 || power == std::string_view::npos) {
      throw InputError(fmt::format("LinkSpeedUnits is K, M, G or T, not {}", in_quotes(units)));
    }
    return BytesPerSecond{*speed * std::pow(1000, static_cast<double>(power + 1)) / 8};
  }

  void add_edge(const pugi::xml_node& element) {
    Arc arc;
    arc.from = end_of(element, "source");
    arc.to = end_of(element, "target");
    if (arc.from == arc.to) {
      ++loops_;
      return;
    }
    const Data data = data_of(element);
    const auto bandwidth = bandwidth_of(data);
    if (!bandwidth) {
      ++unknown_;
      return;
    }
    arc.bandwidth = *bandwidth;
    const auto text = [&](std::string_view name) { return text_of(data, name); };
    arc.overhead = link_attributes_.overhead.read(text).value_or(Seconds{});
    const auto& from = places_[index_of(arc.from)];
    const auto& to = places_[index_of(arc.to)];
    if (const auto latency = link_attributes_.latency.read(text)) {
      arc.latency = *latency;
    } else if (from && to) {
      arc.latency = latency_between(*from, *to);
    } else {
      ++placeless_;
    }
    builder_->add_arc(arc);
    if (element.attribute("directed").as_bool(directed_)) return;
    std::swap(arc.from, arc.to);
    builder_->add_arc(arc);
  }

  ReadResult finish() {
    ReadResult result{{}, "graphml", {}};
    auto& notes = result.notes;
    if (unknown_ > 0) {
      notes.push_back(
          fmt::format("left out {} without a speed; give them one with --missing-bandwidth",
                      counted(unknown_, "link")));
    }
    if (placeless_ > 0) {
      notes.push_back(
          fmt::format("no latency for {}: an end has no coordinates", counted(placeless_, "link")));
    }
    if (loops_ > 0)
      notes.push_back(fmt::format("left out {} from a node to itself", counted(loops_, "link")));
    if (external_ > 0) {
      notes.push_back(fmt::format("{} nodes belong to other networks (Internal is 0)", external_));
    }
    try {
      if (!shared_.empty()) read_shared_links(shared_, *builder_);
      result.platform = std::move(*builder_).build(&notes);
    } catch (const InputError& fault) {
      throw InputError(file_, {}, fault.what());
    }
    return result;
  }

  const std::string& file_;
  const ReadOptions& options_;
  XmlFile xml_;
  std::optional<PlatformBuilder> builder_;
  std::optional<BytesPerSecond> missing_;
  std::map<std::string, std::string> keys_;  // by id: the name
  std::map<std::string, Data, std::less<>> defaults_{{"graph", {}}, {"node", {}}, {"edge", {}}};
  LinkAttributes link_attributes_;
  NodeAttributes node_attributes_;
  std::string shared_;  // the platform file's list of shared links
  std::unordered_map<std::string, NodeId> ids_;
  std::vector<std::optional<Place>> places_;  // by node
  bool directed_ = false;
  std::size_t unknown_ = 0;
  std::size_t placeless_ = 0;
  std::size_t loops_ = 0;
  std::size_t external_ = 0;
};

}  // namespace

bool detects_graphml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || text[first] != '<') return false;
  return text.find("<graphml") != std::string_view::npos;
}

ReadResult parse_graphml(std::string_view text, const std::string& file,
                         const ReadOptions& options) {
  return GraphmlReader(text, file, options).result();
}

}  // namespace espalier::platforms
