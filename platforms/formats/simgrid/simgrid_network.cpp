#include "platforms/formats/simgrid/simgrid_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "support/nearest_name.hpp"

namespace espalier::platforms::simgrid {

namespace {

// Removes the number at the start of `text` and returns it; `refuse` makes the error if there is
// none.
template <class Number, class Refuse>
Number take_number(std::string_view& text, const Refuse& refuse) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{}) throw refuse();
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

double take_quantity(std::string_view& text, std::string_view what) {
  const auto number = take_number<double>(text, [&] {
    return InputError(fmt::format("{} must start with a number: {}", what, in_quotes(text)));
  });
  while (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

}  // namespace

BytesPerSecond parse_bandwidth(std::string_view text) {
  const std::string_view whole = text;
  double value = take_quantity(text, "a bandwidth");
  if (!text.empty()) {
    double scale = 1;
    constexpr std::string_view kPrefixes = "kMGTPE";
    const std::size_t prefix = text[0] == 'K' ? 0 : kPrefixes.find(text[0]);
    if (prefix != std::string_view::npos) {
      text.remove_prefix(1);
      const bool binary = text.starts_with('i');
      if (binary) text.remove_prefix(1);
      for (std::size_t i = 0; i <= prefix; ++i) scale *= binary ? 1024 : 1000;
    }
    if (text != "Bps" && text != "bps") {
      throw InputError(fmt::format("unknown unit in bandwidth {}", in_quotes(whole)));
    }
    value *= text == "bps" ? scale / 8 : scale;
  }
  require_rate({value}, fmt::format("bandwidth {}", in_quotes(whole)));
  return {value};
}

Seconds parse_latency(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr std::array<Unit, 10> kUnits{{{"", 1},
                                         {"s", 1},
                                         {"ms", 1e-3},
                                         {"us", 1e-6},
                                         {"ns", 1e-9},
                                         {"ps", 1e-12},
                                         {"m", 60},
                                         {"h", 3600},
                                         {"d", 86400},
                                         {"w", 604800}}};
  const std::string_view whole = text;
  const double value = take_quantity(text, "a latency");
  const auto* const unit = std::ranges::find(kUnits, text, &Unit::name);
  if (unit == kUnits.end()) {
    throw InputError(fmt::format("unknown unit in latency {}", in_quotes(whole)));
  }
  const Seconds latency{value * unit->seconds};
  require_duration(latency, fmt::format("latency {}", in_quotes(whole)));
  return latency;
}

std::vector<std::uint64_t> parse_radical(std::string_view text) {
  const std::string_view whole = text;
  const auto take_whole = [&] {
    return take_number<std::uint64_t>(text, [&] {
      return InputError(fmt::format("a radical is numbers and ranges, such as 1-29,58, not {}",
                                    in_quotes(whole)));
    });
  };
  std::vector<std::uint64_t> numbers;
  while (true) {
    const std::uint64_t first = take_whole();
    std::uint64_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_whole();
    }
    if (last < first) throw InputError(fmt::format("the range {}-{} is empty", first, last));
    if (last - first >= kMostNodes - numbers.size()) {
      throw InputError(
          fmt::format("radical {} has more than {} numbers", in_quotes(whole), kMostNodes));
    }
    for (std::uint64_t i = 0; i <= last - first; ++i) numbers.push_back(first + i);
    if (text.empty()) return numbers;
    if (!text.starts_with(',')) {
      throw InputError(fmt::format("expected a comma in radical {}", in_quotes(whole)));
    }
    text.remove_prefix(1);
  }
}

Sharing parse_sharing(std::string_view text) {
  if (text == "SHARED") return Sharing::kShared;
  if (text == "SPLITDUPLEX" || text == "FULLDUPLEX") return Sharing::kSplitDuplex;
  if (text == "FATPIPE") return Sharing::kFatPipe;
  if (text == "WIFI") throw InputError("Wi-Fi links are not supported");
  constexpr std::array<std::string_view, 3> kNames{"SHARED", "SPLITDUPLEX", "FATPIPE"};
  throw InputError(unknown_name("sharing policy", text, kNames));
}

NodeId Network::add_node(const std::string& name, bool relay, const std::string& group) {
  if (builder_.nodes().size() >= kMostNodes) {
    throw InputError(fmt::format("more than {} nodes", kMostNodes));
  }
  return builder_.add_node({.name = name, .relay = relay, .group = group});
}

void Network::add_netpoint(const std::string& name, const Netpoint& netpoint) {
  if (!netpoints_.emplace(name, netpoint).second) {
    throw InputError(fmt::format("two nodes are named {}", in_quotes(name)));
  }
}

const Netpoint& Network::netpoint(std::string_view name) const {
  const auto found = netpoints_.find(name);
  if (found != netpoints_.end()) return found->second;
  throw InputError(fmt::format("there is no host or router {}", in_quotes(name)));
}

DirectedLinkId Network::add_directed_link(std::string name, BytesPerSecond bandwidth,
                                          Seconds latency, bool fat) {
  directed_links_.push_back({std::move(name), bandwidth, latency, fat});
  return static_cast<DirectedLinkId>(directed_links_.size() - 1);
}

Network::LinkPair Network::add_link_pair(const std::string& name, BytesPerSecond bandwidth,
                                         Seconds latency, Sharing sharing) {
  if (sharing != Sharing::kSplitDuplex) {
    const DirectedLinkId directed_link =
        add_directed_link(name, bandwidth, latency, sharing == Sharing::kFatPipe);
    return {directed_link, directed_link};
  }
  const DirectedLinkId up = add_directed_link(name + "_UP", bandwidth, latency);
  return {up, add_directed_link(name + "_DOWN", bandwidth, latency)};
}

void Network::add_link(const std::string& name, BytesPerSecond bandwidth, Seconds latency,
                       Sharing sharing) {
  require_name(name, "a link's name");
  if (links_.contains(name))
    throw InputError(fmt::format("two links are named {}", in_quotes(name)));
  links_.emplace(name, add_link_pair(name, bandwidth, latency, sharing));
}

DirectedLinkId Network::directed_link(std::string_view name, std::string_view direction) const {
  auto found = links_.find(name);
  for (const std::string_view end : {"UP", "DOWN"}) {
    if (found != links_.end() || !name.ends_with(end)) continue;
    found = links_.find(name.substr(0, name.size() - end.size() - 1));
    direction = end;
  }
  if (found == links_.end()) throw InputError(fmt::format("there is no link {}", in_quotes(name)));
  const LinkPair pair = found->second;
  if (direction == "UP") return pair.up;
  if (direction == "DOWN") return pair.down;
  if (direction != "NONE") {
    throw InputError(fmt::format("direction is UP, DOWN or NONE, not {}", in_quotes(direction)));
  }
  if (pair.up != pair.down) {
    throw InputError(
        fmt::format("link {} is SPLITDUPLEX: its direction must be UP or DOWN", in_quotes(name)));
  }
  return pair.up;
}

void Network::connect(NodeId from, NodeId to, std::vector<DirectedLinkId> directed_links,
                      Duplicate duplicate) {
  const auto refuse = [&](std::string_view why) {
    throw InputError(fmt::format("the route {} -> {} {}", in_quotes(name_of(from)),
                                 in_quotes(name_of(to)), why));
  };
  if (from == to) refuse("starts where it ends");
  if (directed_links.empty()) refuse("has no links, so no bandwidth");
  std::vector<DirectedLinkId> sorted = directed_links;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) refuse("crosses a link twice");
  const std::uint64_t key = static_cast<std::uint64_t>(index_of(from)) << 32U | index_of(to);
  const auto [known, is_new] = by_ends_.try_emplace(key, routes_.size());
  if (!is_new) {
    if (duplicate == Duplicate::kRefuse) refuse("is given twice");
    routes_[known->second].directed_links = std::move(directed_links);
    return;
  }
  if (routes_.size() >= kMostRoutes)
    throw InputError(fmt::format("more than {} routes", kMostRoutes));
  routes_.push_back({from, to, std::move(directed_links)});
}

