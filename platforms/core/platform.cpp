#include "platforms/core/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "platforms/core/rates.hpp"
#include "support/text.hpp"

namespace espalier::platforms {

namespace {

void require_caps(const Node& node) {
  if (node.send) require_rate(*node.send, fmt::format("the send cap of {}", in_quotes(node.name)));
  if (node.receive) {
    require_rate(*node.receive, fmt::format("the receive cap of {}", in_quotes(node.name)));
  }
}

std::optional<NodeId> find(const NodesByName& by_name, std::string_view name) {
  const auto found = by_name.find(name);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

std::pair<NodeId, NodeId> ends(const Arc& arc) {
  return {arc.from, arc.to};
}

// The slower of the rates that are set.
std::optional<BytesPerSecond> slower(std::optional<BytesPerSecond> one,
                                     std::optional<BytesPerSecond> other) {
  return one && other ? std::min(*one, *other) : one ? one : other;
}

}  // namespace

std::vector<std::string> names_of_hosts(const Platform& platform) {
  std::vector<std::string> names;
  for (const NodeId host : platform.hosts()) names.push_back(platform.node(host).name);
  return names;
}

Seconds latency_along(const Platform& platform, std::span<const std::uint32_t> arcs) {
  Seconds sum;
  for (const std::uint32_t arc : arcs) sum.value += platform.arcs()[arc].latency.value;
  return sum;
}

void require_rate(BytesPerSecond rate, std::string_view what) {
  // All models use T = 1 / bandwidth, so the inverse must be finite as well.
  if (std::isfinite(rate.value) && rate.value > 0 && std::isfinite(1 / rate.value)) return;
  throw InputError(fmt::format("{} must be finite and positive, not {} B/s", what, rate.value));
}

void require_duration(Seconds duration, std::string_view what) {
  if (std::isfinite(duration.value) && duration.value >= 0) return;
  throw InputError(
      fmt::format("{} must be finite and not negative, not {} s", what, duration.value));
}

void require_position(const Position& position) {
  if (std::isfinite(position.x) && std::isfinite(position.y)) return;
  throw InputError(
      fmt::format("coordinates must be finite, not {} and {}", position.x, position.y));
}

void require_price(double price, std::string_view what) {
  if (std::isfinite(price) && price >= 0) return;
  throw InputError(fmt::format("{} must be finite and not negative, not {}", what, price));
}

void require_name(std::string_view name, std::string_view what) {
  if (name.empty()) throw InputError(fmt::format("{} must not be empty", what));
  if (printable(name) != name) {
    throw InputError(
        fmt::format("{} must be UTF-8 without control characters: {}", what, in_quotes(name)));
  }
}

bool Platform::has_prices() const {
  return std::ranges::any_of(arcs_, [](const Arc& arc) { return arc.price_per_GB > 0; });
}

double Platform::price_per_hour() const {
  double sum = 0;
  for (const Node& node : nodes_) sum += node.price_per_hour;
  return sum;
}

std::optional<NodeId> Platform::find_node(std::string_view name) const {
  return find(by_name_, name);
}

std::optional<ArcId> Platform::find_arc(NodeId from, NodeId to) const {
  const auto [first, last] = arcs_out_of(from);
  const auto begin = arcs_.begin() + first;
  const auto end = arcs_.begin() + last;
  const auto found = std::ranges::lower_bound(begin, end, to, {}, &Arc::to);
  if (found == end || found->to != to) return std::nullopt;
  return ArcId{static_cast<std::uint32_t>(found - arcs_.begin())};
}

Platform::ArcRange Platform::arcs_out_of(NodeId node) const {
  return {first_arc_[index_of(node)], first_arc_[index_of(node) + 1]};
}

PlatformBuilder::PlatformBuilder(std::string name) : name_(std::move(name)) {
  if (!name_.empty()) require_name(name_, "a platform's name");
}

void PlatformBuilder::set_currency(std::string currency) {
  require_name(currency, "a currency");
  currency_ = std::move(currency);
}

NodeId PlatformBuilder::add_node(Node node) {
  require_name(node.name, "a node's name");
  if (!node.group.empty()) require_name(node.group, "a group's name");
  require_caps(node);
  if (node.position) require_position(*node.position);
  require_price(node.price_per_hour, "a price");
  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  if (!by_name_.emplace(node.name, id).second) {
    throw InputError(fmt::format("two nodes are named {}", in_quotes(node.name)));
  }
  nodes_.push_back(std::move(node));
  return id;
}

NodeId PlatformBuilder::node_named(std::string_view name) {
  if (const auto known = find_node(name)) return *known;
  return add_node({.name = std::string(name)});
}

std::optional<NodeId> PlatformBuilder::find_node(std::string_view name) const {
  return find(by_name_, name);
}

void PlatformBuilder::add_arc(const Arc& arc) {
  if (arc.from == arc.to) {
    throw InputError(
        fmt::format("a link from {} to itself", in_quotes(nodes_[index_of(arc.from)].name)));
  }
  require_rate(arc.bandwidth, "a bandwidth");
  require_duration(arc.latency, "a latency");
  require_duration(arc.overhead, "an overhead");
  require_price(arc.price_per_GB, "a price");
  if (arc.send) require_rate(*arc.send, "a link's send rate");
  if (arc.receive) require_rate(*arc.receive, "a link's receive rate");
  arcs_.push_back(arc);
}

void PlatformBuilder::add_both_ways(const Arc& arc) {
  add_arc(arc);
  Arc back = arc;
  std::swap(back.from, back.to);
  add_arc(back);
}

void PlatformBuilder::add_shared_link(std::string name, BytesPerSecond bandwidth,
                                      std::vector<std::pair<NodeId, NodeId>> arcs) {
  require_name(name, "a shared link's name");
  if (shared_link_names_.contains(name)) {
    throw InputError(fmt::format("two shared links are named {}", in_quotes(name)));
  }
  require_rate(bandwidth, "a bandwidth");
  if (arcs.empty()) throw InputError(fmt::format("shared link {} has no links", in_quotes(name)));
  shared_link_names_.insert(name);
  shared_links_.push_back({std::move(name), bandwidth, std::move(arcs)});
}

PlatformBuilder::MergedArcs PlatformBuilder::merge_arcs() {
  // The key includes the bandwidth so that sums do not depend on the order in the file.
  const auto key = [](const Arc& arc) { return std::tuple(arc.from, arc.to, arc.bandwidth.value); };
  if (!std::ranges::is_sorted(arcs_, {}, key)) std::ranges::sort(arcs_, {}, key);
  MergedArcs merged;
  merged.arcs.reserve(arcs_.size());
  merged.counts.reserve(arcs_.size());
  for (const Arc& arc : arcs_) {
    if (merged.arcs.empty() || ends(merged.arcs.back()) != ends(arc)) {
      merged.arcs.push_back(arc);
      merged.counts.push_back(1);
      continue;
    }
    Arc& sum = merged.arcs.back();
    sum.bandwidth.value += arc.bandwidth.value;
    require_rate(sum.bandwidth, "the bandwidth of merged parallel links");
    sum.latency = std::min(sum.latency, arc.latency);
    sum.overhead = std::min(sum.overhead, arc.overhead);
    // No plan then costs more than it states, however its data is split among the links.
    merged.prices_differ = merged.prices_differ || sum.price_per_GB != arc.price_per_GB;
    sum.price_per_GB = std::max(sum.price_per_GB, arc.price_per_GB);
    sum.send = slower(sum.send, arc.send);
    sum.receive = slower(sum.receive, arc.receive);
    ++merged.counts.back();
  }
  return merged;
}

std::string PlatformBuilder::merge_note(const MergedArcs& merged) const {
  constexpr std::size_t kNamed = 3;
  Listing pairs(kNamed);
  std::size_t links = 0;
  for (std::size_t i = 0; i < merged.arcs.size(); ++i) {
    if (merged.counts[i] < 2) continue;
    links += merged.counts[i];
    pairs.add([&] {
      return fmt::format("{} -> {}", printable(nodes_[index_of(merged.arcs[i].from)].name),
                         printable(nodes_[index_of(merged.arcs[i].to)].name));
    });
  }
  if (links == 0) return "";
  return fmt::format("merged {} parallel links {}{}{}", links, pairs.text(),
                     pairs.count() > kNamed ? " pairs" : "",
                     merged.prices_differ ? ", at the highest of their prices" : "");
}

SharedLink PlatformBuilder::resolve(std::size_t shared_link, const Platform& platform,
                                    const MergedArcs& merged) const {
  const PendingSharedLink& pending = shared_links_[shared_link];
  SharedLink shared{pending.name, pending.bandwidth, {}};
  shared.arcs.reserve(pending.arcs.size());
  std::unordered_set<std::size_t> taken;
  for (std::size_t i = 0; i < pending.arcs.size(); ++i) {
    const NodeId from = pending.arcs[i].first;
    const NodeId to = pending.arcs[i].second;
    const auto refuse = [&](std::string_view why) {
      const std::string reason =
          fmt::format("shared link {}: {} {} -> {}", in_quotes(pending.name), why,
                      in_quotes(nodes_[index_of(from)].name), in_quotes(nodes_[index_of(to)].name));
      return SharedLinkError(shared_link, i, reason);
    };
    const auto arc = platform.find_arc(from, to);
    if (!arc) throw refuse("there is no link");
    if (merged.counts[index_of(*arc)] > 1)
      throw refuse("ambiguous, because there are parallel links");
    if (!taken.insert(index_of(*arc)).second) throw refuse("it lists more than once the link");
    shared.arcs.push_back(*arc);
  }
  std::ranges::sort(shared.arcs);
  return shared;
}

Platform PlatformBuilder::build(std::vector<std::string>* notes) && {
  for (const Node& node : nodes_) {  // they may have changed through nodes()
    require_caps(node);
    if (node.position) require_position(*node.position);
    require_price(node.price_per_hour, "a price");
  }
  MergedArcs merged = merge_arcs();
  if (std::string note = merge_note(merged); notes != nullptr && !note.empty()) {
    notes->push_back(std::move(note));
  }
  Platform platform;
  platform.name_ = std::move(name_);
  platform.currency_ = std::move(currency_);
  platform.arcs_ = merged.arcs;
  platform.first_arc_.assign(nodes_.size() + 1, 0);
  for (const Arc& arc : merged.arcs) ++platform.first_arc_[index_of(arc.from) + 1];
  for (std::size_t i = 1; i <= nodes_.size(); ++i) {
    platform.first_arc_[i] += platform.first_arc_[i - 1];
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].relay) platform.hosts_.push_back(NodeId{static_cast<std::uint32_t>(i)});
  }
  for (std::size_t i = 0; i < shared_links_.size(); ++i) {
    platform.shared_links_.push_back(resolve(i, platform, merged));
  }
  platform.nodes_ = std::move(nodes_);
  platform.by_name_ = std::move(by_name_);
  require_spread(platform);
  return platform;
}

Platform with_figures(const Platform& platform, std::vector<Node> nodes, std::span<const Arc> arcs,
                      std::span<const BytesPerSecond> shared) {
  PlatformBuilder builder(platform.name());
  if (!platform.currency().empty()) builder.set_currency(platform.currency());
  for (Node& node : nodes) builder.add_node(std::move(node));
  for (const Arc& arc : arcs) builder.add_arc(arc);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const SharedLink& shared_link = platform.shared_links()[i];
    std::vector<std::pair<NodeId, NodeId>> ends;
    for (const ArcId arc : shared_link.arcs) {
      ends.emplace_back(platform.arc(arc).from, platform.arc(arc).to);
    }
    builder.add_shared_link(shared_link.name, shared[i], std::move(ends));
  }
  return std::move(builder).build();
}

Platform with_prices(const Platform& platform, std::span<const double> price_per_GB,
                     std::string currency) {
  Platform priced = platform;
  for (std::size_t e = 0; e < priced.arcs_.size(); ++e) {
    require_price(price_per_GB[e], "a price");
    priced.arcs_[e].price_per_GB = price_per_GB[e];
  }
  priced.currency_ = std::move(currency);
  return priced;
}

}  // namespace espalier::platforms
