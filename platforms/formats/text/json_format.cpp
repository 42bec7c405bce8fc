// The platform file in JSON, version 1 (docs/formats.md).
#include <fmt/format.h>

#include "platforms/formats/readers.hpp"
#include "support/json.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kFormat = "espalier-platform";
constexpr std::uint64_t kVersion = 1;

// A quantity as a number with its SI suffix ("bandwidth_Bps") or as text with a unit ("bandwidth").
struct QuantityKeys {
  std::string_view text;
  std::string_view number;
  std::string_view what;
};
constexpr QuantityKeys kBandwidth{"bandwidth", "bandwidth_Bps", "a bandwidth"};
constexpr QuantityKeys kLatency{"latency", "latency_s", "a latency"};
constexpr QuantityKeys kOverhead{"overhead", "overhead_s", "an overhead"};
constexpr QuantityKeys kSend{"send", "send_Bps", "a send cap"};
constexpr QuantityKeys kReceive{"receive", "receive_Bps", "a receive cap"};
constexpr QuantityKeys kLinkSend{kSend.text, kSend.number, "a send rate"};
constexpr QuantityKeys kLinkReceive{kReceive.text, kReceive.number, "a receive rate"};

template <typename Quantity>
std::optional<Quantity> read_quantity(const JsonCursor& object, const QuantityKeys& keys,
                                      Quantity (*parse)(std::string_view),
                                      void (*require)(Quantity, std::string_view)) {
  const auto number = object.find(keys.number);
  const auto text = object.find(keys.text);
  if (number && text) {
    object.refuse(fmt::format("both '{}' and '{}' are given", keys.text, keys.number));
  }
  if (!number && !text) return std::nullopt;
  const JsonCursor& place = number ? *number : *text;
  if (text && text->value().is_number()) {
    place.refuse(
        fmt::format("expected a string with a unit; a bare number belongs in '{}'", keys.number));
  }
  const double value = number ? number->number() : 0;
  const std::string_view written = text ? std::string_view(text->string()) : std::string_view{};
  return place.at_place([&] {
    const Quantity quantity = number ? Quantity{value} : parse(written);
    require(quantity, keys.what);
    return quantity;
  });
}

std::optional<BytesPerSecond> read_rate(const JsonCursor& object, const QuantityKeys& keys) {
  return read_quantity(object, keys, &parse_rate, &require_rate);
}

BytesPerSecond read_bandwidth(const JsonCursor& object) {
  const auto bandwidth = read_rate(object, kBandwidth);
  if (!bandwidth) object.refuse("the key 'bandwidth' or 'bandwidth_Bps' is missing");
  return *bandwidth;
}

Seconds read_duration(const JsonCursor& object, const QuantityKeys& keys) {
  return read_quantity(object, keys, &parse_duration, &require_duration).value_or(Seconds{});
}

std::optional<Position> read_position(const JsonCursor& node) {
  const auto x = node.find("x");
  const auto y = node.find("y");
  if (!x && !y) return std::nullopt;
  if (!x || !y) node.refuse(fmt::format("'{}' without '{}'", x ? "x" : "y", x ? "y" : "x"));
  return Position{x->number(), y->number()};
}

double read_price(const JsonCursor& object, std::string_view key) {
  const auto price = object.find(key);
  if (!price) return 0;
  const double value = price->number();
  price->at_place([&] { require_price(value, "a price"); });
  return value;
}

bool read_flag(const JsonCursor& object, std::string_view key) {
  const auto flag = object.find(key);
  return flag && flag->boolean();
}

NodeId find_node(const JsonCursor& place, PlatformBuilder& builder) {
  const std::string& name = place.string();
  if (const auto node = builder.find_node(name)) return *node;
  std::vector<std::string_view> known;
  for (const Node& node : builder.nodes()) known.emplace_back(node.name);
  place.refuse(unknown_name("node", name, known));
}

