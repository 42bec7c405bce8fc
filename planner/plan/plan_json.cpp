// The plan file, docs/formats.md, "Plan".
#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "planner/plan/block_check.hpp"
#include "planner/plan/plan.hpp"
#include "planner/plan/tree_json.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace espalier::planner {
namespace {

using namespace plan_file;

constexpr std::string_view kFormat = "espalier-plan";
constexpr std::uint64_t kTrees = 1;   // version: trees from or to one root
constexpr std::uint64_t kBlocks = 2;  // version: blocks of any roots

// --- writing ---

std::string schedule_json(const Plan& plan) {
  const PlanSchedule& schedule = *plan.schedule;
  const std::vector<DirectedTree> trees = trees_in_order(plan);
  std::string sends;
  for (const ScheduledSend& send : schedule.sends) {
    sends += fmt::format("{}      [{}, {}, {}, {}, {}, {}]", sends.empty() ? "\n" : ",\n",
                         send.tree, trees[send.tree].sender({send.parent, send.child}),
                         trees[send.tree].receiver({send.parent, send.child}),
                         number(send.start.value, "start"), number(send.time.value, "time"),
                         number(send.bytes, "bytes"));
  }
  return fmt::format(
      "{{\n    \"period_s\": {},\n    \"throughput_Bps\": {},\n    \"slices\": [{}],\n"
      "    \"sends\": [{}\n    ]\n  }}",
      number(schedule.period.value, "period_s"),
      number(schedule.throughput.value, "throughput_Bps"), fmt::join(schedule.segments, ", "),
      sends);
}

// --- reading ---

PlanSchedule parse_schedule(const JsonCursor& schedule, const Plan& plan) {
  schedule.expect_object({"period_s", "throughput_Bps", "slices", "sends"});
  PlanSchedule parsed;
  parsed.period.value = schedule.at("period_s").number();
  parsed.throughput.value = schedule.at("throughput_Bps").number();
  for (const JsonCursor& count : schedule.at("slices").elements()) {
    parsed.segments.push_back(count.unsigned_integer());
  }
  const std::vector<DirectedTree> trees = trees_in_order(plan);
  for (const JsonCursor& send : schedule.at("sends").elements()) {
    const std::vector<JsonCursor> parts = send.elements();
    if (parts.size() != 6) send.refuse("expected [tree, sender, receiver, start, seconds, bytes]");
    const std::uint32_t tree = index_below(parts[0], trees.size(), "trees");
    const std::uint32_t sender = index_below(parts[1], plan.nodes.size(), "nodes");
    const std::uint32_t receiver = index_below(parts[2], plan.nodes.size(), "nodes");
    parsed.sends.push_back({tree,
                            trees[tree].up ? receiver : sender,
                            trees[tree].up ? sender : receiver,
                            {parts[3].number()},
                            {parts[4].number()},
                            parts[5].number()});
  }
  return parsed;
}

// The version. Checks it and the format before all other keys, so that a file of another kind gives
// that error, not one about an unknown key.
std::uint64_t check_kind(const JsonCursor& root) {
  if (!root.value().is_object()) root.refuse("expected an object: a plan");
  const JsonCursor format = root.at("format");
  if (format.string() != kFormat) {
    format.refuse(fmt::format("expected \"{}\", got \"{}\"", kFormat, format.string()));
  }
  const JsonCursor version = root.at("version");
  if (version.unsigned_integer() != kTrees && version.unsigned_integer() != kBlocks) {
    version.refuse(fmt::format("this program reads versions {} and {}, not {}", kTrees, kBlocks,
                               version.unsigned_integer()));
  }
  return version.unsigned_integer();
}

std::string blocks_json(const std::vector<PlanBlock>& blocks) {
  std::string text;
  for (const PlanBlock& block : blocks) {
    const std::string after = block.after ? fmt::format("{}", *block.after) : "null";
    std::vector<std::uint32_t> named = block.members;
    if (block.to) named.push_back(*block.to);
    const std::string members =
        named.empty() ? "" : fmt::format(" \"members\": [{}],", fmt::join(named, ", "));
    text += fmt::format(
        "{}    {{\"kind\": \"{}\", \"root\": {},{} \"share\": {}, \"after\": {}, \"trees\": {}}}",
        text.empty() ? "\n" : ",\n", name_of(block.kind), block.root, members,
        number(block.share, "share"), after,
        trees_json(block.trees,
                   block.kind == BlockKind::kCombine ? Direction::kUp : Direction::kDown));
  }
  return "[" + text + "\n  ]";
}

// Whose trees may be listed without blocks.
constexpr std::array kOfOneRoot{Operation::kBroadcast, Operation::kReduce, Operation::kAllreduce,
                                Operation::kBarrier};

std::string trees_of_one_root(const Plan& plan) {
  std::string trees;
  if (reduces(plan.operation)) {
    trees = "  \"reduce_trees\": " + trees_json(plan.reduce_trees, Direction::kUp);
  }
  if (broadcasts(plan.operation)) {
    trees += (trees.empty() ? "" : ",\n") + std::string("  \"broadcast_trees\": ") +
             trees_json(plan.broadcast_trees, Direction::kDown);
  }
  return trees;
}

BlockKind parse_block_kind(const JsonCursor& kind) {
  for (const BlockKind known : kBlockKinds) {
    if (kind.string() == name_of(known)) return known;
  }
  kind.refuse(
      fmt::format("expected \"spread\", \"combine\" or \"route\", got \"{}\"", kind.string()));
}

// Ascending; empty: all nodes but the root.
std::vector<std::uint32_t> parse_members(const JsonCursor& members, std::uint32_t root,
                                         std::size_t nodes) {
  std::set<std::uint32_t> named;
  for (const JsonCursor& member : members.elements()) {
    const std::uint32_t node = index_below(member, nodes, "nodes");
    if (node == root || !named.insert(node).second) {
      member.refuse("a member is named once, and is not the root");
    }
  }
  if (named.empty()) members.refuse("expected at least one node");
  if (named.size() + 1 == nodes) return {};
  return {named.begin(), named.end()};
}

std::uint32_t parse_only_member(const JsonCursor& members, std::size_t nodes) {
  const std::vector<JsonCursor> named = members.elements();
  if (named.size() != 1) members.refuse("expected one node: a block that routes has one receiver");
  return index_below(named.front(), nodes, "nodes");
}

PlanBlock parse_block(const JsonCursor& block, const Plan& plan, std::size_t blocks) {
  block.expect_object({"kind", "root", "members", "share", "after", "trees"});
  PlanBlock parsed;
  parsed.kind = parse_block_kind(block.at("kind"));
  parsed.root = index_below(block.at("root"), plan.nodes.size(), "nodes");
  if (parsed.kind == BlockKind::kRoute) {
    parsed.to = parse_only_member(block.at("members"), plan.nodes.size());
  } else if (block.has("members")) {
    parsed.members = parse_members(block.at("members"), parsed.root, plan.nodes.size());
  }
  parsed.share = block.at("share").number();
  if (block.has("after") && !block.at("after").value().is_null()) {
    parsed.after = index_below(block.at("after"), blocks, "blocks");
  }
  parsed.trees =
      parse_trees(block.at("trees"), plan.nodes.size(),
                  parsed.kind == BlockKind::kCombine ? Direction::kUp : Direction::kDown);
  return parsed;
}

[[noreturn]] void refuse_roots(const JsonCursor& place, const std::string& what) {
  place.refuse(fmt::format(
      "this command does not take plans for {} yet; verify, show and espalier-mpi do", what));
}

// An operation with one root, whose trees version 1 writes without blocks. An allreduce may have
// several.
void take_blocks_if_one_root(const JsonCursor& list, Plan& plan) {
  const bool up = reduces(plan.operation);
  const bool down = broadcasts(plan.operation);
  const std::size_t wanted = up && down ? 2 : 1;
  bool fits = plan.blocks.size() == wanted;
  for (std::size_t i = 0; fits && i < wanted; ++i) {
    const PlanBlock& block = plan.blocks[i];
    const bool combines = up && i == 0;
    fits = block.kind == (combines ? BlockKind::kCombine : BlockKind::kSpread) &&
           block.share == 1 && block.members.empty() && block.root == plan.blocks.front().root &&
           block.after == (i == 0 ? std::nullopt : std::optional<std::uint32_t>(0));
  }
  if (!fits && up && down) return;
  if (!fits) {
    list.refuse(fmt::format("expected {} of share 1",
                            !down ? "one block that combines" : "one block that spreads"));
  }
  take_blocks_of_one_root(plan);
}

void parse_blocks(const JsonCursor& root, Plan& plan) {
  plan.segment.value = root.at("segment_bytes").unsigned_integer();
  const JsonCursor list = root.at("blocks");
  const std::vector<JsonCursor> blocks = list.elements();
  for (const JsonCursor& block : blocks) {
    plan.blocks.push_back(parse_block(block, plan, blocks.size()));
  }
  if (plan.has_helpers() && plan.operation == Operation::kBroadcast) {
    plan.source = plan.nodes[plan.blocks.front().root];
  } else if (!has_parts(plan.operation)) {
    take_blocks_if_one_root(list, plan);
  }
  if (routes(plan.operation)) plan.source = root_of_routes(plan);
}

void parse_trees_of_one_root(const JsonCursor& root, Plan& plan) {
  plan.source = root.at("source").string();
  plan.segment.value = root.at("slice_bytes").unsigned_integer();
  const auto trees = [&](const char* key, bool wanted, Direction direction) {
    if (!wanted && !root.has(key)) return std::vector<PlanTree>{};
    return parse_trees(root.at(key), plan.nodes.size(), direction);
  };
  plan.reduce_trees = trees("reduce_trees", reduces(plan.operation), Direction::kUp);
  plan.broadcast_trees = trees("broadcast_trees", broadcasts(plan.operation), Direction::kDown);
  if (root.has("schedule")) plan.schedule = parse_schedule(root.at("schedule"), plan);
}

std::optional<PlanCost> parse_cost(const JsonCursor& root) {
  if (!root.has("cost_per_GB")) {
    for (const char* key : {"cost_per_hour", "budget_per_GB", "currency"}) {
      if (root.has(key)) root.at(key).refuse("needs 'cost_per_GB'");
    }
    return std::nullopt;
  }
  const auto price = [&](const char* key) {
    const JsonCursor place = root.at(key);
    const double value = place.number();
    if (value < 0) place.refuse("a price must not be negative");
    return value;
  };
  PlanCost cost{price("cost_per_GB")};
  if (root.has("cost_per_hour")) cost.per_hour = price("cost_per_hour");
  if (root.has("budget_per_GB")) cost.budget_per_GB = price("budget_per_GB");
  if (root.has("currency")) cost.currency = root.at("currency").string();
  return cost;
}

Operation parse_operation(const JsonCursor& operation, std::span<const Operation> known) {
  std::string names;
  for (const Operation one : known) {
    if (operation.string() == name_of(one)) return one;
    const bool is_last = one == known.back();
    names += fmt::format("{}\"{}\"", names.empty() ? "" : is_last ? " or " : ", ", name_of(one));
  }
  operation.refuse(fmt::format("expected {}, got \"{}\"", names, operation.string()));
}

}  // namespace

