#include "planner/problem/reach.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "support/errors.hpp"

namespace espalier::planner {

namespace {

// Per node, whether a search from `from` comes to it. onward(node): the nodes that it goes on to.
template <class Onward>
std::vector<char> search(const platforms::Platform& platform, platforms::NodeId from,
                         Onward onward) {
  std::vector<char> reached(platform.nodes().size(), 0);
  std::vector<platforms::NodeId> frontier{from};
  reached[index_of(from)] = 1;
  while (!frontier.empty()) {
    const platforms::NodeId node = frontier.back();
    frontier.pop_back();
    for (const platforms::NodeId next : onward(node)) {
      if (reached[index_of(next)] != 0) continue;
      reached[index_of(next)] = 1;
      frontier.push_back(next);
    }
  }
  return reached;
}

}  // namespace

std::vector<char> reached_from(const platforms::Platform& platform, platforms::NodeId from,
                               const std::vector<char>& closed) {
  std::vector<platforms::NodeId> heads;
  return search(platform, from, [&](platforms::NodeId node) {
    heads.clear();
    const auto [first, last] = platform.arcs_out_of(node);
    for (std::uint32_t arc = first; arc < last; ++arc) {
      const platforms::NodeId head = platform.arcs()[arc].to;
      if (closed.empty() || closed[index_of(head)] == 0) heads.push_back(head);
    }
    return std::span(heads);
  });
}

namespace {

// Names the first host that is not marked. fault: with the two names, of which the first is the
// host's.
void require_all(const platforms::Platform& platform, const std::vector<char>& marked,
                 platforms::NodeId root, std::string_view fault) {
  std::string missed;
  std::size_t more = 0;
  for (const platforms::NodeId host : platform.hosts()) {
    if (marked[index_of(host)] != 0) continue;
    if (missed.empty()) {
      missed =
          fmt::format("'{}' {} '{}'", platform.node(host).name, fault, platform.node(root).name);
    } else {
      ++more;
    }
  }
  if (missed.empty()) return;
  const std::string others = more > 0 ? fmt::format(" (and {} more)", more) : "";
  throw InfeasibleError(fmt::format("{}: {}{}", platform.name(), missed, others));
}

constexpr std::string_view kCannotReach = "cannot reach";

}  // namespace

void require_reachable(const platforms::Platform& platform, platforms::NodeId source,
                       bool reversed) {
  require_all(platform, reached_from(platform, source), source,
              reversed ? kCannotReach : "cannot be reached from");
}

void require_return(const platforms::Platform& platform, platforms::NodeId to) {
  std::vector<std::vector<platforms::NodeId>> before(platform.nodes().size());
  for (const platforms::Arc& arc : platform.arcs()) before[index_of(arc.to)].push_back(arc.from);
  const auto reaches = search(
      platform, to, [&](platforms::NodeId node) -> const auto& { return before[index_of(node)]; });
  require_all(platform, reaches, to, kCannotReach);
}

void require_hosts(const platforms::Platform& platform, std::string_view what) {
  const std::size_t hosts = platform.hosts().size();
  if (hosts >= 2) return;
  throw InputError(fmt::format("{}: has {}; {} needs at least two", platform.name(),
                               counted(hosts, "host"), what));
}

}  // namespace espalier::planner