void read_shared_link(const JsonCursor& object, PlatformBuilder& builder) {
  object.expect_object({"name", "bandwidth", "bandwidth_Bps", "links"});
  const std::string& name = object.at("name").string();
  const BytesPerSecond bandwidth = read_bandwidth(object);
  std::vector<std::pair<NodeId, NodeId>> links;
  for (const JsonCursor& link : object.at("links").elements()) {
    const auto ends = link.elements();
    if (ends.size() != 2) link.refuse("expected a pair [from, to]");
    links.emplace_back(find_node(ends[0], builder), find_node(ends[1], builder));
  }
  object.at_place([&] { builder.add_shared_link(name, bandwidth, std::move(links)); });
}

class Reader {
 public:
  Reader(const JsonCursor& root, std::string name) : root_(root), builder_(std::move(name)) {}

  Platform read(Source& source) {
    root_.expect_object({"format", "version", "name", "currency", "nodes", "links", "shared"});
    if (const auto currency = root_.find("currency")) {
      const std::string& text = currency->string();
      currency->at_place([&] { builder_.set_currency(text); });
    }
    for (const JsonCursor& node : root_.at("nodes").elements()) read_node(node);
    for (const JsonCursor& link : root_.at("links").elements()) read_link(link);
    const auto shared = root_.find("shared");
    const auto shared_links = shared ? shared->elements() : std::vector<JsonCursor>{};
    for (const JsonCursor& shared_link : shared_links) read_shared_link(shared_link, builder_);
    try {
      return source.build(std::move(builder_));
    } catch (const SharedLinkError& fault) {
      shared_links[fault.shared_link()].at("links").elements()[fault.pair()].refuse(fault.what());
    } catch (const InputError& fault) {
      root_.at("links").refuse(fault.what());
    }
  }

 private:
  void read_node(const JsonCursor& object) {
    object.expect_object({"name", "relay", "send", "send_Bps", "receive", "receive_Bps", "group",
                          "x", "y", "price_per_hour"});
    Node node;
    const JsonCursor name = object.at("name");
    node.name = name.string();
    node.relay = read_flag(object, "relay");
    node.send = read_rate(object, kSend);
    node.receive = read_rate(object, kReceive);
    node.position = read_position(object);
    node.price_per_hour = read_price(object, "price_per_hour");
    if (const auto group = object.find("group")) {
      node.group = group->string();
      if (!node.group.empty()) {
        group->at_place([&] { require_name(node.group, "a group's name"); });
      }
    }
    name.at_place([&] { builder_.add_node(std::move(node)); });
  }

  void read_link(const JsonCursor& object) {
    object.expect_object({"from", "to", "bandwidth", "bandwidth_Bps", "latency", "latency_s",
                          "overhead", "overhead_s", "send", "send_Bps", "receive", "receive_Bps",
                          "both_ways", "price_per_GB"});
    Arc arc;
    arc.from = find_node(object.at("from"), builder_);
    arc.to = find_node(object.at("to"), builder_);
    arc.bandwidth = read_bandwidth(object);
    arc.latency = read_duration(object, kLatency);
    arc.overhead = read_duration(object, kOverhead);
    arc.send = read_rate(object, kLinkSend);
    arc.receive = read_rate(object, kLinkReceive);
    arc.price_per_GB = read_price(object, "price_per_GB");
    const bool both_ways = read_flag(object, "both_ways");
    object.at_place([&] { both_ways ? builder_.add_both_ways(arc) : builder_.add_arc(arc); });
  }

  const JsonCursor& root_;
  PlatformBuilder builder_;
};

// Checked first, so that a file of another kind or version gives this error instead of unknown
// keys.
void require_version(const JsonCursor& root) {
  const JsonCursor format = root.at("format");
  if (format.string() != kFormat) {
    format.refuse(fmt::format("expected '{}', got {}", kFormat, in_quotes(format.string())));
  }
  const JsonCursor version = root.at("version");
  if (version.unsigned_integer() != kVersion) {
    version.refuse(fmt::format("this Espalier reads only version {}", kVersion));
  }
}

bool same_figures(const Arc& there, const Arc& back) {
  return there.bandwidth == back.bandwidth && there.latency == back.latency &&
         there.overhead == back.overhead && there.send == back.send &&
         there.receive == back.receive && there.price_per_GB == back.price_per_GB;
}

