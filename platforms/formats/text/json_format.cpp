// The platform file in JSON, version 1 (docs/formats.md).
#include <fmt/format.h>

#include <iterator>

#include "platforms/formats/readers.hpp"
#include "support/json.hpp"
#include "support/nearest_name.hpp"

namespace espalier::platforms {

namespace {

constexpr std::string_view kFormat = "espalier-platform";
constexpr std::uint64_t kVersion = 1;

// Runs `step`, whose errors have a reason only, and adds the place.
template <typename Step>
auto at_place(const JsonCursor& place, Step&& step) {
  try {
    return step();
  } catch (const InputError& fault) {
    place.refuse(fault.what());
  }
}

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
  return at_place(place, [&] {
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
  at_place(object, [&] { builder.add_shared_link(name, bandwidth, std::move(links)); });
}

class Reader {
 public:
  Reader(const JsonCursor& root, std::string name) : root_(root), builder_(std::move(name)) {}

  Platform read(std::vector<std::string>& notes) {
    root_.expect_object({"format", "version", "name", "nodes", "links", "shared"});
    for (const JsonCursor& node : root_.at("nodes").elements()) read_node(node);
    for (const JsonCursor& link : root_.at("links").elements()) read_link(link);
    const auto shared = root_.find("shared");
    const auto shared_links = shared ? shared->elements() : std::vector<JsonCursor>{};
    for (const JsonCursor& shared_link : shared_links) read_shared_link(shared_link, builder_);
    try {
      return std::move(builder_).build(&notes);
    } catch (const SharedLinkError& fault) {
      shared_links[fault.shared_link()].at("links").elements()[fault.pair()].refuse(fault.what());
    } catch (const InputError& fault) {
      root_.at("links").refuse(fault.what());
    }
  }

 private:
  void read_node(const JsonCursor& object) {
    object.expect_object(
        {"name", "relay", "send", "send_Bps", "receive", "receive_Bps", "group", "x", "y"});
    Node node;
    const JsonCursor name = object.at("name");
    node.name = name.string();
    node.relay = read_flag(object, "relay");
    node.send = read_rate(object, kSend);
    node.receive = read_rate(object, kReceive);
    node.position = read_position(object);
    if (const auto group = object.find("group")) {
      node.group = group->string();
      if (!node.group.empty()) {
        at_place(*group, [&] { require_name(node.group, "a group's name"); });
      }
    }
    at_place(name, [&] { builder_.add_node(std::move(node)); });
  }

  void read_link(const JsonCursor& object) {
    object.expect_object({"from", "to", "bandwidth", "bandwidth_Bps", "latency", "latency_s",
                          "overhead", "overhead_s", "both_ways"});
    Arc arc;
    arc.from = find_node(object.at("from"), builder_);
    arc.to = find_node(object.at("to"), builder_);
    arc.bandwidth = read_bandwidth(object);
    arc.latency = read_duration(object, kLatency);
    arc.overhead = read_duration(object, kOverhead);
    at_place(object, [&] { builder_.add_arc(arc); });
    if (!read_flag(object, "both_ways")) return;
    std::swap(arc.from, arc.to);
    builder_.add_arc(arc);
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

std::string json_string(const std::string& text) {
  return Json(text).dump();
}

// {"name": "trunk", "bandwidth_Bps": 1e9, "links": [["a", "b"], ...]}
std::string shared_link_json(const Platform& platform, const SharedLink& shared_link) {
  std::string text = fmt::format("{{\"name\": {}, \"bandwidth_Bps\": {}, \"links\": [",
                                 json_string(shared_link.name), shared_link.bandwidth.value);
  for (const ArcId id : shared_link.arcs) {
    const Arc& arc = platform.arc(id);
    fmt::format_to(
        std::back_inserter(text), "{}[{}, {}]", id == shared_link.arcs.front() ? "" : ", ",
        json_string(platform.node(arc.from).name), json_string(platform.node(arc.to).name));
  }
  text += "]}";
  return text;
}

class Writer {
 public:
  explicit Writer(const Platform& platform) : platform_(platform) {
    for (const Node& node : platform.nodes()) names_.push_back(json_string(node.name));
  }

  std::string write() {
    put("{{\"format\": \"{}\", \"version\": {}, \"name\": {},\n", kFormat, kVersion,
        json_string(platform_.name()));
    open_list("nodes");
    for (std::size_t i = 0; i < names_.size(); ++i) write_node(i);
    close_list();
    text_ += ",\n";
    open_list("links");
    for (const Arc& arc : platform_.arcs()) write_link(arc);
    close_list();
    if (!platform_.shared_links().empty()) {
      text_ += ",\n";
      open_list("shared");
      for (const SharedLink& shared_link : platform_.shared_links()) {
        start_element();
        text_ += shared_link_json(platform_, shared_link);
      }
      close_list();
    }
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), pattern, std::forward<Values>(values)...);
  }
  void open_list(std::string_view key) {
    put(" \"{}\": [", key);
    first_ = true;
  }
  void close_list() { text_ += first_ ? "]" : "\n ]"; }
  void start_element() {
    text_ += first_ ? "\n  " : ",\n  ";
    first_ = false;
  }

  void write_node(std::size_t index) {
    const Node& node = platform_.nodes()[index];
    start_element();
    put("{{\"name\": {}", names_[index]);
    if (node.relay) put(", \"relay\": true");
    if (node.send) put(", \"send_Bps\": {}", node.send->value);
    if (node.receive) put(", \"receive_Bps\": {}", node.receive->value);
    if (!node.group.empty()) put(", \"group\": {}", json_string(node.group));
    if (node.position) put(", \"x\": {}, \"y\": {}", node.position->x, node.position->y);
    text_ += '}';
  }

  void write_link(const Arc& arc) {
    const auto back = platform_.find_arc(arc.to, arc.from);
    const bool both_ways = back && same_figures(arc, platform_.arc(*back));
    if (both_ways && arc.to < arc.from) return;  // written with the other direction
    start_element();
    put("{{\"from\": {}, \"to\": {}, \"bandwidth_Bps\": {}", names_[index_of(arc.from)],
        names_[index_of(arc.to)], arc.bandwidth.value);
    if (arc.latency.value > 0) put(", \"latency_s\": {}", arc.latency.value);
    if (arc.overhead.value > 0) put(", \"overhead_s\": {}", arc.overhead.value);
    if (both_ways) put(", \"both_ways\": true");
    text_ += '}';
  }

  static bool same_figures(const Arc& there, const Arc& back) {
    return there.bandwidth == back.bandwidth && there.latency == back.latency &&
           there.overhead == back.overhead;
  }

  const Platform& platform_;
  std::vector<std::string> names_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

bool detects_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

ReadResult parse_json_format(std::string_view text, const std::string& file,
                             const ReadOptions& options) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  require_version(root);
  const auto name = root.find("name");
  ReadResult result{{}, "json", {}};
  std::string title = name ? name->string() : default_name(file, options);
  auto reader = at_place(name ? *name : root, [&] { return Reader(root, std::move(title)); });
  result.platform = reader.read(result.notes);
  return result;
}

std::string write_json_format(const Platform& platform) {
  return Writer(platform).write();
}

std::string write_shared_links(const Platform& platform) {
  std::string text;
  for (const SharedLink& shared_link : platform.shared_links()) {
    text += (text.empty() ? "[" : ", ") + shared_link_json(platform, shared_link);
  }
  return text.empty() ? text : text + "]";
}

void read_shared_links(std::string_view text, PlatformBuilder& builder) {
  const Json document = parse_json(text, {});
  for (const JsonCursor& shared_link : JsonCursor(document, {}, "shared").elements()) {
    read_shared_link(shared_link, builder);
  }
}

}  // namespace espalier::platforms
