// Facts of a network, and of plans on it, for the page.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_set>

#include "render/lines.hpp"
#include "render/page/page.hpp"
#include "render/pictures.hpp"

namespace espalier::render {

namespace {

using platforms::ArcId;
using platforms::NodeId;
using platforms::Platform;

// Five digits are more than a page shows, and a third of the text.
double rounded(double value) {
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

Json rate_or_null(const std::optional<BytesPerSecond>& rate) {
  return rate ? Json(rounded(rate->value)) : Json();
}

// Values that many nodes or links share, each once, so that these name them by number.
class SharedValues {
 public:
  std::size_t number_of(const Json& value) {
    const auto [at, is_new] = numbers_.emplace(value.dump(), values_.size());
    if (is_new) values_.push_back(value);
    return at->second;
  }
  [[nodiscard]] const Json& values() const { return values_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json values_ = Json::array();
};

Json node_facts(const Platform& platform, SharedValues& families, SharedValues& groups) {
  const std::vector<platforms::Position> places = node_places(platform_picture(platform));
  Json nodes = Json::array();
  for (std::size_t i = 0; i < platform.nodes().size(); ++i) {
    const platforms::Node& node = platform.nodes()[i];
    Json one{{"name", node.name}, {"x", rounded(places[i].x)}, {"y", rounded(places[i].y)}};
    if (node.relay) one["relay"] = true;
    if (const std::string_view family = family_of(node); !family.empty()) {
      one["family"] = families.number_of(family);
    }
    if (!node.group.empty()) one["group"] = groups.number_of(node.group);
    if (node.send) one["send_Bps"] = rate_or_null(node.send);
    if (node.receive) one["receive_Bps"] = rate_or_null(node.receive);
    if (node.price_per_hour > 0) one["price_per_hour"] = node.price_per_hour;
    nodes.push_back(std::move(one));
  }
  return nodes;
}

// [from, to, kind]; a kind is [bytes/s, latency in s, price per GB], of which what is 0 at the end
// is left out.
Json link_facts(const platforms::Arc& arc, SharedValues& kinds) {
  Json kind = Json::array({rounded(arc.bandwidth.value)});
  const bool has_price = arc.price_per_GB > 0;
  if (has_price || arc.latency.value > 0) kind.push_back(rounded(arc.latency.value));
  if (has_price) kind.push_back(arc.price_per_GB);
  return {platforms::index_of(arc.from), platforms::index_of(arc.to), kinds.number_of(kind)};
}

// Arcs without repetition, in the order of their first mention.
class ArcList {
 public:
  void add(const std::optional<ArcId>& arc) {
    if (arc && seen_.insert(platforms::index_of(*arc)).second) arcs_.push_back(*arc);
  }
  [[nodiscard]] const std::vector<ArcId>& arcs() const { return arcs_; }

 private:
  std::vector<ArcId> arcs_;
  std::unordered_set<std::size_t> seen_;
};

void add_strongest(const Platform& platform, const std::vector<Line>& lines, std::size_t most,
                   ArcList& list) {
  for (const Line& line : strongest(platform, lines, most).lines) {
    list.add(line.there);
    list.add(line.back);
  }
}

// Of each edge the nodes that the data pass, from one host to the next.
Json paths_of(const planner::PlanTree& tree, bool up, const Platform& platform,
              std::vector<ArcId>& links) {
  Json paths = Json::array();
  for (const auto* list : {&tree.edges, &tree.exchange}) {
    for (const planner::PlanEdge& edge : *list) {
      Json path = Json::array();
      for (const std::uint32_t arc : planner::arcs_along(platform, tree, edge, up)) {
        const platforms::Arc& link = platform.arc(ArcId{arc});
        if (path.empty()) path.push_back(platforms::index_of(link.from));
        path.push_back(platforms::index_of(link.to));
        links.push_back(ArcId{arc});
      }
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

}  // namespace

Json network_facts(const Platform& platform, std::span<const ArcId> wanted) {
  SharedValues families;
  SharedValues groups;
  SharedValues kinds;
  Json network{{"name", platform.name()},
               {"currency", platform.currency()},
               {"nodes", node_facts(platform, families, groups)},
               {"links_in_all", platform.arcs().size()}};
  const std::vector<Line> lines = lines_of(platform);
  ArcList list;
  // As many as the picture has: the page draws these where no node or tree is chosen.
  add_strongest(platform, lines, std::max<std::size_t>(200, 2 * platform.nodes().size()), list);
  network["drawn"] = list.arcs().size();
  for (const ArcId arc : wanted) list.add(arc);
  if (list.arcs().size() < kMostPageLinks) {
    add_strongest(platform, lines, (kMostPageLinks - list.arcs().size()) / 2, list);
  }
  Json links = Json::array();
  for (const ArcId arc : list.arcs()) links.push_back(link_facts(platform.arc(arc), kinds));
  network["links"] = std::move(links);
  network["families"] = families.values();
  network["groups"] = groups.values();
  network["kinds"] = kinds.values();
  Json shared = Json::array();
  for (const platforms::SharedLink& one : platform.shared_links()) {
    shared.push_back({{"name", one.name}, {"Bps", rounded(one.bandwidth.value)}});
  }
  network["shared"] = std::move(shared);
  return network;
}

Json resource_facts(std::span<const planner::ResourceLoad> loads, std::span<const double> prices,
                    const Platform& platform) {
  using Kind = platforms::Resource::Kind;
  constexpr double kLeast = 1e-4;  // of the time, or of the bound
  Json facts = Json::array();
  for (std::size_t row = 0; row < loads.size(); ++row) {
    const auto& [resource, load] = loads[row];
    const double price = row < prices.size() ? prices[row] : 0;
    if (load < kLeast && price < kLeast) continue;
    Json at = resource.index;
    if (resource.kind == Kind::kLink) {
      const platforms::Arc& arc = platform.arc(ArcId{resource.index});
      at = Json{platforms::index_of(arc.from), platforms::index_of(arc.to)};
    }
    facts.push_back(
        Json{static_cast<int>(resource.kind), std::move(at), rounded(load), rounded(price)});
  }
  return facts;
}

Json tree_facts(const planner::Plan& plan, const Platform& platform, PageContents& contents) {
  struct One {
    const planner::PlanTrees* block;
    const planner::PlanTree* tree;
    std::size_t index;   // in its block, as reports count
    std::size_t number;  // as traces count
  };
  std::vector<One> all;
  const std::vector<planner::PlanTrees> blocks = planner::blocks_of(plan);
  for (const planner::PlanTrees& block : blocks) {
    for (std::size_t i = 0; i < block.trees->size(); ++i) {
      all.push_back({&block, &(*block.trees)[i], i, plan.has_one_root() ? i : all.size()});
    }
  }
  std::ranges::stable_sort(all, std::greater<>(),
                           [](const One& one) { return one.tree->rate.value; });
  Json trees = Json::array();
  for (const auto& [block, tree, index, number] : all) {
    contents.hops += tree->edges.size() + tree->exchange.size();
    if (contents.hops > kMostPageHops) break;
    Json one{{"index", index}, {"number", number}, {"Bps", rounded(tree->rate.value)}};
    if (block->up) one["up"] = true;
    if (!plan.has_one_root()) one["root"] = plan.nodes[block->root];
    one["paths"] = paths_of(*tree, block->up, platform, contents.links);
    trees.push_back(std::move(one));
  }
  return trees;
}

}  // namespace espalier::render
