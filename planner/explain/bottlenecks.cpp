#include "planner/explain/bottlenecks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "planner/explain/group_names.hpp"
#include "planner/problem/collective.hpp"
#include "support/errors.hpp"

namespace espalier::planner {

namespace {

using platforms::Arc;
using platforms::NodeId;
using platforms::Platform;
using platforms::Resource;

std::string_view plural_of(Resource::Kind kind) {
  switch (kind) {
    case Resource::Kind::kOutPort:
      return "out-ports";
    case Resource::Kind::kInPort:
      return "in-ports";
    case Resource::Kind::kPort:
      return "ports";
    case Resource::Kind::kLink:
      return "links";
    case Resource::Kind::kSharedLink:
      return "shared links";
    case Resource::Kind::kMoney:
      return "money";
  }
  return {};
}

// Loads, rates and prices of the optimum, by resource and by link.
class Usage {
 public:
  Usage(const ModelledPlatform& problem, const Outcome& outcome)
      : problem_(problem),
        throughput_(throughput_of(outcome).value),
        price_(prices_by_row(outcome.prices, problem.occupation.resources.size())),
        load_(price_.size(), 0.0),
        row_rate_(price_.size(), 0.0),
        row_rate_up_(price_.size(), 0.0),
        arc_rate_(problem.platform.arcs().size(), 0.0),
        arc_rate_up_(arc_rate_.size(), 0.0),
        arc_price_(arc_rate_.size(), 0.0) {
    add(outcome.reduce_trees, true);
    add(outcome.trees, false);
    for (const BlockOfTrees& block : outcome.blocks) {
      add(block.trees, block.kind == BlockKind::kCombine);
    }
    for (std::uint32_t arc = 0; arc < arc_rate_.size(); ++arc) spread(arc);
  }

  [[nodiscard]] Bottleneck resource(std::uint32_t row) const {
    const Resource& resource = problem_.occupation.resources[row];
    return {.kind = Bottleneck::Kind::kResource,
            .name = platforms::describe(resource, platform()),
            .price = price_[row],
            .load = load_[row],
            .copies = row_rate_[row] / throughput_,
            .copies_up = row_rate_up_[row] / throughput_,
            .figures = platforms::figures_behind(resource, platform(), problem_.model)};
  }
  [[nodiscard]] Bottleneck link(std::uint32_t arc) const {
    const Arc& ends = platform().arcs()[arc];
    return {.kind = Bottleneck::Kind::kLink,
            .name = fmt::format("link {} -> {}", printable(platform().node(ends.from).name),
                                printable(platform().node(ends.to).name)),
            .price = arc_price_[arc],
            .load = arc_rate_[arc] * platforms::arc_seconds_per_byte(ends, problem_.options),
            .copies = arc_rate_[arc] / throughput_,
            .copies_up = arc_rate_up_[arc] / throughput_,
            .figures = {.links = {platforms::ArcId{arc}}}};
  }
  [[nodiscard]] Bottleneck set(std::string_view what,
                               const std::vector<std::uint32_t>& rows) const {
    Bottleneck set{.kind = Bottleneck::Kind::kSet,
                   .name = fmt::format("all {} {} that bind", rows.size(), what),
                   .load = 1,
                   .size = rows.size()};
    for (const std::uint32_t row : rows) {
      const Bottleneck one = resource(row);
      set.price += one.price;
      set.load = std::min(set.load, one.load);
      set.copies += one.copies;
      set.copies_up += one.copies_up;
      set.figures = platforms::union_of(set.figures, one.figures);
    }
    return set;
  }

  [[nodiscard]] std::vector<std::uint32_t> binding() const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < price_.size(); ++row) {
      if (price_[row] >= kLeastPrice || load_[row] >= kFullLoad) rows.push_back(row);
    }
    return rows;
  }

  // Links with a price that are not resources themselves, highest price first.
  [[nodiscard]] std::vector<std::uint32_t> highest_priced_links() const {
    std::vector<char> is_resource(arc_rate_.size(), 0);
    for (const Resource& resource : problem_.occupation.resources) {
      if (resource.kind == Resource::Kind::kLink) is_resource[resource.index] = 1;
    }
    std::vector<std::uint32_t> links;
    for (std::uint32_t arc = 0; arc < arc_rate_.size(); ++arc) {
      if (is_resource[arc] == 0 && arc_price_[arc] >= kLeastPrice) links.push_back(arc);
    }
    std::stable_sort(links.begin(), links.end(), [this](std::uint32_t a, std::uint32_t b) {
      return arc_price_[a] > arc_price_[b];
    });
    return links;
  }

 private:
  [[nodiscard]] const Platform& platform() const { return problem_.platform; }
  void add(const std::vector<WeightedTree>& trees, bool up) {
    for (const WeightedTree& tree : trees) {
      for (const std::uint32_t arc : tree.tree.arcs) {
        arc_rate_[arc] += tree.rate.value;
        if (up) arc_rate_up_[arc] += tree.rate.value;
      }
    }
  }

