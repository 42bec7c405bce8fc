// Writer of Graphviz's DOT language.
#include <fmt/format.h>

#include <iterator>

#include "platforms/formats/readers.hpp"

namespace espalier::platforms {

namespace {

// In double quotes, \" is the only escape sequence, so DOT cannot represent a backslash before a
// quote or at the end. Throws InputError on such a `text`.
std::string dot_string(std::string_view text) {
  std::string quoted = "\"";
  bool escape = false;  // after a backslash that is not the second of two
  for (const char letter : text) {
    if (letter == '"') {
      if (escape) break;
      quoted += '\\';
    }
    quoted += letter;
    escape = letter == '\\' && !escape;
  }
  if (escape) {
    throw InputError(fmt::format("dot cannot represent {}: a backslash before a quote or the end",
                                 in_quotes(text)));
  }
  return quoted + '"';
}

// The name of a graph or node; libcgraph reserves names that start with % for those without a name.
std::string dot_name(std::string_view name) {
  if (!name.starts_with('%')) return dot_string(name);
  throw InputError(
      fmt::format("dot cannot represent the name {}: it starts with %", in_quotes(name)));
}

class DotWriter {
 public:
  explicit DotWriter(const Platform& platform) : platform_(platform) {
    for (const Node& node : platform.nodes()) names_.push_back(dot_name(node.name));
  }

  std::string write() {
    put("digraph {} {{\n", dot_name(platform_.name()));
    for (std::size_t i = 0; i < names_.size(); ++i) write_node(i);
    for (const Arc& arc : platform_.arcs()) write_arc(arc);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void put(fmt::format_string<Values...> pattern, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), pattern, std::forward<Values>(values)...);
  }

  void write_node(std::size_t index) {
    const Node& node = platform_.nodes()[index];
    std::string attributes;
    const auto say = [&](std::string_view name, const std::string& value) {
      attributes += fmt::format("{}{}={}", attributes.empty() ? " [" : ", ", name, value);
    };
    if (node.relay) say("relay", "true");
    if (!node.group.empty()) say("group", dot_string(node.group));
    if (node.send) say("send_Bps", fmt::format("\"{}\"", node.send->value));
    if (node.receive) say("receive_Bps", fmt::format("\"{}\"", node.receive->value));
    if (node.position) {
      say("pos", fmt::format("\"{},{}\"", node.position->x, node.position->y));
    }
    put("  {}{}{};\n", names_[index], attributes, attributes.empty() ? "" : "]");
  }

  // Numbers are quoted, because an unquoted number has no exponent.
  void write_arc(const Arc& arc) {
    put("  {} -> {} [bandwidth_Bps=\"{}\"", names_[index_of(arc.from)], names_[index_of(arc.to)],
        arc.bandwidth.value);
    if (arc.latency.value > 0) put(", latency_s=\"{}\"", arc.latency.value);
    if (arc.overhead.value > 0) put(", overhead_s=\"{}\"", arc.overhead.value);
    text_ += "];\n";
  }

  const Platform& platform_;
  std::vector<std::string> names_;
  std::string text_;
};

}  // namespace

std::string write_dot(const Platform& platform) {
  return DotWriter(platform).write();
}

}  // namespace espalier::platforms
