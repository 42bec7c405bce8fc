#include "planner/plan/tree_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::planner::plan_file {

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + quoted(name);
  return "[" + list + "]";
}

std::string number(double value, std::string_view what) {
  if (!std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("a plan's {} must be finite, got {}", what, value));
  }
  return fmt::format("{}", value);
}

std::vector<std::string> parse_names(const JsonCursor& list) {
  std::vector<std::string> names;
  for (const JsonCursor& name : list.elements()) names.push_back(name.string());
  return names;
}

namespace {

// Converts between (parent, child) and the file's (sender, receiver).
std::pair<std::uint32_t, std::uint32_t> reversed(std::uint32_t first, std::uint32_t second,
                                                 Direction direction) {
  return direction == Direction::kDown ? std::pair(first, second) : std::pair(second, first);
}

std::string edge_list(const std::vector<PlanEdge>& edges, Direction direction) {
  std::string list;
  for (const auto [parent, child] : edges) {
    const auto [from, to] = reversed(parent, child, direction);
    list += fmt::format("{}[{}, {}]", list.empty() ? "" : ", ", from, to);
  }
  return "[" + list + "]";
}

std::string tree_json(const PlanTree& tree, Direction direction) {
  std::string text =
      fmt::format("    {{\"rate_Bps\": {},\n     \"edges\": {}",
                  number(tree.rate.value, "rate_Bps"), edge_list(tree.edges, direction));
  std::string via;
  for (const auto& [edge, relays] : tree.via) {
    const auto [from, to] = reversed(edge.first, edge.second, direction);
    via += fmt::format("{}\"{}-{}\": {}", via.empty() ? "" : ", ", from, to, quoted_list(relays));
  }
  if (!via.empty()) text += ",\n     \"via\": {" + via + "}";
  if (!tree.colors.empty()) {
    text += fmt::format(",\n     \"colors\": [{}]", fmt::join(tree.colors, ", "));
  }
  if (!tree.exchange.empty())
    text += ",\n     \"exchange\": " + edge_list(tree.exchange, direction);
  std::string latencies;
  for (const Seconds latency : tree.latencies) {
    latencies += (latencies.empty() ? "" : ", ") + number(latency.value, "latency");
  }
  if (!latencies.empty()) text += ",\n     \"latencies_s\": [" + latencies + "]";
  return text + "}";
}

// Reads an index below `nodes`. A plan of thousands of nodes has a million indices, so the cursor
// with its strings is made only for an error.
std::uint32_t node_at(const JsonCursor& edges, std::size_t edge, std::size_t end,
                      std::size_t nodes) {
  const Json& value = edges.value()[edge][end];
  if (value.is_number_unsigned()) {
    const auto index = value.get<std::uint64_t>();
    if (index < nodes) return static_cast<std::uint32_t>(index);
  }
  const JsonCursor place = edges.elements()[edge].elements()[end];
  const std::uint64_t index = place.unsigned_integer();
  if (index < nodes) return static_cast<std::uint32_t>(index);
  place.refuse(fmt::format("node {} is out of range: the plan has {} nodes", index, nodes));
}

std::vector<PlanEdge> parse_edges(const JsonCursor& edges, std::size_t nodes, Direction direction) {
  const std::string_view ends =
      direction == Direction::kDown ? "[parent, child]" : "[child, parent]";
  if (!edges.value().is_array()) edges.refuse(fmt::format("expected an array of {} pairs", ends));
  std::vector<PlanEdge> parsed;
  parsed.reserve(edges.value().size());
  for (std::size_t i = 0; i < edges.value().size(); ++i) {
    const Json& pair = edges.value()[i];
    if (!pair.is_array() || pair.size() != 2) {
      edges.elements()[i].refuse(fmt::format("expected a {} pair", ends));
    }
    const std::uint32_t first = node_at(edges, i, 0, nodes);
    const auto [parent, child] = reversed(first, node_at(edges, i, 1, nodes), direction);
    parsed.push_back({parent, child});
  }
  return parsed;
}

// "0-2" as a pair of nodes.
std::pair<std::uint32_t, std::uint32_t> parse_via_key(const JsonCursor& via, const std::string& key,
                                                      std::size_t nodes) {
  const auto ends = split(key, '-');
  const std::uint32_t parent = parse_whole<std::uint32_t>(ends.front()).value_or(0);
  const std::uint32_t child = parse_whole<std::uint32_t>(ends.back()).value_or(0);
  // Only the canonical spelling, or else "0-2" and "00-2" would be two keys for one edge.
  if (key != fmt::format("{}-{}", parent, child)) {
    via.refuse(fmt::format("'{}' is not an edge; expected one like \"0-2\"", key));
  }
  if (parent >= nodes || child >= nodes) {
    via.refuse(fmt::format("edge '{}' is out of range: the plan has {} nodes", key, nodes));
  }
  return {parent, child};
}

// `read` makes a cursor only for an error, as in node_at.
template <class Element, class Read>
std::vector<Element> parse_each(const JsonCursor& list, std::string_view what, const Read& read) {
  if (!list.value().is_array())
    list.refuse(fmt::format("expected an array of {}, one per edge", what));
  std::vector<Element> parsed;
  parsed.reserve(list.value().size());
  for (std::size_t i = 0; i < list.value().size(); ++i) parsed.push_back(read(list.value()[i], i));
  return parsed;
}

std::vector<std::uint8_t> parse_colors(const JsonCursor& colors) {
  return parse_each<std::uint8_t>(colors, "colors", [&](const Json& value, std::size_t i) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 1) {
      colors.elements()[i].refuse("a color is 0 or 1");
    }
    return value.get<std::uint8_t>();
  });
}

