#include "simulate/pull/simulate_pull.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>

#include "engine/plan_blocks.hpp"
#include "engine/pull/puller.hpp"
#include "planner/problem/instance.hpp"
#include "simulate/model/agenda.hpp"
#include "simulate/pull/pull_links.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace espalier::simulate {

namespace {

namespace pull = engine::pull;

// How often a host looks at what has arrived: as the executor, which sleeps so long.
constexpr double kMostLook_s = 50e-6;
// But so often in the shortest time of a segment, and not more often than clocks tell times apart.
constexpr double kLooksPerSegment = 4;
constexpr double kLeastLook_s = 1e-9;
constexpr double kLeastLookPart = 1e-12;  // of the time since the beginning
// Of the time for which nothing has happened: until a host that has asked in vain asks again, where
// that is longer than Rule::poll_s. Otherwise slow networks would take as many steps as seconds.
constexpr double kPausePart = 0.05;
// Zero is "never" for the hosts' clocks.
constexpr double kEpoch_s = 1;
// As Bulletin::dead no host's own: nobody ends before the whole run does, when all are complete.
// The end takes only bulletins, and the hosts that do not know each other count each other as dead.
constexpr std::uint64_t kNotMine = 1;

class PullRun {
 public:
  PullRun(const planner::Instance& instance, const pull::PulledMessage& message, std::uint64_t seed,
          const OnPullTransfer& on_transfer);
  void run();
  // Only what happens in the run: times and numbers of messages.
  [[nodiscard]] const PullOutcome& outcome() const { return outcome_; }

 private:
  struct Told {
    double due_s;
    pull::Bulletin bulletin;
  };
  struct Sent {
    double due_s;
    std::uint32_t segment;
  };
  // What comes from one host to another.
  struct Channel {
    std::uint32_t lane = PullLinks::kNoLane;  // of segments
    bool exchanges = false;
    double latency_s = 0;
    double told_s = 0;  // the last bulletin
    std::deque<Told> bulletins{};
    std::deque<Sent> segments{};
  };
  struct Host {
    pull::Puller puller;
    double wakes_s = PullLinks::kNever_s;  // its valid entry in wakes_
    double asked_s = 0;                    // when it chose last
    double moved_s = 0;                    // when something happened last
  };
  struct Wake {
    double at_s;
    std::uint32_t host;
    bool operator>(const Wake& other) const {
      return at_s > other.at_s || (at_s == other.at_s && host > other.host);
    }
  };

  // How far apart a host's looks are.
  [[nodiscard]] double look_s(double at_s) const {
    return std::max(least_look_s_, at_s * kLeastLookPart);
  }
  [[nodiscard]] static double asks_again_s(const Host& host) {
    const double quiet_s = host.asked_s - host.moved_s;
    return host.asked_s + std::max(pull::Rule{}.poll_s, kPausePart * quiet_s);
  }
  [[nodiscard]] Channel& channel(std::size_t from, std::size_t to) {
    return channels_[from * hosts_.size() + to];
  }
  void connect(std::optional<std::size_t> source);
  // Throws InfeasibleError.
  void require_connected(const platforms::Platform& platform);
  void wake(std::uint32_t host, double at_s);
  void pass(double now_s);
  void act(std::uint32_t host, double now_s);
  bool take_arrivals(std::uint32_t host, double now_s);
  bool take_segments(std::uint32_t from, std::uint32_t to, double now_s);
  bool take_bulletins(std::uint32_t from, std::uint32_t to, double now_s);
  void ask(Host& host, bool has_moved, double now_s);
  void tell(std::uint32_t host, double now_s);
  void plan_next(std::uint32_t host, double now_s);

  PullLinks links_;
  const OnPullTransfer& on_transfer_;
  double least_look_s_;
  std::vector<Host> hosts_;
  std::vector<Channel> channels_;
  Earliest<Wake> wakes_;
  std::size_t incomplete_ = 0;
  PullOutcome outcome_{};
};

PullRun::PullRun(const planner::Instance& instance, const pull::PulledMessage& message,
                 std::uint64_t seed, const OnPullTransfer& on_transfer)
    : links_(instance, message),
      on_transfer_(on_transfer),
      least_look_s_(std::clamp(links_.shortest_s() / kLooksPerSegment, kLeastLook_s, kMostLook_s)),
      channels_(instance.host_count() * instance.host_count()) {
  for (std::size_t host = 0; host < instance.host_count(); ++host) {
    hosts_.push_back({.puller = pull::Puller({.ranks = instance.host_count(),
                                              .rank = host,
                                              .message = message,
                                              .seed = seed + host * 0x9e3779b97f4a7c15})});
  }
  connect(message.source());
  if (!message.source()) require_connected(instance.platform());
  outcome_.done.resize(hosts_.size());
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].puller.is_complete()) continue;
    ++incomplete_;
    wake(host, kEpoch_s);
  }
}

