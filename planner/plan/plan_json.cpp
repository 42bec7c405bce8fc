// The plan file, docs/formats.md, "Plan".
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "planner/plan/plan.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

namespace espalier::planner {
namespace {

constexpr std::string_view kFormat = "espalier-plan";
constexpr std::uint64_t kVersion = 1;

// --- writing ---

// Names from a CSV may not be UTF-8, which JSON requires: invalid bytes are replaced.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + quoted(name);
  return "[" + list + "]";
}

// The shortest text that reads back as the same double.
std::string number(double value, std::string_view what) {
  if (!std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("a plan's {} must be finite, got {}", what, value));
  }
  return fmt::format("{}", value);
}

// The direction of a tree's data; the file names the sender of each edge first.
enum class Direction : std::uint8_t { kDown, kUp };

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

std::string trees_json(const std::vector<PlanTree>& trees, Direction direction) {
  std::string text;
  for (const PlanTree& tree : trees) {
    text += (text.empty() ? "\n" : ",\n") + tree_json(tree, direction);
  }
  return "[" + text + (text.empty() ? "]" : "\n  ]");
}

std::string schedule_json(const PlanSchedule& schedule) {
  std::string sends;
  for (const ScheduledSend& send : schedule.sends) {
    sends += fmt::format("{}      [{}, {}, {}, {}, {}, {}]", sends.empty() ? "\n" : ",\n",
                         send.tree, send.parent, send.child, number(send.start.value, "start"),
                         number(send.time.value, "time"), number(send.bytes, "bytes"));
  }
  return fmt::format(
      "{{\n    \"period_s\": {},\n    \"throughput_Bps\": {},\n    \"slices\": [{}],\n"
      "    \"sends\": [{}\n    ]\n  }}",
      number(schedule.period.value, "period_s"),
      number(schedule.throughput.value, "throughput_Bps"), fmt::join(schedule.segments, ", "),
      sends);
}

// --- reading ---

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

std::vector<std::string> parse_names(const JsonCursor& list) {
  std::vector<std::string> names;
  for (const JsonCursor& name : list.elements()) names.push_back(name.string());
  return names;
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
    for (const auto& [key, relays] : via.value().items()) {
      const auto [from, to] = parse_via_key(via, key, nodes);
      parsed.via[reversed(from, to, direction)] = parse_names(via.at(key));
    }
  }
  if (tree.has("colors")) parsed.colors = parse_colors(tree.at("colors"));
  if (tree.has("exchange")) parsed.exchange = parse_edges(tree.at("exchange"), nodes, direction);
  if (tree.has("latencies_s")) parsed.latencies = parse_latencies(tree.at("latencies_s"));
  return parsed;
}

// An index below `count`, the number of `what`.
std::uint32_t index_below(const JsonCursor& place, std::size_t count, std::string_view what) {
  const std::uint64_t index = place.unsigned_integer();
  if (index < count) return static_cast<std::uint32_t>(index);
  place.refuse(fmt::format("{} is out of range: the plan has {} {}", index, count, what));
}

PlanSchedule parse_schedule(const JsonCursor& schedule, const Plan& plan) {
  schedule.expect_object({"period_s", "throughput_Bps", "slices", "sends"});
  PlanSchedule parsed;
  parsed.period.value = schedule.at("period_s").number();
  parsed.throughput.value = schedule.at("throughput_Bps").number();
  for (const JsonCursor& count : schedule.at("slices").elements()) {
    parsed.segments.push_back(count.unsigned_integer());
  }
  for (const JsonCursor& send : schedule.at("sends").elements()) {
    const std::vector<JsonCursor> parts = send.elements();
    if (parts.size() != 6) send.refuse("expected [tree, parent, child, start, seconds, bytes]");
    parsed.sends.push_back({index_below(parts[0], plan.broadcast_trees.size(), "trees"),
                            index_below(parts[1], plan.nodes.size(), "nodes"),
                            index_below(parts[2], plan.nodes.size(), "nodes"),
                            {parts[3].number()},
                            {parts[4].number()},
                            parts[5].number()});
  }
  return parsed;
}

Operation parse_operation(const JsonCursor& operation) {
  for (const Operation known : kOperations) {
    if (operation.string() == name_of(known)) return known;
  }
  operation.refuse(fmt::format("expected \"broadcast\", \"reduce\" or \"allreduce\", got \"{}\"",
                               operation.string()));
}

