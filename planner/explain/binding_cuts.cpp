#include "planner/explain/binding_cuts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "lp/bounds/cut_cover.hpp"
#include "lp/bounds/narrowest_cut.hpp"
#include "planner/explain/group_names.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using Arcs = std::vector<std::uint32_t>;
using Nodes = std::vector<char>;  // per node of the platform

constexpr double kTolerance = 1e-4;  // as kFullLoad: the optimum is known within a gap

// What a set of nodes is called.
class PartNames {
 public:
  explicit PartNames(const Collective& collective)
      : platform_(collective.platform()), groups_(platform_) {}

  // outside: the name is that of the rest, which has the source.
  struct Name {
    std::string text;
    bool outside;
  };
  [[nodiscard]] Name of(const Nodes& inside) const {
    std::vector<platforms::NodeId> in;
    std::vector<platforms::NodeId> out;
    for (const platforms::NodeId host : platform_.hosts()) {
      (inside[platforms::index_of(host)] != 0 ? in : out).push_back(host);
    }
    if (in.size() == 1) return {name_of(in.front()), false};
    if (out.size() == 1) return {name_of(out.front()), true};
    if (auto group = group_of(in)) return {*std::move(group), false};
    if (auto group = group_of(out)) return {*std::move(group), true};
    if (auto relay = only_relay(inside)) return {fmt::format("the hosts at {}", *relay), false};
    if (in.size() == 2) return {fmt::format("{} and {}", name_of(in[0]), name_of(in[1])), false};
    return {fmt::format("{}, {} and {} more", name_of(in[0]), name_of(in[1]), in.size() - 2),
            false};
  }

