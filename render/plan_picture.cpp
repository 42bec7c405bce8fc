// The trees of a plan on the platform as a DOT graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "render/charts/colours.hpp"
#include "render/dot_text.hpp"
#include "render/legend.hpp"
#include "render/lines.hpp"
#include "render/pictures.hpp"
#include "render/sketch.hpp"
#include "support/quantities.hpp"
#include "support/text.hpp"

namespace espalier::render {

namespace {

using planner::Plan;
using planner::PlanTree;
using platforms::Node;
using platforms::Platform;
using platforms::Resource;

constexpr std::string_view kBusy = "#c00000";
constexpr std::string_view kGrey = "#b4b4b4";

class PlanPicture {
 public:
  PlanPicture(const Plan& plan, const Platform& platform,
              std::span<const planner::ResourceLoad> loads)
      : plan_(plan), platform_(platform), nodes_(platform), map_(platform) {
    for (const planner::PlanTrees& kind : planner::trees_by_kind(plan)) {
      for (const PlanTree& tree : *kind.trees)
        order_.push_back({&tree, kind.up, kind.root, kind.to});
    }
    std::ranges::stable_sort(order_, std::greater<>(),
                             [](const Drawn& drawn) { return drawn.tree->rate; });
    // More coloured edges than this cannot be distinguished.
    constexpr std::size_t kMostEdges = 220;
    const std::size_t edges = std::max<std::size_t>(1, plan.nodes.size() - 1);
    coloured_ = std::min(
        {order_.size(), kSeriesColours.size(), std::max<std::size_t>(1, kMostEdges / edges)});
    find_bottleneck(loads);
    follow_trees();
  }

  std::string text() {
    DotText dot(platform_.name());
    dot.defaults("graph", graph_attributes());
    dot.defaults("node", node_defaults(platform_.nodes().size()));
    dot.defaults(
        "edge", {{"arrowsize", is_vast() ? "0.2" : "0.5"}, {"fontname", kFont}, {"fontsize", "8"}});
    for (const Node& node : platform_.nodes()) write(node, dot);
    write_grey(dot);
    for (std::size_t i = 0; i < coloured_; ++i) write_tree(i, dot);
    return std::move(dot).finish();
  }

 private:
  using Arcs = std::map<std::uint32_t, std::size_t>;  // by arc: how often the tree crosses it
  struct Drawn {
    const PlanTree* tree;
    bool up;  // data flows towards the root
    std::uint32_t root;
    std::optional<std::uint32_t> to;  // it is a path
  };

  void find_bottleneck(std::span<const planner::ResourceLoad> loads) {
    for (const planner::ResourceLoad& load : loads) busiest_ = std::max(busiest_, load.load);
    Listing busiest(2);
    for (const planner::ResourceLoad& load : loads) {
      if (load.load < busiest_ * (1 - 1e-6)) continue;
      busiest.add([&] { return platforms::describe(load.resource, platform_); });
      switch (load.resource.kind) {
        case Resource::Kind::kOutPort:
        case Resource::Kind::kInPort:
        case Resource::Kind::kPort:
          busy_nodes_.insert(load.resource.index);
          break;
        case Resource::Kind::kLink:
          busy_arcs_.insert(load.resource.index);
          break;
        case Resource::Kind::kSharedLink:
          for (const platforms::ArcId arc : platform_.shared_links()[load.resource.index].arcs) {
            busy_arcs_.insert(static_cast<std::uint32_t>(arc));
          }
          break;
        case Resource::Kind::kMoney:  // of no place in the picture
          break;
      }
    }
    bottleneck_ = busiest.text();
  }

  void follow_trees() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto& [tree, up, root, to] = order_[i];
      Arcs arcs;
      for (const planner::PlanEdge& edge : tree->edges) {
        for (const std::uint32_t arc : planner::arcs_along(platform_, *tree, edge, up)) ++arcs[arc];
      }
      if (i < coloured_) {
        trees_.push_back(std::move(arcs));
        continue;
      }
      grey_rates_[up ? 0 : 1] += tree->rate.value;
      for (const auto& [arc, count] : arcs) grey_[arc] += tree->rate.value;
    }
  }

  DotAttributes graph_attributes() {
    DotAttributes attributes = common_graph_attributes();
    if (map_.used()) {
      std::ranges::move(map_.graph_attributes(), std::back_inserter(attributes));
    } else if (layered()) {
      attributes.push_back({"layout", "dot"});
      if (!order_.empty() && order_.front().up) attributes.push_back({"rankdir", "BT"});
      attributes.push_back({"nodesep", "0.15"});
    } else {
      // The first tree around its source; edges of weight 0 do not influence the layout.
      attributes.push_back({"layout", "twopi"});
      attributes.push_back({"root", plan_.nodes[order_.empty() ? 0 : order_.front().root]});
      attributes.push_back({"overlap", is_vast() ? "true" : "prism"});
      attributes.push_back({"splines", "line"});
      attributes.push_back({"ranksep", is_vast() ? "0.8" : "0.7"});
    }
    attributes.push_back({"label", legend(), true});
    return attributes;
  }

