#include "cli/espalier/reports/trace_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "render/page/page.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

namespace {

using platforms::NodeId;

// One bar, in the trace's microseconds.
struct Bar {
  std::uint64_t line = 0;
  double start = 0;
  double duration = 0;
  std::optional<std::uint64_t> tree{};
  std::uint64_t segment = 0;
  std::string from{};  // empty: nothing moves, or another bar says what moves
  std::string to{};
};

std::optional<std::uint64_t> whole(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

// The rank whose line is called "rank 3 (node) receives".
std::optional<std::size_t> rank_of(const std::string& line) {
  std::size_t rank = 0;
  std::size_t at = 5;
  if (line.compare(0, at, "rank ") != 0) return std::nullopt;
  for (; at < line.size() && at < 12 && line[at] >= '0' && line[at] <= '9'; ++at) {
    rank = 10 * rank + static_cast<std::size_t>(line[at] - '0');
  }
  return at > 5 && line.compare(at, 2, " (") == 0 ? std::optional(rank) : std::nullopt;
}

// The names of the lines, by their number.
std::map<std::uint64_t, std::string> lines_of(const Json& trace) {
  std::map<std::uint64_t, std::string> lines;
  for (const Json& event : trace.at("traceEvents")) {
    if (!event.is_object() || text_of(event, "name") != "thread_name") continue;
    const auto line = whole(event, "tid");
    const auto args = event.find("args");
    if (line && args != event.end() && args->is_object()) lines[*line] = text_of(*args, "name");
  }
  return lines;
}

class TraceReader {
 public:
  TraceReader(const Json& trace, std::string file, std::vector<std::string> ranks)
      : trace_(trace), file_(std::move(file)), ranks_(std::move(ranks)), lines_(lines_of(trace)) {}

  [[nodiscard]] const std::map<std::uint64_t, std::string>& lines() const { return lines_; }

  [[nodiscard]] std::vector<Bar> bars() const {
    std::vector<Bar> bars;
    const Json& events = trace_.at("traceEvents");
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Json& event = events[i];
      if (!event.is_object() || text_of(event, "ph") != "X") continue;
      Bar bar{.line = whole(event, "tid").value_or(0),
              .start = number(event, "ts", i),
              .duration = number(event, "dur", i)};
      const auto args = event.find("args");
      if (args != event.end() && args->is_object()) read_args(*args, i, bar);
      bars.push_back(std::move(bar));
    }
    return bars;
  }

 private:
  [[noreturn]] void refuse(std::size_t event, const std::string& reason) const {
    throw InputError(file_, fmt::format("/traceEvents/{}", event), reason);
  }

  [[nodiscard]] double number(const Json& event, const char* key, std::size_t index) const {
    const auto found = event.find(key);
    if (found == event.end() || !found->is_number() || !(found->get<double>() >= 0)) {
      refuse(index, fmt::format("needs \"{}\", a number that is not negative", key));
    }
    return found->get<double>();
  }

  void read_args(const Json& args, std::size_t event, Bar& bar) const {
    bar.tree = whole(args, "tree");
    bar.segment = whole(args, "segment").value_or(0);
    bar.from = text_of(args, "from");
    bar.to = text_of(args, "to");
    // What one rank sends another receives: that bar shows when it has arrived.
    const std::optional<std::uint64_t> sender = whole(args, "from_rank");
    const auto line = lines_.find(bar.line);
    if (!sender || line == lines_.end()) return;
    const std::optional<std::size_t> receiver = rank_of(line->second);
    if (!receiver) return;
    bar.from = name_of(*sender, event);
    bar.to = name_of(*receiver, event);
  }

  [[nodiscard]] const std::string& name_of(std::uint64_t rank, std::size_t event) const {
    if (rank < ranks_.size()) return ranks_[rank];
    refuse(event, fmt::format("rank {} is none of the {} hosts", rank, ranks_.size()));
  }

  const Json& trace_;
  std::string file_;
  std::vector<std::string> ranks_;
  std::map<std::uint64_t, std::string> lines_;
};

// Those that a page has room for, by start.
struct Selected {
  std::vector<Bar> bars;
  std::size_t every = 1;
};
Selected selected(std::vector<Bar> all) {
  const std::size_t every = (all.size() + render::kMostPageBars - 1) / render::kMostPageBars;
  Selected selected{std::move(all), std::max<std::size_t>(1, every)};
  std::erase_if(selected.bars, [&](const Bar& bar) { return bar.segment % selected.every != 0; });
  std::ranges::stable_sort(selected.bars, {}, &Bar::start);
  if (selected.bars.size() > render::kMostPageBars) selected.bars.resize(render::kMostPageBars);
  return selected;
}

Json index_of_tree(const Bar& bar) {
  return bar.tree ? Json(*bar.tree) : Json(-1);
}

// Converts times to millionths of the whole, a third of the text.
class Scale {
 public:
  explicit Scale(double end) : end_(end > 0 ? end : 1) {}
  [[nodiscard]] std::int64_t operator()(double time) const {
    return std::llround(time / end_ * 1e6);
  }