 private:
  [[nodiscard]] std::string name_of(platforms::NodeId id) const {
    return printable(platform_.node(id).name);
  }
  // The coarsest group that has these hosts and no others.
  [[nodiscard]] std::optional<std::string> group_of(
      std::span<const platforms::NodeId> hosts) const {
    for (const std::string& group : groups_.of(hosts.front())) {
      const auto is_in = [&](platforms::NodeId host) {
        return std::ranges::count(groups_.of(host), group) > 0;
      };
      if (std::ranges::all_of(hosts, is_in) &&
          std::ranges::count_if(platform_.hosts(), is_in) == std::ssize(hosts)) {
        return printable(group);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> only_relay(const Nodes& inside) const {
    std::optional<std::string> only;
    for (std::uint32_t node = 0; node < inside.size(); ++node) {
      const platforms::NodeId id{node};
      if (inside[node] == 0 || !platform_.node(id).relay) continue;
      if (only) return std::nullopt;
      only = name_of(id);
    }
    return only;
  }

  const platforms::Platform& platform_;
  GroupNames groups_;
};

// The cuts that the data cross in one direction.
class Cuts {
 public:
  // reversed: the data flow to the source; the graph then has all arcs reversed.
  Cuts(const Collective& collective, const Outcome& outcome, bool reversed)
      : collective_(collective),
        names_(collective),
        reversed_(reversed),
        graph_(graph_of(collective.platform(), reversed)),
        source_(static_cast<std::uint32_t>(platforms::index_of(collective.source()))),
        cover_(collective.occupation().seconds_per_byte),
        most_(outcome.bound->value * (1 + kTolerance)) {
    try_all_but_source();
    try_hosts();
    try_parts();
    try_priced(outcome);
  }
  [[nodiscard]] std::vector<BindingCut> found() && { return std::move(found_); }

 private:
  static lp::Digraph graph_of(const platforms::Platform& platform, bool reversed) {
    lp::Digraph graph = digraph_of(platform);
    if (reversed) std::swap(graph.tail, graph.head);
    return graph;
  }
  [[nodiscard]] lp::PackingProblem problem() const {
    return {graph_, source_, collective_.occupation().seconds_per_byte};
  }
  // Unset: more than the bound, or without limit.
  [[nodiscard]] std::optional<double> binding_rate(std::span<const std::uint32_t> arcs) {
    if (arcs.empty()) return std::nullopt;
    const std::vector<lp::RowValue> prices = cover_.prices(arcs);
    const double rate = lp::total_of(prices);
    if (prices.empty() || rate > most_) return std::nullopt;
    return rate;
  }
  [[nodiscard]] std::string_view way(bool outside) const {
    return outside == reversed_ ? "into" : "out of";
  }
  void add(const Nodes& inside) {
    const Arcs arcs = lp::arcs_into(graph_, inside);
    const auto rate = binding_rate(arcs);
    if (!rate) return;
    const auto [name, outside] = names_.of(inside);
    const std::string links = arcs.size() == 1 ? "link" : fmt::format("{} links", arcs.size());
    add({fmt::format("the {} {} {}", links, way(outside), name),
         {*rate},
         hosts_in(inside),
         links_of(arcs)});
  }
  [[nodiscard]] std::size_t hosts_in(const Nodes& inside) const {
    const auto count = std::ranges::count_if(
        collective_.platform().hosts(),
        [&](platforms::NodeId host) { return inside[platforms::index_of(host)] != 0; });
    return static_cast<std::size_t>(count);
  }
  void add(BindingCut cut) {
    const bool known = std::ranges::any_of(
        found_, [&](const BindingCut& other) { return other.links == cut.links; });
    if (!known) found_.push_back(std::move(cut));
  }
  static std::vector<platforms::ArcId> links_of(const Arcs& arcs) {
    std::vector<platforms::ArcId> links;
    for (const std::uint32_t arc : arcs) links.push_back(platforms::ArcId{arc});
    return links;
  }

  void try_hosts();
  void try_all_but_source();
  void try_parts();
  void try_priced(const Outcome& outcome);

  const Collective& collective_;
  PartNames names_;
  bool reversed_;
  lp::Digraph graph_;
  std::uint32_t source_;
  lp::CutCover cover_;
  double most_;  // bytes per second
  std::vector<BindingCut> found_;
};

void Cuts::try_hosts() {
  std::vector<Arcs> into(graph_.node_count);
  for (std::uint32_t arc = 0; arc < graph_.arc_count(); ++arc) {
    into[graph_.head[arc]].push_back(arc);
  }
  BindingCut each;
  std::uint32_t one = 0;
  for (std::uint32_t node = 0; node < graph_.node_count; ++node) {
    if (graph_.relay(node) || node == source_) continue;
    const auto rate = binding_rate(into[node]);
    if (!rate) continue;
    one = node;
    ++each.hosts;
    each.rate.value = std::max(each.rate.value, *rate);
    for (const std::uint32_t arc : into[node]) each.links.push_back(platforms::ArcId{arc});
  }
  if (each.hosts == 0) return;
  if (each.hosts == 1) {
    Nodes inside(graph_.node_count, 0);
    inside[one] = 1;
    add(inside);
    return;
  }
  each.each = true;
  each.name = fmt::format("the links {} each of {} hosts", way(false), each.hosts);
  add(std::move(each));
}

void Cuts::try_all_but_source() {
  Nodes inside(graph_.node_count, 1);
  inside[source_] = 0;
  add(inside);
}

void Cuts::try_parts() {
  constexpr std::size_t kMost = 64;  // the others would hardly be shown
  using Part = lp::NetworkParts::Part;
  const lp::NetworkParts parts(problem());
  std::vector<Part> narrow;
  std::ranges::copy_if(parts.all(), std::back_inserter(narrow),
                       [&](const Part& part) { return part.hosts > 1 && part.into <= most_; });
  std::ranges::stable_sort(narrow, std::greater<>(), &Part::hosts);
  for (const Part& part : std::span(narrow).first(std::min(kMost, narrow.size()))) {
    add(parts.nodes_of(part));
  }
}

// Where a cut is the bound, its links cost at least as much as a whole tree does: prices of sum 1
// prove 1 / the tree's cost. Half of them do where both directions of an allreduce share a cut.
void Cuts::try_priced(const Outcome& outcome) {
  constexpr double kLeastPart = 0.25;  // of a tree's cost
  const std::vector<double> price =
      prices_by_row(outcome.prices, collective_.occupation().resources.size());
  std::vector<Arcs> free(graph_.node_count);  // per node, arcs out of it that cost little
  for (std::uint32_t arc = 0; arc < graph_.arc_count(); ++arc) {
    double cost = 0;
    for (lp::SparseMatrix::InnerIterator use(collective_.occupation().seconds_per_byte,
                                             static_cast<Eigen::Index>(arc));
         use; ++use) {
      cost += use.value() * price[static_cast<std::size_t>(use.row())];
    }
    if (cost * outcome.bound->value < kLeastPart) free[graph_.tail[arc]].push_back(arc);
  }
  Nodes inside(graph_.node_count, 1);
  std::vector<std::uint32_t> open{source_};
  inside[source_] = 0;
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    for (const std::uint32_t arc : free[node]) {
      if (std::exchange(inside[graph_.head[arc]], 0) != 0) open.push_back(graph_.head[arc]);
    }
  }
  const std::size_t hosts = hosts_in(inside);
  const bool is_one_of_each = hosts == 1 && std::ranges::any_of(found_, &BindingCut::each);
  if (hosts > 0 && !is_one_of_each) add(inside);
}

}  // namespace

std::vector<BindingCut> binding_cuts(const Collective& collective, const Outcome& outcome,
                                     std::size_t top) {
  std::vector<BindingCut> cuts;
  if (!outcome.bound) return cuts;
  if (broadcasts(collective.operation())) cuts = Cuts(collective, outcome, false).found();
  if (reduces(collective.operation())) {
    std::ranges::move(Cuts(collective, outcome, true).found(), std::back_inserter(cuts));
  }
  std::ranges::stable_sort(cuts, std::greater<>(), &BindingCut::hosts);
  if (cuts.size() > top) cuts.resize(top);
  return cuts;
}

std::string sentence_of(const BindingCut& cut) {
  std::string what = fmt::format("{} {} {}", cut.name, cut.links.size() == 1 ? "carries" : "carry",
                                 format_rate(cut.rate));
  if (cut.each) return what;
  return fmt::format("{} for {} host{}", what, cut.hosts, cut.hosts == 1 ? "" : "s");
}

}  // namespace espalier::planner