  // Whether there are few enough edges for a layout in layers below the source.
  [[nodiscard]] bool layered() const {
    constexpr std::size_t kMostEdges = 160;
    return !map_.used() && plan_.nodes.size() * order_.size() <= kMostEdges;
  }

  // So many nodes that they are points, on circles around the source.
  [[nodiscard]] bool is_vast() const { return platform_.nodes().size() > kMostApart; }

  void write(const Node& node, DotText& dot) const {
    DotAttributes looks = nodes_.looks(node);
    const bool is_busy = busy_nodes_.contains(index_of(*platform_.find_node(node.name)));
    if (is_vast() && !is_busy && node.name != source()) {
      looks.push_back({"label", ""});
      looks.push_back({"shape", "circle"});
    }
    if (is_busy) {
      looks.push_back({"color", std::string(kBusy)});
      looks.push_back({"penwidth", "2.2"});
    }
    if (map_.used()) std::ranges::move(map_.place_of(node), std::back_inserter(looks));
    if (node.name == source()) looks.push_back({"peripheries", "2"});
    if (helps(node.name)) looks.push_back({"style", "rounded,filled,dashed"});
    dot.node(node.name, looks);
  }

  [[nodiscard]] double width_of(double rate) const {
    const double most = order_.empty() ? 1 : order_.front().tree->rate.value;
    const double thinnest = is_vast() ? 0.2 : 0.8;
    const double thickest = is_vast() ? 0.5 : plan_.nodes.size() > 220 ? 1.8 : 3.8;
    return thinnest + (thickest - thinnest) * std::min(1.0, rate / most);
  }

  void write_edge(std::uint32_t arc, DotAttributes looks, DotText& dot) const {
    const platforms::Arc& ends = platform_.arcs()[arc];
    if (busy_arcs_.contains(arc)) {
      looks.push_back({"label", "busiest"});
      looks.push_back({"fontcolor", std::string(kBusy)});
    }
    dot.edge(platform_.node(ends.from).name, platform_.node(ends.to).name, looks);
  }

  void write_tree(std::size_t i, DotText& dot) const {
    const double rate = order_[i].tree->rate.value;
    for (const auto& [arc, count] : trees_[i]) {
      // The first tree determines the layout; the others are thin and translucent, so as not to
      // hide it.
      const bool behind = i > 0 && !layered();
      DotAttributes looks{{"color", std::string(kSeriesColours[i]) + (behind ? "a0" : "")},
                          {"penwidth", fmt::format("{:.2f}", (behind ? 0.6 : 1) * width_of(rate))}};
      if (count > 1) looks.push_back({"label", fmt::format("{} times", count)});
      if (i > 0) demote(looks);
      write_edge(arc, looks, dot);
    }
  }

  [[nodiscard]] bool has_paths() const { return planner::routes(plan_.operation); }

  // Makes an edge without influence on the layout, unless each path is to have some.
  void demote(DotAttributes& looks) const {
    if (map_.used() || (has_paths() && layered())) return;
    looks.push_back(layered() ? DotAttribute{"constraint", "false"} : DotAttribute{"weight", "0"});
  }

  // The greatest number of grey links that are drawn.
  [[nodiscard]] std::size_t most_grey() const {
    constexpr std::size_t kInVast = 2000;  // more would cover the coloured trees
    return is_vast() ? kInVast : std::max<std::size_t>(400, 2 * platform_.nodes().size());
  }

  void write_grey(DotText& dot) const {
    std::vector<std::pair<double, std::uint32_t>> strongest;
    for (const auto& [arc, rate] : grey_) strongest.emplace_back(rate, arc);
    std::ranges::stable_sort(strongest, std::greater<>(),
                             [](const auto& one) { return one.first; });
    strongest.resize(std::min(most_grey(), strongest.size()));
    for (const auto& [rate, arc] : strongest) {
      DotAttributes looks{{"color", std::string(kGrey) + "70"},
                          {"penwidth", fmt::format("{:.2f}", 0.6 * width_of(rate))}};
      demote(looks);
      write_edge(arc, looks, dot);
    }
  }

  // The only root of all trees; empty: there are several.
  [[nodiscard]] std::string source() const {
    if (!plan_.source.empty()) return plan_.source;
    const std::uint32_t root = plan_.blocks.front().root;
    const bool is_only = std::ranges::all_of(
        plan_.blocks, [&](const planner::PlanBlock& block) { return block.root == root; });
    return is_only ? plan_.nodes[root] : "";
  }

