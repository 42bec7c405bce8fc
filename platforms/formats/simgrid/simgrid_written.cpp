#include "platforms/formats/simgrid/simgrid_written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platforms/formats/attributes.hpp"
#include "platforms/formats/readers.hpp"
#include "platforms/formats/simgrid/simgrid_network.hpp"

namespace espalier::platforms::simgrid {

namespace {

struct WrittenLink {
  BytesPerSecond bandwidth;
  Seconds latency;
  Seconds overhead;
  std::size_t shared_link;  // if it is one: its index
};

std::optional<Position> position_in(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::size_t blank = std::min(text.find(' '), text.size());
  const auto position =
      parse_position(text.substr(0, blank), text.substr(std::min(blank + 1, text.size())));
  if (!position) throw InputError(fmt::format("a position is 'x y', not {}", in_quotes(text)));
  return position;
}

class WrittenReader {
 public:
  WrittenReader(const XmlFile& xml, const pugi::xml_node& zone, const std::string& file,
                const ReadOptions& options)
      : xml_(xml), zone_(zone), builder_(name_of(zone, file, options)) {}

  ReadResult result() && {
    xml_.at(zone_, [&] {
      if (property(zone_, kVersionProperty) == "1") return;
      throw InputError("this Espalier reads only version 1 of its SimGrid platforms");
    });
    for (const pugi::xml_node element : zone_.children()) {
      if (element.type() == pugi::node_element) xml_.at(element, [&] { read(element); });
    }
    for (WrittenSharedLink& shared_link : shared_links_) {
      builder_.add_shared_link(shared_link.name, shared_link.bandwidth,
                               std::move(shared_link.links));
    }
    ReadResult result{{}, "simgrid", {}};
    result.platform = std::move(builder_).build(&result.notes);
    return result;
  }

 private:
  struct WrittenSharedLink {
    std::string name;
    BytesPerSecond bandwidth;
    std::vector<std::pair<NodeId, NodeId>> links;
  };

  static std::string name_of(const pugi::xml_node& zone, const std::string& file,
                             const ReadOptions& options) {
    if (!options.name.empty()) return options.name;
    const pugi::xml_node name =
        zone.find_child_by_attribute("prop", "id", std::string(kNameProperty).c_str());
    return name ? printable(name.attribute("value").value()) : default_name(file, options);
  }

  void read(const pugi::xml_node& element) {
    const std::string_view kind = element.name();
    if (kind == "prop") return read_property(element);
    if (kind == "host" || kind == "router") return read_node(element, kind == "router");
    if (kind == "link") return read_link(element);
    if (kind == "route") return read_route(element);
    throw InputError(
        fmt::format("element <{}> is not supported in a platform that Espalier wrote; "
                    "remove the property 'espalier' to read it as any other",
                    printable(kind)));
  }

  void read_property(const pugi::xml_node& element) {
    const std::string id = required_attribute(element, "id");
    for (const std::string_view stem : {kRelayGroup, kRelayPosition}) {
      if (id.starts_with(stem)) of_relays_.emplace(id, required_attribute(element, "value"));
    }
  }

  void read_node(const pugi::xml_node& element, bool relay) {
    if (builder_.nodes().size() >= kMostNodes) {
      throw InputError(fmt::format("more than {} nodes", kMostNodes));
    }
    Node node;
    node.name = required_attribute(element, "id");
    node.relay = relay;
    const auto value_of = [&](std::string_view own, std::string_view stem) {
      if (!relay) return property(element, own);
      const auto found = of_relays_.find(fmt::format("{}{}", stem, node.name));
      return found == of_relays_.end() ? std::string_view{} : std::string_view(found->second);
    };
    node.group = value_of(kGroupProperty, kRelayGroup);
    node.position = position_in(value_of(kPositionProperty, kRelayPosition));
    builder_.add_node(std::move(node));
  }

  NodeId node_of(const std::string& name) const {
    if (const auto node = builder_.find_node(name)) return *node;
    throw InputError(fmt::format("there is no host or router {}", in_quotes(name)));
  }

  void read_link(const pugi::xml_node& element) {
    const std::string id = required_attribute(element, "id");
    WrittenLink link{parse_bandwidth(required_attribute(element, "bandwidth")),
                     parse_latency(element.attribute("latency").as_string("0")),
                     {},
                     shared_links_.size()};
    if (const std::string_view text = property(element, kOverheadProperty); !text.empty()) {
      const auto overhead = parse_number(text);
      if (!overhead) {
        throw InputError(fmt::format("an overhead is a number, not {}", in_quotes(text)));
      }
      link.overhead = {*overhead};
    }
    if (id.starts_with(kSharedLink)) {
      shared_links_.push_back({id.substr(kSharedLink.size()), link.bandwidth, {}});
    } else if (id.starts_with(kSendLink)) {
      capped(id.substr(kSendLink.size())).send = link.bandwidth;
    } else if (id.starts_with(kReceiveLink)) {
      capped(id.substr(kReceiveLink.size())).receive = link.bandwidth;
    } else if (!id.starts_with(kArcLink) && !id.starts_with(kPadLink)) {
      throw InputError(fmt::format("{} is not a link that Espalier writes", in_quotes(id)));
    }
    if (!links_.emplace(id, link).second) {
      throw InputError(fmt::format("two links are named {}", in_quotes(id)));
    }
  }

  Node& capped(const std::string& name) { return builder_.nodes()[index_of(node_of(name))]; }

  void read_route(const pugi::xml_node& route) {
    if (required_attribute(route, "symmetrical") != "NO") {
      throw InputError("the routes that Espalier writes have symmetrical=\"NO\"");
    }
    Arc arc;
    arc.from = node_of(required_attribute(route, "src"));
    arc.to = node_of(required_attribute(route, "dst"));
    std::size_t arcs = 0;
    for (const pugi::xml_node step : route.children("link_ctn")) {
      const std::string id = required_attribute(step, "id");
      const auto found = links_.find(id);
      if (found == links_.end()) {
        throw InputError(fmt::format("there is no link {}", in_quotes(id)));
      }
      const WrittenLink& link = found->second;
      if (id.starts_with(kSharedLink))
        shared_links_[link.shared_link].links.emplace_back(arc.from, arc.to);
      if (!id.starts_with(kArcLink)) continue;
      ++arcs;
      arc.bandwidth = link.bandwidth;
      arc.latency = link.latency;
      arc.overhead = link.overhead;
    }
    if (arcs != 1)
      throw InputError(fmt::format("a route must use one link 'link:N', not {}", arcs));
    builder_.add_arc(arc);
  }

  const XmlFile& xml_;
  pugi::xml_node zone_;
  PlatformBuilder builder_;
  std::unordered_map<std::string, std::string> of_relays_;  // properties of relays, by id
  std::unordered_map<std::string, WrittenLink> links_;
  std::vector<WrittenSharedLink> shared_links_;
};

}  // namespace

std::string_view property(const pugi::xml_node& of, std::string_view name) {
  for (const pugi::xml_node entry : of.children("prop")) {
    if (name == entry.attribute("id").value()) return entry.attribute("value").value();
  }
  return {};
}

ReadResult read_written(const XmlFile& xml, const pugi::xml_node& zone, const std::string& file,
                        const ReadOptions& options) {
  ReadResult result;
  xml.at(zone, [&] { result = WrittenReader(xml, zone, file, options).result(); });
  return result;
}

}  // namespace espalier::platforms::simgrid