// Of a node or a link.
void write_rates(const auto& of, Json& json) {
  if (of.send) json["send_Bps"] = of.send->value;
  if (of.receive) json["receive_Bps"] = of.receive->value;
}

std::string write_node(const Node& node) {
  Json json{{"name", node.name}};
  if (node.relay) json["relay"] = true;
  write_rates(node, json);
  if (!node.group.empty()) json["group"] = node.group;
  if (node.price_per_hour > 0) json["price_per_hour"] = node.price_per_hour;
  if (node.position) json.update({{"x", node.position->x}, {"y", node.position->y}});
  return compact_dump(json);
}

// Empty if the link is written with its other direction.
std::string write_link(const Platform& platform, const Arc& arc) {
  const auto back = platform.find_arc(arc.to, arc.from);
  const bool both_ways = back && same_figures(arc, platform.arc(*back));
  if (both_ways && arc.to < arc.from) return {};
  Json json{{"from", platform.node(arc.from).name},
            {"to", platform.node(arc.to).name},
            {"bandwidth_Bps", arc.bandwidth.value}};
  if (arc.latency.value > 0) json["latency_s"] = arc.latency.value;
  if (arc.overhead.value > 0) json["overhead_s"] = arc.overhead.value;
  write_rates(arc, json);
  if (arc.price_per_GB > 0) json["price_per_GB"] = arc.price_per_GB;
  if (both_ways) json["both_ways"] = true;
  return compact_dump(json);
}

std::string write_shared_link(const Platform& platform, const SharedLink& shared_link) {
  Json links = Json::array();
  for (const ArcId id : shared_link.arcs) {
    const Arc& arc = platform.arc(id);
    links.push_back(Json::array({platform.node(arc.from).name, platform.node(arc.to).name}));
  }
  return compact_dump({{"name", shared_link.name},
                       {"bandwidth_Bps", shared_link.bandwidth.value},
                       {"links", std::move(links)}});
}

// A member of the document, one element per line.
template <class Elements, class Write>
std::string list(std::string_view key, const Elements& elements, const Write& write) {
  std::vector<std::string> lines;
  for (const auto& element : elements) {
    if (std::string line = write(element); !line.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty()) return fmt::format(" \"{}\": []", key);
  return fmt::format(" \"{}\": [\n  {}\n ]", key, fmt::join(lines, ",\n  "));
}

Platform read_json(Source& source) {
  const Json document = parse_json(source.text, source.file);
  const JsonCursor root(document, source.file);
  require_version(root);
  const auto name = root.find("name");
  std::string title = name ? name->string() : source.default_name();
  return (name ? *name : root)
      .at_place([&] { return Reader(root, std::move(title)); })
      .read(source);
}

std::string write_json(const Platform& platform) {
  const auto shared = platform.shared_links();
  return fmt::format(
      "{{\"format\": \"{}\", \"version\": {}, \"name\": {},\n{}{},\n{}{}{}}}\n", kFormat, kVersion,
      compact_dump(platform.name()),
      platform.currency().empty()
          ? ""
          : fmt::format(" \"currency\": {},\n", compact_dump(platform.currency())),
      list("nodes", platform.nodes(), write_node),
      list("links", platform.arcs(), [&](const Arc& arc) { return write_link(platform, arc); }),
      shared.empty() ? "" : ",\n",
      shared.empty() ? "" : list("shared", shared, [&](const SharedLink& link) {
        return write_shared_link(platform, link);
      }));
}

}  // namespace

bool detects_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

constinit const FormatEntry kJsonFormat{
    "json",       "Espalier's own format: everything a platform has",
    detects_json, read_json,
    1024,         ".json",
    write_json};

ReadResult parse_json_format(std::string_view text, const std::string& file,
                             const ReadOptions& options) {
  Source source{text, file, options};
  Platform platform = read_json(source);
  return {std::move(platform), "json", std::move(source.notes)};
}

}  // namespace espalier::platforms