  [[nodiscard]] std::string what_it_does() const {
    switch (plan_.operation) {
      case planner::Operation::kReduce:
        return "reduced to " + plan_.source;
      case planner::Operation::kAllreduce:
        return "reduced to and broadcast from " + (source().empty() ? "several roots" : source());
      case planner::Operation::kAllgather:
        return "allgather" + (source().empty() ? "" : ", the part of " + source());
      case planner::Operation::kReduceScatter:
        return "reduce-scatter" + (source().empty() ? "" : ", the part of " + source());
      case planner::Operation::kScatter:
        return "scattered from " + plan_.source;
      case planner::Operation::kGather:
        return "gathered to " + plan_.source;
      case planner::Operation::kAlltoall:
        return "alltoall" + (source().empty() ? "" : " (what " + source() + " sends)");
      case planner::Operation::kBarrier:
        return "barrier via " + plan_.source;
      case planner::Operation::kBroadcast:
        break;
    }
    if (plan_.has_helpers()) {
      return fmt::format("from {} to {}", plan_.source,
                         counted(plan_.blocks.front().members.size(), "host"));
    }
    return "from " + plan_.source;
  }
  // Whether the node is a host that only copies the message on its way to others.
  [[nodiscard]] bool helps(const std::string& name) const {
    if (!plan_.has_helpers()) return false;
    const auto node = std::ranges::find(plan_.nodes, name);
    return node != plan_.nodes.end() &&
           plan_.helps(static_cast<std::uint32_t>(node - plan_.nodes.begin()));
  }
  [[nodiscard]] std::string tree_counts() const {
    if (planner::goes_both_ways(plan_.operation)) {
      return fmt::format("{} up, {} down", counted(planner::tree_count(plan_, true), "tree"),
                         planner::tree_count(plan_, false));
    }
    return counted(order_.size(), has_paths() ? "path" : "tree");
  }
  // The direction of the data, if both are drawn.
  [[nodiscard]] std::string_view direction_of(bool up) const {
    if (!planner::goes_both_ways(plan_.operation)) return "";
    return up ? " up" : " down";
  }
  // The direction, or the tree's root among several, or a path's other end.
  [[nodiscard]] std::string role_of(const Drawn& drawn) const {
    if (drawn.to) {
      return fmt::format(" {} to {}", plan_.nodes[drawn.root], plan_.nodes[*drawn.to]);
    }
    if (plan_.blocks.size() < 2) return std::string(direction_of(drawn.up));
    return (drawn.up ? " to " : " from ") + plan_.nodes[drawn.root];
  }

  std::string legend() const {
    Legend legend(platform_.name());
    legend.add_line(fmt::format("{} by {} under {}: {}, {}", what_it_does(), plan_.algorithm,
                                plan_.model, tree_counts(), short_rate(plan_.throughput)));
    for (std::size_t i = 0; i < coloured_; ++i) {
      const BytesPerSecond rate = order_[i].tree->rate;
      legend.add_bar(kSeriesColours[i], width_of(rate.value),
                     fmt::format("{}{}", short_rate(rate), role_of(order_[i])));
    }
    for (const bool up : {true, false}) {
      const auto grey = static_cast<std::size_t>(
          std::count_if(order_.begin() + static_cast<std::ptrdiff_t>(coloured_), order_.end(),
                        [&](const Drawn& drawn) { return drawn.up == up; }));
      if (grey == 0) continue;
      legend.add_bar("#aaaaaa", 2,
                     fmt::format("{} more, {}{}", grey, short_rate({grey_rates_[up ? 0 : 1]}),
                                 direction_of(up)));
    }
    if (grey_.size() > most_grey()) {
      legend.add_line(fmt::format("grey: the {} busiest of {} links", most_grey(), grey_.size()));
    }
    nodes_.add_to(legend);
    if (plan_.has_helpers()) legend.add_line("dashed border: helps, without need of the message");
    if (!bottleneck_.empty()) {
      legend.add_line(fmt::format("{}red, the busiest ({:.4g} %): {}",
                                  source().empty() ? "" : "double border: the source; ",
                                  100 * busiest_, bottleneck_));
    }
    return std::move(legend).html();
  }

  const Plan& plan_;
  const Platform& platform_;
  NodeLooks nodes_;
  Map map_;
  std::vector<Drawn> order_;              // the greatest rate first
  std::size_t coloured_ = 0;              // the first trees of order_, drawn in colour
  std::vector<Arcs> trees_;               // the coloured trees
  std::map<std::uint32_t, double> grey_;  // sum of the grey trees' rates, by arc
  std::array<double, 2> grey_rates_{};    // sum of the grey trees' rates: up, down
  double busiest_ = 0;                    // the greatest load
  std::string bottleneck_;                // names of the resources with that load
  std::set<std::size_t> busy_nodes_;
  std::set<std::uint32_t> busy_arcs_;
};

}  // namespace

std::string plan_picture(const Plan& plan, const Platform& platform,
                         std::span<const planner::ResourceLoad> loads) {
  require_drawable(platform, kMostNodes);
  return PlanPicture(plan, platform, loads).text();
}

}  // namespace espalier::render
