#include "platforms/formats/measured/pair_measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "support/statistics.hpp"

namespace espalier::platforms {

void PairMeasurements::add_bandwidth(const std::string& from, const std::string& to,
                                     BytesPerSecond bandwidth) {
  require_name(from, "a host name");
  require_name(to, "a host name");
  require_rate(bandwidth, "a bandwidth");
  if (from == to) {
    ++self_pairs_;
    return;
  }
  bandwidths_[{from, to}].push_back(bandwidth.value);
}

void PairMeasurements::add_latency(const std::string& from, const std::string& to,
                                   Seconds latency) {
  require_duration(latency, "a latency");
  if (from != to) latencies_[{from, to}].push_back(latency.value);
}

void PairMeasurements::add_failure(const std::string& file, const std::string& reason) {
  if (failed_.count++ == 0) failed_ = {1, file, reason};
}

void PairMeasurements::add_name(const std::string& host, const std::string& name) {
  auto& names = names_[host];
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// By host. A host with two names, and two hosts with the same name, keep their identifiers.
std::map<std::string, std::string> PairMeasurements::node_names() const {
  std::map<std::string, std::string> chosen;
  for (const auto& [pair, runs] : bandwidths_) {
    chosen.emplace(pair.first, pair.first);
    chosen.emplace(pair.second, pair.second);
  }
  std::map<std::string, std::size_t> uses;
  for (const auto& [host, names] : names_) {
    for (const std::string& name : names) ++uses[name];
  }
  for (auto& [host, name] : chosen) {
    const auto known = names_.find(host);
    if (known == names_.end() || known->second.size() != 1) continue;
    const std::string& wanted = known->second.front();
    if (uses[wanted] == 1 && !chosen.contains(wanted)) name = wanted;
  }
  return chosen;
}

std::string PairMeasurements::nothing_measured(const std::string& place) const {
  if (failed_.file == place) return fmt::format("the measurement failed: {}", failed_.reason);
  if (failed_.count > 0) {
    return fmt::format("every measurement failed, first {}: {}", failed_.file, failed_.reason);
  }
  if (self_pairs_ > 0) return "the host measured itself; measure between two hosts";
  if (!latencies_.empty()) return "there are latencies but no bandwidths";
  return "no measurement between two hosts";
}

void PairMeasurements::note_left_out(Source& source) const {
  source.note_counted(failed_.count, "failed measurement", "left out {}, first {}: {}",
                      failed_.file, failed_.reason);
  source.note_counted(self_pairs_, "measurement", "left out {} of a host with itself");
  std::size_t repeats = 0;
  for (const auto& [pair, runs] : bandwidths_) repeats += runs.size() - 1;
  source.note_counted(repeats, "repeated run",
                      "took the median where a pair was measured more than once ({})");
  for (const auto& [remark, count] : remarks_) {
    source.note("{} {}", counted(count, "measurement"), remark);
  }
  const auto unused = static_cast<std::size_t>(std::ranges::count_if(latencies_, [&](auto& entry) {
    const Pair& pair = entry.first;
    return !bandwidths_.contains(pair) && !bandwidths_.contains({pair.second, pair.first});
  }));
  source.note_counted(unused, "pair", "left out the latencies of {} without a bandwidth");
}

Platform PairMeasurements::platform(Source& source, std::string name) && {
  if (bandwidths_.empty()) source.refuse(nothing_measured(source.file));
  note_left_out(source);
  PlatformBuilder builder(std::move(name));
  const auto names = node_names();
  std::set<std::string> ordered;
  for (const auto& [host, node] : names) ordered.insert(node);
  for (const std::string& node : ordered) builder.node_named(node);
  std::size_t without = 0;
  for (const auto& [pair, runs] : bandwidths_) {
    auto latency = latencies_.find(pair);
    if (latency == latencies_.end()) latency = latencies_.find({pair.second, pair.first});
    if (latency == latencies_.end()) ++without;
    builder.add_arc({builder.node_named(names.at(pair.first)),
                     builder.node_named(names.at(pair.second)),
                     {median_of(runs)},
                     {latency == latencies_.end() ? 0 : median_of(latency->second)}});
  }
  source.note_count(without, "no latency for {} of {} links: taken as 0", bandwidths_.size());
  const std::size_t pairs = names.size() * (names.size() - 1);
  source.note_count(pairs - bandwidths_.size(), "{} of {} ordered pairs were not measured: no link",
                    pairs);
  return source.build(std::move(builder));
}

}  // namespace espalier::platforms