Platform Network::build(Source& source) && {
  std::vector<std::vector<std::pair<NodeId, NodeId>>> users(directed_links_.size());
  std::vector<bool> taken_as_shared(directed_links_.size());
  for (const Route& route : routes_) {
    Arc arc{route.from, route.to, {std::numeric_limits<double>::max()}};
    const bool relay =
        builder_.nodes()[index_of(arc.from)].relay || builder_.nodes()[index_of(arc.to)].relay;
    for (const DirectedLinkId id : route.directed_links) {
      const DirectedLink& directed_link = directed_links_[id];
      arc.bandwidth = std::min(arc.bandwidth, directed_link.bandwidth);
      arc.latency.value += directed_link.latency.value;
      if (directed_link.fat) taken_as_shared[id] = taken_as_shared[id] || relay;
      if (!directed_link.fat) users[id].emplace_back(route.from, route.to);
    }
    builder_.add_arc(arc);
  }
  source.note_count(static_cast<std::size_t>(std::ranges::count(taken_as_shared, true)),
                    "{} FATPIPE links at switches: taken as shared by all routes over them");
  for (std::size_t i = 0; i < directed_links_.size(); ++i) {
    if (users[i].size() < 2) continue;
    builder_.add_shared_link(directed_links_[i].name, directed_links_[i].bandwidth,
                             std::move(users[i]));
  }
  return source.build(std::move(builder_));
}

}  // namespace espalier::platforms::simgrid