// Hosts without a path between them are dead to each other; and to hosts that it does not reach, so
// is who has something from the beginning, because they would otherwise ask it first.
void PullRun::connect(std::optional<std::size_t> source) {
  const std::size_t count = hosts_.size();
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      Channel& way = channel(from, to);
      way.lane = links_.lane(from, to);
      const std::uint32_t back = links_.lane(to, from);
      const bool goes = way.lane != PullLinks::kNoLane;
      const bool comes = back != PullLinks::kNoLane;
      const bool from_has = !source || from == source;
      const bool to_has = !source || to == source;
      way.exchanges = (goes || comes) && (goes || !from_has) && (comes || !to_has);
      if (way.exchanges) {
        way.latency_s = links_.latency_s(goes ? way.lane : back);
      } else {
        hosts_[to].puller.died(from);
      }
    }
  }
}

void PullRun::require_connected(const platforms::Platform& platform) {
  std::vector<std::size_t> reached{0};
  std::vector<bool> is_reached(hosts_.size());
  is_reached[0] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (std::size_t to = 0; to < hosts_.size(); ++to) {
      if (is_reached[to] || !channel(reached[i], to).exchanges) continue;
      is_reached[to] = true;
      reached.push_back(to);
    }
  }
  if (reached.size() == hosts_.size()) return;
  const auto apart = std::ranges::find(is_reached, false) - is_reached.begin();
  const auto name = [&](std::size_t host) { return platform.node(platform.hosts()[host]).name; };
  throw InfeasibleError(fmt::format("'{}' and '{}' do not reach each other, both ways",
                                    printable(name(0)),
                                    printable(name(static_cast<std::size_t>(apart)))));
}

// At the next time that the host looks.
void PullRun::wake(std::uint32_t index, double at_s) {
  const double apart_s = look_s(at_s);
  const double wakes_s = std::ceil(at_s / apart_s) * apart_s;
  Host& host = hosts_[index];
  if (!(wakes_s < host.wakes_s)) return;
  host.wakes_s = wakes_s;
  wakes_.push({wakes_s, index});
}

void PullRun::run() {
  while (incomplete_ > 0) {
    const double passes_s = links_.next_s();
    const double wakes_s = wakes_.empty() ? PullLinks::kNever_s : wakes_.top().at_s;
    const double now_s = std::min(passes_s, wakes_s);
    while (links_.next_s() <= now_s) pass(now_s);
    while (!wakes_.empty() && wakes_.top().at_s <= now_s) {
      const auto [at_s, host] = wakes_.top();
      wakes_.pop();
      if (at_s != hosts_[host].wakes_s) continue;
      hosts_[host].wakes_s = PullLinks::kNever_s;
      act(host, now_s);
    }
    links_.update(now_s);
  }
}

void PullRun::pass(double now_s) {
  const PullLinks::Passed passed = links_.pass();
  if (passed.lane == PullLinks::kNoLane) return;
  Channel& way = channel(passed.from, passed.to);
  way.segments.push_back({now_s + way.latency_s, passed.segment});
  wake(passed.to, way.segments.back().due_s);
  if (!on_transfer_) return;
  on_transfer_({passed.from,
                passed.to,
                passed.segment,
                {passed.begun_s - kEpoch_s},
                {now_s - passed.begun_s},
                links_.needs(passed.lane)});
}

void PullRun::act(std::uint32_t index, double now_s) {
  Host& host = hosts_[index];
  const bool has_moved = take_arrivals(index, now_s);
  if (has_moved) host.moved_s = now_s;
  for (const auto& [reader, segment] : host.puller.take_due()) {
    links_.send(channel(index, reader).lane, segment, now_s);
  }
  if (!host.puller.is_complete()) ask(host, has_moved, now_s);
  tell(index, now_s);
  plan_next(index, now_s);
}

bool PullRun::take_arrivals(std::uint32_t index, double now_s) {
  const bool was_complete = hosts_[index].puller.is_complete();
  bool any = false;
  for (std::uint32_t from = 0; from < hosts_.size(); ++from) {
    if (take_segments(from, index, now_s)) any = true;
    if (take_bulletins(from, index, now_s)) any = true;
  }
  if (!was_complete && hosts_[index].puller.is_complete()) {
    --incomplete_;
    outcome_.done[index] = {now_s - kEpoch_s};
  }
  return any;
}

