#include "runtime/pull/kept_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "support/errors.hpp"
#include "support/json.hpp"

namespace espalier::runtime {
namespace {

constexpr std::string_view kLearntFormat = "espalier-learnt";
constexpr double kDay_s = 86400;
constexpr double kMostRate_Bps = 1e18;

double rate_at(const JsonCursor& at) {
  const double rate = at.number();
  if (rate <= 0 || rate > kMostRate_Bps) at.refuse("a rate is above 0 and at most 1e18 B/s");
  return rate;
}

std::size_t index_at(const JsonCursor& at, std::size_t count) {
  const std::uint64_t index = at.unsigned_integer();
  if (index >= count) at.refuse(fmt::format("there are {} nodes", count));
  return static_cast<std::size_t>(index);
}

// By node in the file, its rank among `names`; each exactly once.
std::vector<std::size_t> ranks_of(const JsonCursor& nodes, std::span<const std::string> names) {
  std::unordered_map<std::string_view, std::size_t> rank_named;
  for (std::size_t rank = 0; rank < names.size(); ++rank) rank_named[names[rank]] = rank;
  std::vector<std::size_t> ranks;
  for (const JsonCursor& node : nodes.elements()) {
    const auto found = rank_named.find(node.at("name").string());
    if (found == rank_named.end()) node.refuse("is for other ranks, or listed twice");
    ranks.push_back(found->second);
    rank_named.erase(found);
  }
  if (!rank_named.empty()) nodes.refuse("is for fewer ranks");
  return ranks;
}

void read_links(const JsonCursor& links, std::span<const std::size_t> rank_of,
                LearntNetwork& network) {
  for (const JsonCursor& link : links.elements()) {
    const std::vector<JsonCursor> parts = link.elements();
    if (parts.size() != 3) link.refuse("a link is [from, to, rate]");
    const std::size_t from = rank_of[index_at(parts[0], rank_of.size())];
    const std::size_t to = rank_of[index_at(parts[1], rank_of.size())];
    if (from == to) link.refuse("leads to where it begins");
    network.link_Bps[from * rank_of.size() + to] = rate_at(parts[2]);
  }
}

LearntNetwork::Cut cut_from(const JsonCursor& cut, std::span<const std::size_t> rank_of) {
  LearntNetwork::Cut read{{}, cut.at("inward").boolean(), rate_at(cut.at("rate_Bps"))};
  for (const JsonCursor& node : cut.at("nodes").elements()) {
    read.ranks.push_back(rank_of[index_at(node, rank_of.size())]);
  }
  std::ranges::sort(read.ranks);
  if (std::ranges::adjacent_find(read.ranks) != read.ranks.end()) cut.refuse("names a node twice");
  if (read.ranks.empty() || read.ranks.size() >= rank_of.size()) {
    cut.refuse("a cut has some nodes but not all");
  }
  return read;
}

double after(double earlier, double newest, double weight) {
  if (newest <= 0) return earlier;
  return newest + std::max(earlier - newest, 0.0) * weight;
}

}  // namespace

std::vector<std::string> names_on_hosts(std::span<const std::string> hosts) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::string> names;
  for (const std::string& host : hosts) {
    const std::size_t number = ++seen[host];
    names.push_back(number == 1 ? host : fmt::format("{}:{}", host, number));
  }
  return names;
}

std::string kept_file_name(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const std::string& name : names) {
    for (const char letter : name) mix(static_cast<unsigned char>(letter));
    mix('\n');
  }
  return fmt::format("{:016x}.json", hash);
}