  void spread(std::uint32_t arc) {
    using Column = Eigen::SparseMatrix<double>::InnerIterator;
    for (Column it(problem_.occupation.seconds_per_byte, static_cast<Eigen::Index>(arc)); it;
         ++it) {
      const auto row = static_cast<std::size_t>(it.row());
      load_[row] += arc_rate_[arc] * it.value();
      row_rate_[row] += arc_rate_[arc];
      row_rate_up_[row] += arc_rate_up_[arc];
      arc_price_[arc] += price_[row] * arc_rate_[arc] * it.value();
    }
  }

  const ModelledPlatform& problem_;
  double throughput_;  // bytes per second
  std::vector<double> price_;
  std::vector<double> load_;
  std::vector<double> row_rate_;     // bytes per second across it
  std::vector<double> row_rate_up_;  // the part along reduce trees
  std::vector<double> arc_rate_;
  std::vector<double> arc_rate_up_;
  std::vector<double> arc_price_;
};

// The families of a resource: "in-ports", "in-ports of lyon", "links out of lyon/rack1".
std::vector<std::string> families_of(const Resource& resource, const Platform& platform,
                                     const GroupNames& groups) {
  const std::string kind(plural_of(resource.kind));
  std::vector<std::string> families{kind};
  if (resource.kind == Resource::Kind::kSharedLink) return families;
  if (resource.kind != Resource::Kind::kLink) {
    for (const std::string& group : groups.of(NodeId{resource.index})) {
      families.push_back(fmt::format("{} of {}", kind, printable(group)));
    }
    return families;
  }
  const Arc& arc = platform.arcs()[resource.index];
  const std::vector<std::string> from = groups.of(arc.from);
  const std::vector<std::string> to = groups.of(arc.to);
  const auto add = [&](const std::string& group, const std::vector<std::string>& others,
                       std::string_view across) {
    const bool inside = std::find(others.begin(), others.end(), group) != others.end();
    if (inside && across == "into") return;  // already added for the other end
    families.push_back(fmt::format("{} {} {}", kind, inside ? "within" : across, printable(group)));
  };
  for (const std::string& group : from) add(group, to, "out of");
  for (const std::string& group : to) add(group, from, "into");
  return families;
}

std::vector<Bottleneck> sets_of(const ModelledPlatform& problem, const Usage& usage,
                                const std::vector<std::uint32_t>& binding) {
  const GroupNames groups(problem.platform);
  std::map<std::string, std::vector<std::uint32_t>> families;
  for (const std::uint32_t row : binding) {
    const Resource& resource = problem.occupation.resources[row];
    for (const std::string& family : families_of(resource, problem.platform, groups)) {
      families[family].push_back(row);
    }
  }
  std::vector<Bottleneck> sets;
  for (const auto& [family, rows] : families) {
    if (rows.size() < 2) continue;
    Bottleneck set = usage.set(family, rows);
    if (set.price >= kLeastPrice) sets.push_back(std::move(set));
  }
  // Equal sets differ only in their names; the longer name is more specific.
  std::stable_sort(sets.begin(), sets.end(), [](const Bottleneck& a, const Bottleneck& b) {
    if (a.price != b.price) return a.price > b.price;
    if (a.size != b.size) return a.size < b.size;
    return a.name.size() > b.name.size();
  });
  const auto same = [](const Bottleneck& a, const Bottleneck& b) { return a.figures == b.figures; };
  sets.erase(std::unique(sets.begin(), sets.end(), same), sets.end());
  return sets;
}

}  // namespace

std::vector<NamedPrice> highest_priced_resources(const platforms::Platform& platform,
                                                 const platforms::Occupation& occupation,
                                                 const Outcome& outcome, std::size_t top) {
  std::vector<NamedPrice> result;
  for (const PricedResource& priced : outcome.prices) {
    if (result.size() == top || !(priced.price > 0)) break;
    const Resource& resource = occupation.resources[priced.row];
    result.push_back({priced.row, platforms::describe(resource, platform), priced.price});
  }
  return result;
}

Bottlenecks bottlenecks_of(const ModelledPlatform& problem, const Outcome& outcome,
                           std::size_t top) {
  const Usage usage(problem, outcome);
  Bottlenecks result;
  for (const NamedPrice& priced :
       highest_priced_resources(problem.platform, problem.occupation, outcome, top)) {
    if (priced.price >= kLeastPrice) result.resources.push_back(usage.resource(priced.row));
  }
  for (const std::uint32_t arc : usage.highest_priced_links()) {
    if (result.links.size() == top) break;
    result.links.push_back(usage.link(arc));
  }
  const std::vector<std::uint32_t> binding = usage.binding();
  result.sets = sets_of(problem, usage, binding);
  if (result.sets.size() > top) result.sets.resize(top);
  result.all = usage.set("resources", binding);
  return result;
}

std::string_view name_of(Bottleneck::Kind kind) {
  switch (kind) {
    case Bottleneck::Kind::kLink:
      return "link";
    case Bottleneck::Kind::kSet:
      return "set";
    case Bottleneck::Kind::kResource:
      break;
  }
  return "resource";
}

}  // namespace espalier::planner