std::vector<PlanTree> parse_trees(const JsonCursor& root, const char* key, bool wanted,
                                  std::size_t nodes, Direction direction) {
  std::vector<PlanTree> parsed;
  if (!wanted && !root.has(key)) return parsed;
  for (const JsonCursor& tree : root.at(key).elements()) {
    parsed.push_back(parse_tree(tree, nodes, direction));
  }
  return parsed;
}

// Checks format and version before all other keys, so that a file of another kind gives that error,
// not one about an unknown key.
void check_kind(const JsonCursor& root) {
  if (!root.value().is_object()) root.refuse("expected an object: a plan");
  const JsonCursor format = root.at("format");
  if (format.string() != kFormat) {
    format.refuse(fmt::format("expected \"{}\", got \"{}\"", kFormat, format.string()));
  }
  const JsonCursor version = root.at("version");
  if (version.unsigned_integer() != kVersion) {
    version.refuse(
        fmt::format("this program reads version {}, not {}", kVersion, version.unsigned_integer()));
  }
}

}  // namespace

std::string to_json(const Plan& plan) {
  const std::string optimum =
      plan.optimum ? number(plan.optimum->value, "optimum_Bps") : std::string("null");
  std::string text =
      fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n", kFormat, kVersion);
  const std::array<std::pair<std::string_view, std::string>, 9> members = {{
      {"operation", quoted(std::string(name_of(plan.operation)))},
      {"platform", quoted(plan.platform)},
      {"source", quoted(plan.source)},
      {"model", quoted(plan.model)},
      {"algorithm", quoted(plan.algorithm)},
      {"nodes", quoted_list(plan.nodes)},
      {"slice_bytes", fmt::format("{}", plan.segment.value)},
      {"throughput_Bps", number(plan.throughput.value, "throughput_Bps")},
      {"optimum_Bps", optimum},
  }};
  for (const auto& [key, value] : members) text += fmt::format("  \"{}\": {},\n", key, value);
  if (plan.latency_occupies) text += "  \"latency_occupies\": true,\n";
  std::string trees;
  if (reduces(plan.operation)) {
    trees = "  \"reduce_trees\": " + trees_json(plan.reduce_trees, Direction::kUp);
  }
  if (broadcasts(plan.operation)) {
    trees += (trees.empty() ? "" : ",\n") + std::string("  \"broadcast_trees\": ") +
             trees_json(plan.broadcast_trees, Direction::kDown);
  }
  text += trees;
  if (plan.schedule) text += ",\n  \"schedule\": " + schedule_json(*plan.schedule);
  return text + "\n}\n";
}

Plan parse_plan(const std::string& text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  check_kind(root);
  root.expect_object({"format", "version", "operation", "platform", "source", "model", "algorithm",
                      "nodes", "slice_bytes", "throughput_Bps", "optimum_Bps", "latency_occupies",
                      "reduce_trees", "broadcast_trees", "schedule"});
  Plan plan;
  plan.operation = parse_operation(root.at("operation"));
  plan.platform = root.at("platform").string();
  plan.source = root.at("source").string();
  plan.model = root.at("model").string();
  plan.algorithm = root.at("algorithm").string();
  plan.nodes = parse_names(root.at("nodes"));
  plan.segment.value = root.at("slice_bytes").unsigned_integer();
  plan.throughput.value = root.at("throughput_Bps").number();
  if (const JsonCursor optimum = root.at("optimum_Bps"); !optimum.value().is_null()) {
    plan.optimum = BytesPerSecond{optimum.number()};
  }
  if (root.has("latency_occupies")) plan.latency_occupies = root.at("latency_occupies").boolean();
  plan.reduce_trees =
      parse_trees(root, "reduce_trees", reduces(plan.operation), plan.nodes.size(), Direction::kUp);
  plan.broadcast_trees = parse_trees(root, "broadcast_trees", broadcasts(plan.operation),
                                     plan.nodes.size(), Direction::kDown);
  if (root.has("schedule")) plan.schedule = parse_schedule(root.at("schedule"), plan);
  return plan;
}

Plan read_plan(const std::string& file) {
  Plan plan = parse_plan(read_text(file), display_name(file));
  check_structure(plan, display_name(file));
  return plan;
}

}  // namespace espalier::planner