 private:
  double end_;
};

// A send may hold several resources, each with a bar; the longest says how long it takes.
Json hops_of(const std::vector<Bar>& bars, const Scale& scale, const std::string& file,
             const platforms::Platform& platform) {
  using Key = std::tuple<double, std::uint64_t, std::uint64_t, std::string, std::string>;
  std::map<Key, double> hops;
  for (const Bar& bar : bars) {
    if (bar.from.empty() || bar.to.empty()) continue;
    double& duration = hops[{bar.start, bar.tree.value_or(0), bar.segment, bar.from, bar.to}];
    duration = std::max(duration, bar.duration);
  }
  Json facts = Json::array();
  for (const auto& [key, duration] : hops) {
    const auto& [start, tree, segment, from, to] = key;
    const auto index = [&](const std::string& name) {
      const std::optional<NodeId> node = platform.find_node(name);
      if (!node) {
        throw InputError(file, {},
                         fmt::format("is of another network: {} has no node {}",
                                     in_quotes(platform.name()), in_quotes(name)));
      }
      return platforms::index_of(*node);
    };
    facts.push_back(Json{scale(start), scale(duration), tree, segment, index(from), index(to)});
  }
  return facts;
}

}  // namespace

Json trace_facts(const Json& trace, const std::string& file, const platforms::Platform& platform,
                 const std::vector<std::string>& ranks) {
  const TraceReader reader(trace, file, ranks);
  std::vector<Bar> all = reader.bars();
  double end = 0;
  for (const Bar& bar : all) end = std::max(end, bar.start + bar.duration);
  const std::size_t in_all = all.size();
  const auto [bars, every] = selected(std::move(all));
  const Scale scale(end);
  Json names = Json::array();
  std::map<std::uint64_t, std::size_t> places;
  for (const auto& [line, name] : reader.lines()) {
    places.emplace(line, names.size());
    names.push_back(name);
  }
  Json rows = Json::array();
  for (const Bar& bar : bars) {
    const auto place = places.find(bar.line);
    if (place == places.end()) continue;
    rows.push_back(Json{place->second, scale(bar.start), scale(bar.duration), index_of_tree(bar),
                        bar.segment});
  }
  constexpr double kMicroseconds = 1e6;
  return {{"file", file},
          {"end_s", end / kMicroseconds},
          {"bars_in_all", in_all},
          {"every", every},
          {"lines", std::move(names)},
          {"bars", std::move(rows)},
          {"hops", hops_of(bars, scale, file, platform)}};
}

std::vector<std::string> ranks_of_trace(const Json& trace) {
  std::vector<std::string> ranks;
  for (const auto& [line, name] : lines_of(trace)) {
    const std::optional<std::size_t> rank = rank_of(name);
    if (!rank || *rank > render::kMostPageBars) continue;
    ranks.resize(std::max(ranks.size(), *rank + 1));
    ranks[*rank] = name.substr(0, name.rfind(')') + 1);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].empty()) ranks[rank] = fmt::format("rank {}", rank);
  }
  return ranks;
}

platforms::Platform platform_of_trace(const Json& trace, const std::string& file) {
  platforms::PlatformBuilder builder(file);
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (const Bar& bar : TraceReader(trace, file, ranks_of_trace(trace)).bars()) {
    if (bar.from.empty() || bar.to.empty() || bar.from == bar.to) continue;
    const NodeId from = builder.node_named(bar.from);
    const NodeId to = builder.node_named(bar.to);
    if (pairs.emplace(from, to).second) {
      builder.add_arc({.from = from, .to = to, .bandwidth = {1}});
    }
  }
  return std::move(builder).build();
}

}  // namespace espalier::cli