std::vector<Seconds> parse_latencies(const JsonCursor& latencies) {
  return parse_each<Seconds>(latencies, "latencies", [&](const Json& value, std::size_t i) {
    return Seconds{value.is_number() ? value.get<double>() : latencies.elements()[i].number()};
  });
}

PlanTree parse_tree(const JsonCursor& tree, std::size_t nodes, Direction direction) {
  tree.expect_object({"rate_Bps", "edges", "via", "colors", "exchange", "latencies_s"});
  PlanTree parsed;
  parsed.rate.value = tree.at("rate_Bps").number();
  parsed.edges = parse_edges(tree.at("edges"), nodes, direction);
  if (tree.has("via")) {
    const JsonCursor via = tree.at("via");
    if (!via.value().is_object()) via.refuse("expected an object of relays by edge");
    for (const auto& [key, relays] : via.members()) {
      const auto [from, to] = parse_via_key(via, std::string(key), nodes);
      parsed.via[reversed(from, to, direction)] = parse_names(relays);
    }
  }
  if (tree.has("colors")) parsed.colors = parse_colors(tree.at("colors"));
  if (tree.has("exchange")) parsed.exchange = parse_edges(tree.at("exchange"), nodes, direction);
  if (tree.has("latencies_s")) parsed.latencies = parse_latencies(tree.at("latencies_s"));
  return parsed;
}

}  // namespace

std::string trees_json(const std::vector<PlanTree>& trees, Direction direction) {
  std::string text;
  for (const PlanTree& tree : trees) {
    text += (text.empty() ? "\n" : ",\n") + tree_json(tree, direction);
  }
  return "[" + text + (text.empty() ? "]" : "\n  ]");
}

std::uint32_t index_below(const JsonCursor& place, std::size_t count, std::string_view what) {
  const std::uint64_t index = place.unsigned_integer();
  if (index < count) return static_cast<std::uint32_t>(index);
  place.refuse(fmt::format("{} is out of range: the plan has {} {}", index, count, what));
}

std::vector<PlanTree> parse_trees(const JsonCursor& list, std::size_t nodes, Direction direction) {
  std::vector<PlanTree> parsed;
  for (const JsonCursor& tree : list.elements()) {
    parsed.push_back(parse_tree(tree, nodes, direction));
  }
  return parsed;
}

}  // namespace espalier::planner::plan_file