std::string to_json(const Plan& plan) {
  const bool has_blocks = !plan.has_one_root();
  const std::string optimum =
      plan.optimum ? number(plan.optimum->value, "optimum_Bps") : std::string("null");
  std::string text = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n", kFormat,
                                 has_blocks ? kBlocks : kTrees);
  const auto add = [&text](std::string_view key, const std::string& value) {
    text += fmt::format("  \"{}\": {},\n", key, value);
  };
  add("operation", quoted(std::string(name_of(plan.operation))));
  add("platform", quoted(plan.platform));
  if (!has_blocks) add("source", quoted(plan.source));
  add("model", quoted(plan.model));
  add("algorithm", quoted(plan.algorithm));
  add("nodes", quoted_list(plan.nodes));
  add(has_blocks ? "segment_bytes" : "slice_bytes", fmt::format("{}", plan.segment.value));
  add("throughput_Bps", number(plan.throughput.value, "throughput_Bps"));
  add("optimum_Bps", optimum);
  if (plan.latency_occupies) add("latency_occupies", "true");
  if (plan.cost) {
    add("cost_per_GB", number(plan.cost->per_GB, "cost_per_GB"));
    if (plan.cost->per_hour > 0) add("cost_per_hour", number(plan.cost->per_hour, "cost_per_hour"));
    if (plan.cost->budget_per_GB) {
      add("budget_per_GB", number(*plan.cost->budget_per_GB, "budget_per_GB"));
    }
    if (!plan.cost->currency.empty()) add("currency", quoted(plan.cost->currency));
  }
  text += has_blocks ? "  \"blocks\": " + blocks_json(plan.blocks) : trees_of_one_root(plan);
  if (plan.schedule) text += ",\n  \"schedule\": " + schedule_json(plan);
  return text + "\n}\n";
}