std::string to_json(const KeptNetwork& kept) {
  const LearntNetwork& network = kept.network;
  Json nodes = Json::array();
  Json links = Json::array();
  for (std::size_t from = 0; from < network.ranks(); ++from) {
    Json node = {{"name", kept.names[from]}};
    if (network.send_Bps[from] > 0) node["send_Bps"] = network.send_Bps[from];
    if (network.receive_Bps[from] > 0) node["receive_Bps"] = network.receive_Bps[from];
    nodes.push_back(std::move(node));
    for (std::size_t to = 0; to < network.ranks(); ++to) {
      if (network.link(from, to) > 0) links.push_back({from, to, network.link(from, to)});
    }
  }
  Json cuts = Json::array();
  for (const LearntNetwork::Cut& cut : network.cuts) {
    cuts.push_back({{"nodes", cut.ranks}, {"inward", cut.is_inward}, {"rate_Bps", cut.rate_Bps}});
  }
  const Json whole = {{"format", kLearntFormat},
                      {"version", 1},
                      {"nodes", std::move(nodes)},
                      {"links", std::move(links)},
                      {"cuts", std::move(cuts)},
                      {"operation", planner::name_of(kept.operation)},
                      {"message_bytes", kept.message_bytes},
                      {"pulled_Bps", kept.pulled_Bps},
                      {"measured_s", kept.measured_s},
                      {"plan_failures", kept.plan_failures}};
  return compact_dump(whole) + "\n";
}

KeptNetwork parse_kept_network(std::string_view text, const std::string& file,
                               std::span<const std::string> names) {
  const Json document = parse_json(text, file);
  const JsonCursor top(document, file);
  top.expect_object({"format", "version", "nodes", "links", "cuts", "operation", "message_bytes",
                     "pulled_Bps", "measured_s", "plan_failures"});
  if (top.at("format").string() != kLearntFormat) {
    top.at("format").refuse(fmt::format("is not \"{}\"", kLearntFormat));
  }
  if (top.at("version").unsigned_integer() != 1) top.at("version").refuse("is not 1");
  KeptNetwork kept;
  kept.names.assign(names.begin(), names.end());
  LearntNetwork& network = kept.network;
  const JsonCursor nodes = top.at("nodes");
  const std::vector<std::size_t> rank_of = ranks_of(nodes, names);
  network.send_Bps.resize(names.size());
  network.receive_Bps.resize(names.size());
  network.link_Bps.resize(names.size() * names.size());
  std::size_t number = 0;
  for (const JsonCursor& node : nodes.elements()) {
    node.expect_object({"name", "send_Bps", "receive_Bps"});
    const std::size_t rank = rank_of[number++];
    if (const auto rate = node.find("send_Bps")) network.send_Bps[rank] = rate_at(*rate);
    if (const auto rate = node.find("receive_Bps")) network.receive_Bps[rank] = rate_at(*rate);
  }
  read_links(top.at("links"), rank_of, network);
  for (const JsonCursor& cut : top.at("cuts").elements()) {
    cut.expect_object({"nodes", "inward", "rate_Bps"});
    network.cuts.push_back(cut_from(cut, rank_of));
  }
  if (const auto operation = top.find("operation")) {
    kept.operation =
        operation->at_place([&] { return planner::parse_operation(operation->string()); });
  }
  kept.message_bytes = top.at("message_bytes").unsigned_integer();
  kept.pulled_Bps = rate_at(top.at("pulled_Bps"));
  kept.measured_s = top.at("measured_s").number();
  kept.plan_failures = top.at("plan_failures").unsigned_integer();
  return kept;
}

double weight_of_earlier(Seconds age) {
  return 0.5 * std::exp2(-std::max(age.value, 0.0) / kDay_s);
}

LearntNetwork combined(const LearntNetwork& earlier, const LearntNetwork& newest, Seconds age) {
  const double weight = weight_of_earlier(age);
  LearntNetwork both = newest;
  for (std::size_t rank = 0; rank < both.ranks(); ++rank) {
    both.send_Bps[rank] = after(earlier.send_Bps[rank], newest.send_Bps[rank], weight);
    both.receive_Bps[rank] = after(earlier.receive_Bps[rank], newest.receive_Bps[rank], weight);
  }
  for (std::size_t i = 0; i < both.link_Bps.size(); ++i) {
    both.link_Bps[i] = after(earlier.link_Bps[i], newest.link_Bps[i], weight);
  }
  return both;
}

}  // namespace espalier::runtime
