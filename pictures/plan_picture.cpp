// The trees of a plan, over the platform, as a DOT graph.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "pictures/dot_text.hpp"
#include "pictures/legend.hpp"
#include "pictures/lines.hpp"
#include "pictures/pictures.hpp"
#include "pictures/sketch.hpp"
#include "support/drawing.hpp"

namespace espalier::pictures {

namespace {

using planner::Plan;
using planner::PlanTree;
using platforms::Node;
using platforms::NodeId;
using platforms::Platform;
using platforms::Resource;

constexpr std::string_view kFull = "#d55e00";

class PlanPicture {
 public:
  PlanPicture(const Plan& plan, const Platform& platform,
              std::span<const planner::ResourceLoad> loads)
      : plan_(plan), platform_(platform), nodes_(platform) {
    order_.resize(plan.broadcast_trees.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::greater<>(),
                             [&](std::size_t tree) { return plan.broadcast_trees[tree].rate; });
    coloured_ = std::min(order_.size(), kSeriesColours.size());
    find_bottleneck(loads);
    follow_trees();
  }

  std::string text() {
    DotText dot(platform_.name());
    dot.defaults("graph", graph_attributes());
    dot.defaults("node", node_defaults(platform_.nodes().size()));
    dot.defaults("edge", {{"arrowsize", "0.5"}, {"fontname", kFont}, {"fontsize", "8"}});
    for (const Node& node : platform_.nodes()) write(node, dot);
    write_grey(dot);
    for (std::size_t i = 0; i < coloured_; ++i) write_tree(i, dot);
    return std::move(dot).finish();
  }

 private:
  using Arcs = std::map<std::uint32_t, std::size_t>;  // how often each is crossed

  void find_bottleneck(std::span<const planner::ResourceLoad> loads) {
    for (const planner::ResourceLoad& load : loads) busiest_ = std::max(busiest_, load.load);
    for (const planner::ResourceLoad& load : loads) {
      if (load.load < busiest_ * (1 - 1e-6)) continue;
      switch (load.resource.kind) {
        case Resource::Kind::kOutPort:
        case Resource::Kind::kInPort:
        case Resource::Kind::kPort:
          full_nodes_.insert(load.resource.index);
          break;
        case Resource::Kind::kWire:
          full_arcs_.insert(load.resource.index);
          break;
        case Resource::Kind::kSharedWire:
          for (const platforms::ArcId arc : platform_.shared_wires()[load.resource.index].arcs) {
            full_arcs_.insert(static_cast<std::uint32_t>(arc));
          }
      }
    }
  }

  void follow_trees() {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const PlanTree& tree = plan_.broadcast_trees[order_[i]];
      Arcs arcs;
      for (const planner::PlanEdge& edge : tree.edges) {
        for (const std::uint32_t arc : planner::arcs_along(platform_, tree, edge)) ++arcs[arc];
      }
      if (i < coloured_) {
        trees_.push_back(std::move(arcs));
        continue;
      }
      grey_rate_ += tree.rate.value;
      for (const auto& [arc, count] : arcs) grey_[arc] += tree.rate.value;
    }
  }

  DotAttributes graph_attributes() {
    DotAttributes attributes = common_graph_attributes();
    attributes.push_back({"layout", getenv("LAY") ? getenv("LAY") : "dot"});
    attributes.push_back({"overlap", "prism"});
    attributes.push_back({"sep", "+5"});
    attributes.push_back({"splines", getenv("SPL") ? getenv("SPL") : "true"});
    attributes.push_back({"ranksep", "0.5"});
    attributes.push_back({"nodesep", "0.12"});
    attributes.push_back({"label", legend(), true});
    return attributes;
  }

  void write(const Node& node, DotText& dot) const {
    DotAttributes looks = nodes_.looks(node);
    if (full_nodes_.contains(index_of(*platform_.find_node(node.name)))) {
      looks.push_back({"color", std::string(kFull)});
      looks.push_back({"penwidth", "2.2"});
    }
    if (node.name == plan_.source) looks.push_back({"peripheries", "2"});
    dot.node(node.name, looks);
  }

  [[nodiscard]] double width_of(double rate) const {
    const double most = plan_.broadcast_trees[order_.front()].rate.value;
    return 0.8 + 3 * std::min(1.0, rate / most);
  }

  void write_edge(std::uint32_t arc, DotAttributes looks, DotText& dot) const {
    const platforms::Arc& ends = platform_.arcs()[arc];
    if (full_arcs_.contains(arc)) {
      looks.push_back({"label", "full"});
      looks.push_back({"fontcolor", std::string(kFull)});
    }
    dot.edge(platform_.node(ends.from).name, platform_.node(ends.to).name, looks);
  }

  void write_tree(std::size_t i, DotText& dot) const {
    const double rate = plan_.broadcast_trees[order_[i]].rate.value;
    for (const auto& [arc, count] : trees_[i]) {
      DotAttributes looks{{"color", std::string(kSeriesColours[i])},
                          {"penwidth", fmt::format("{:.2f}", width_of(rate))}};
      if (count > 1) looks.push_back({"label", fmt::format("{} times", count)});
      if (i > 0) looks.push_back({"constraint", "false"});
      write_edge(arc, looks, dot);
    }
  }

  void write_grey(DotText& dot) const {
    for (const auto& [arc, rate] : grey_) {
      write_edge(arc,
                 {{"color", "#aaaaaa80"},
                  {"penwidth", fmt::format("{:.2f}", width_of(rate))},
                  {"constraint", "false"}},
                 dot);
    }
  }

  std::string legend() const {
    Legend legend(platform_.name());
    legend.add_line(fmt::format("from {} by {} under {}: {} trees, {}", plan_.source,
                                plan_.algorithm, plan_.model, order_.size(),
                                short_rate(plan_.throughput)));
    for (std::size_t i = 0; i < coloured_; ++i) {
      const BytesPerSecond rate = plan_.broadcast_trees[order_[i]].rate;
      legend.add_bar(kSeriesColours[i], width_of(rate.value), short_rate(rate));
    }
    if (order_.size() > coloured_) {
      legend.add_bar(
          "#aaaaaa", 2,
          fmt::format("{} more, {}", order_.size() - coloured_, short_rate({grey_rate_})));
    }
    nodes_.add_to(legend);
    return std::move(legend).html();
  }

  const Plan& plan_;
  const Platform& platform_;
  NodeLooks nodes_;
  std::vector<std::size_t> order_;        // trees, the greatest rate first
  std::size_t coloured_ = 0;              // so many of them have a colour
  std::vector<Arcs> trees_;               // theirs
  std::map<std::uint32_t, double> grey_;  // the others': the sum of rates by arc
  double grey_rate_ = 0;
  double busiest_ = 0;
  std::set<std::size_t> full_nodes_;
  std::set<std::uint32_t> full_arcs_;
};

}  // namespace

std::string plan_picture(const Plan& plan, const Platform& platform,
                         std::span<const planner::ResourceLoad> loads) {
  require_drawable(platform);
  return PlanPicture(plan, platform, loads).text();
}

}  // namespace espalier::pictures