Plan parse_plan(const std::string& text, const std::string& file, Roots roots) {
  const Json document = parse_json(text, file);
  const JsonCursor root(document, file);
  const bool has_blocks = check_kind(root) == kBlocks;
  if (has_blocks) {
    root.expect_object({"format", "version", "operation", "platform", "model", "algorithm", "nodes",
                        "segment_bytes", "throughput_Bps", "optimum_Bps", "latency_occupies",
                        "cost_per_GB", "cost_per_hour", "budget_per_GB", "currency", "blocks"});
  } else {
    root.expect_object({"format", "version", "operation", "platform", "source", "model",
                        "algorithm", "nodes", "slice_bytes", "throughput_Bps", "optimum_Bps",
                        "latency_occupies", "cost_per_GB", "cost_per_hour", "budget_per_GB",
                        "currency", "reduce_trees", "broadcast_trees", "schedule"});
  }
  Plan plan;
  plan.operation = has_blocks ? parse_operation(root.at("operation"), kEveryOperation)
                              : parse_operation(root.at("operation"), kOfOneRoot);
  if (roots == Roots::kOne && has_parts(plan.operation)) {
    refuse_roots(root.at("operation"), with_article(plan.operation));
  }
  plan.platform = root.at("platform").string();
  plan.model = root.at("model").string();
  plan.algorithm = root.at("algorithm").string();
  plan.nodes = parse_names(root.at("nodes"));
  plan.throughput.value = root.at("throughput_Bps").number();
  if (const JsonCursor optimum = root.at("optimum_Bps"); !optimum.value().is_null()) {
    plan.optimum = BytesPerSecond{optimum.number()};
  }
  if (root.has("latency_occupies")) plan.latency_occupies = root.at("latency_occupies").boolean();
  plan.cost = parse_cost(root);
  if (has_blocks) {
    parse_blocks(root, plan);
    if (roots == Roots::kOne && !plan.has_one_root()) {
      refuse_roots(root.at("blocks"),
                   fmt::format("{} with {}", with_article(plan.operation),
                               plan.has_helpers() ? "helpers" : "several roots"));
    }
  } else {
    parse_trees_of_one_root(root, plan);
  }
  return plan;
}

Plan read_plan(const std::string& file, Roots roots) {
  Plan plan = parse_plan(read_text(file), display_name(file), roots);
  check_structure(plan, display_name(file));
  return plan;
}

}  // namespace espalier::planner