bool PullRun::take_segments(std::uint32_t from, std::uint32_t to, double now_s) {
  std::deque<Sent>& segments = channel(from, to).segments;
  bool any = false;
  for (; !segments.empty() && segments.front().due_s <= now_s; segments.pop_front()) {
    const std::uint32_t segment = segments.front().segment;
    hosts_[to].puller.arrived(from, segment, now_s);
    // tell() leaves that out of what `from` hears.
    if (channel(to, from).lane == PullLinks::kNoLane) {
      hosts_[from].puller.delivered(to, segment, now_s);
      wake(from, now_s + look_s(now_s) / 2);
    }
    any = true;
  }
  return any;
}

bool PullRun::take_bulletins(std::uint32_t from, std::uint32_t to, double now_s) {
  std::deque<Told>& bulletins = channel(from, to).bulletins;
  bool any = false;
  for (; !bulletins.empty() && bulletins.front().due_s <= now_s; bulletins.pop_front()) {
    hosts_[to].puller.hear(from, bulletins.front().bulletin, now_s);
    any = true;
  }
  return any;
}

void PullRun::ask(Host& host, bool has_moved, double now_s) {
  if (!has_moved && now_s < asks_again_s(host)) return;
  outcome_.requests += host.puller.choose(now_s).size();
  host.asked_s = now_s;
}

void PullRun::tell(std::uint32_t index, double now_s) {
  pull::Puller& puller = hosts_[index].puller;
  for (std::uint32_t to = 0; to < hosts_.size(); ++to) {
    Channel& way = channel(index, to);
    if (!way.exchanges || !puller.has_news_for(to, now_s)) continue;
    pull::Bulletin bulletin = puller.take_news_for(to, now_s);
    bulletin.dead = kNotMine;
    // Who cannot serve the reader may compete with it, but has nothing for it.
    if (way.lane == PullLinks::kNoLane) {
      std::erase_if(bulletin.news,
                    [](const pull::NewsItem& item) { return item.kind == pull::News::kHave; });
    }
    way.told_s = now_s;
    way.bulletins.push_back({now_s + way.latency_s, std::move(bulletin)});
    ++outcome_.bulletins;
    wake(to, now_s + std::max(way.latency_s, look_s(now_s) / 2));
  }
}

// Sets when the host looks again: at the next arrival that is in flight already, when it asks
// again, or when news have waited for others long enough. A call of wake() while another time is
// set that is earlier has no effect, so all of this is gathered here.
void PullRun::plan_next(std::uint32_t index, double now_s) {
  const Host& host = hosts_[index];
  const double quiet_s = pull::Rule{}.quiet_s * static_cast<double>(hosts_.size());
  const bool has_news = host.puller.kept_news() > 0;
  double next_s = host.puller.is_complete() ? PullLinks::kNever_s : asks_again_s(host);
  for (std::uint32_t other = 0; other < hosts_.size(); ++other) {
    const Channel& from = channel(other, index);
    if (!from.exchanges) continue;
    if (!from.segments.empty()) next_s = std::min(next_s, from.segments.front().due_s);
    if (!from.bulletins.empty()) next_s = std::min(next_s, from.bulletins.front().due_s);
    const double heard_s = channel(index, other).told_s + quiet_s;
    if (has_news && heard_s > now_s) next_s = std::min(next_s, heard_s);
  }
  if (next_s < PullLinks::kNever_s) wake(index, std::max(next_s, now_s + look_s(now_s) / 2));
}

}  // namespace

pull::PulledMessage pulled_message(const platforms::Platform& platform,
                                   std::optional<platforms::NodeId> source, Bytes message,
                                   std::optional<Bytes> segment) {
  const planner::SegmentGrid grid =
      pull::grid_of(message.value, segment ? std::optional(segment->value) : std::nullopt);
  if (source) return {planner::host_numbers(platform)[index_of(*source)], grid};
  std::vector<pull::PulledMessage::Block> blocks;
  for (const std::size_t bytes : engine::divided_equally(message.value, platform.hosts().size())) {
    blocks.push_back({blocks.size(), bytes});
  }
  return {blocks, grid.segment};
}

PullOutcome simulate_pull(const platforms::Platform& platform,
                          std::optional<platforms::NodeId> source, platforms::Model model,
                          Bytes message, const PullOptions& options,
                          const OnPullTransfer& on_transfer) {
  const pull::PulledMessage pulled = pulled_message(platform, source, message, options.segment);
  pull::require_few_segments(pulled);
  const planner::Instance instance(platform, source.value_or(platform.hosts().front()), model,
                                   {.segment = {pulled.segment_bytes()}});
  PullRun run(instance, pulled, options.seed, on_transfer);
  run.run();
  PullOutcome outcome = run.outcome();
  outcome.segment = {pulled.segment_bytes()};
  outcome.segments = pulled.segments();
  outcome.makespan = std::ranges::max(outcome.done);
  if (message.value > 0) {
    outcome.achieved = {static_cast<double>(message.value) / outcome.makespan.value};
  }
  return outcome;
}

}  // namespace espalier::simulate
