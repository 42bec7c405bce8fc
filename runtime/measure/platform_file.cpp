#include "runtime/measure/platform_file.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "support/json.hpp"

namespace espalier::runtime::probe {
namespace {

constexpr std::size_t kMostNamed = 4;

std::string names_of(const Estimate& estimate, const std::set<std::size_t>& ranks) {
  std::string text;
  std::size_t named = 0;
  for (const std::size_t rank : ranks) {
    if (named == kMostNamed && ranks.size() > kMostNamed + 1) {
      return text + fmt::format(" and {} more", ranks.size() - named);
    }
    text += (named++ == 0 ? "" : ", ") + estimate.nodes[rank];
  }
  return text;
}

// One element per line.
std::string list(std::string_view key, const std::vector<Json>& elements) {
  std::string text = fmt::format(" \"{}\": [", key);
  const char* between = "\n  ";
  for (const Json& element : elements) {
    text += between + element.dump();
    between = ",\n  ";
  }
  return text + "\n ]";
}

}  // namespace

std::string shared_link_name(const Estimate& estimate, const SharedLink& shared_link) {
  std::set<std::size_t> senders;
  std::set<std::size_t> receivers;
  for (const Flow& arc : shared_link.arcs) {
    senders.insert(arc.from);
    receivers.insert(arc.to);
  }
  return fmt::format("{} to {}", names_of(estimate, senders), names_of(estimate, receivers));
}

std::string platform_json(const Estimate& estimate, const std::string& name) {
  std::vector<Json> nodes;
  for (std::size_t rank = 0; rank < estimate.nodes.size(); ++rank) {
    Json node = {{"name", estimate.nodes[rank]}};
    if (estimate.send_Bps[rank]) node["send_Bps"] = *estimate.send_Bps[rank];
    if (estimate.receive_Bps[rank]) node["receive_Bps"] = *estimate.receive_Bps[rank];
    if (!estimate.groups[rank].empty()) node["group"] = estimate.groups[rank];
    nodes.push_back(std::move(node));
  }
  std::vector<Json> links;
  for (const Link& link : estimate.links) {
    links.push_back({{"from", estimate.nodes[link.ends.from]},
                     {"to", estimate.nodes[link.ends.to]},
                     {"bandwidth_Bps", link.bandwidth_Bps},
                     {"latency_s", link.latency_s},
                     {"overhead_s", link.overhead_s}});
  }
  std::vector<Json> shared;
  std::set<std::string> taken;
  for (const SharedLink& shared_link : estimate.shared_links) {
    std::string called = shared_link_name(estimate, shared_link);
    for (std::size_t i = 2; !taken.insert(called).second; ++i) {
      called = fmt::format("{} ({})", shared_link_name(estimate, shared_link), i);
    }
    Json arcs = Json::array();
    for (const Flow& arc : shared_link.arcs) {
      arcs.push_back({estimate.nodes[arc.from], estimate.nodes[arc.to]});
    }
    shared.push_back({{"name", called},
                      {"bandwidth_Bps", shared_link.bandwidth_Bps},
                      {"links", std::move(arcs)}});
  }
  std::string text =
      fmt::format("{{\"format\": \"espalier-platform\", \"version\": 1, \"name\": {},\n{},\n{}",
                  Json(name).dump(), list("nodes", nodes), list("links", links));
  if (!shared.empty()) text += ",\n" + list("shared", shared);
  return text + "}\n";
}

}  // namespace espalier::runtime::probe
