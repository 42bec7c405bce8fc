#include "runtime/pull/learnt_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace espalier::runtime {
namespace {

using engine::pull::Traffic;
using Series = std::vector<double>;  // bytes by bin

constexpr std::size_t kWindowsPerMessage = 16;
// A cut is kept if it carried less than this of what its links and ends did.
constexpr double kClearlyLess = 0.85;
constexpr std::size_t kMostNamed = 4;

void add(Series& to, const Series& more) {
  std::ranges::transform(to, more, to.begin(), std::plus<>());
}

Series difference(Series from, const Series& less) {
  std::ranges::transform(from, less, from.begin(), std::minus<>());
  return from;
}

// Ranks, with what they and their links carried.
struct Cluster {
  std::vector<std::size_t> ranks;
  Series in;  // from all ranks, of all these together
  Series out;
  Series within;
  double receive_Bps = 0;  // sums
  double send_Bps = 0;
  double links_in_Bps = 0;
  double links_out_Bps = 0;
  double links_within_Bps = 0;
};

class Learner {
 public:
  explicit Learner(std::span<const Traffic> received);
  LearntNetwork run();

 private:
  [[nodiscard]] Series series_of(std::size_t from, std::size_t to) const;
  [[nodiscard]] double reached(const Series& series) const;
  void measure_ranks();
  void find_cuts();
  [[nodiscard]] Cluster joined(const Cluster& a, const Cluster& b) const;
  void look_at(const Cluster& cluster);
  void keep_cut(const Cluster& cluster, bool is_inward, const Series& across, double links_Bps);
  [[nodiscard]] double nearness(std::size_t a, std::size_t b) const;

  std::span<const Traffic> received_;
  std::size_t ranks_;
  double bin_s_ = 1;
  double end_s_ = 0;
  std::size_t bins_ = 0;
  LearntNetwork network_;
  std::vector<Cluster> clusters_;
  double all_sent_Bps_ = 0;
  double all_received_Bps_ = 0;
};

Learner::Learner(std::span<const Traffic> received) : received_(received), ranks_(received.size()) {
  for (const Traffic& traffic : received) end_s_ = std::max(end_s_, traffic.end_s());
  if (ranks_ > 0) bin_s_ = received.front().bin_s();
  bins_ = std::min(static_cast<std::size_t>(end_s_ / bin_s_) + 1, Traffic::kMostBins);
}

LearntNetwork Learner::run() {
  network_.send_Bps.resize(ranks_);
  network_.receive_Bps.resize(ranks_);
  network_.link_Bps.resize(ranks_ * ranks_);
  if (end_s_ <= 0) return network_;
  measure_ranks();
  find_cuts();
  return network_;
}

Series Learner::series_of(std::size_t from, std::size_t to) const {
  Series series(bins_);
  for (std::size_t bin = 0; bin < bins_; ++bin) series[bin] = received_[to].at(bin, from).bytes;
  return series;
}

// The mean counts, too: it was held for the whole time.
double Learner::reached(const Series& series) const {
  const std::size_t window = std::max<std::size_t>(bins_ / kWindowsPerMessage, 1);
  std::vector<double> sums;
  double sum = 0;
  for (std::size_t bin = 0; bin < bins_; ++bin) {
    sum += series[bin];
    if (bin >= window) sum -= series[bin - window];
    if (bin + 1 >= window) sums.push_back(sum);
  }
  const auto best =
      sums.begin() + static_cast<std::ptrdiff_t>(std::min(window / 2, sums.size() - 1));
  std::ranges::nth_element(sums, best, std::greater<>());
  const double total = std::reduce(series.begin(), series.end());
  return std::max(*best / (static_cast<double>(window) * bin_s_), total / end_s_);
}

void Learner::measure_ranks() {
  const Series nothing(bins_);
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    clusters_.push_back({{rank}, nothing, nothing, nothing});
  }
  for (std::size_t from = 0; from < ranks_; ++from) {
    for (std::size_t to = 0; to < ranks_; ++to) {
      if (from == to) continue;
      const Series series = series_of(from, to);
      const double rate = reached(series);
      network_.link_Bps[from * ranks_ + to] = rate;
      add(clusters_[from].out, series);
      add(clusters_[to].in, series);
      clusters_[from].links_out_Bps += rate;
      clusters_[to].links_in_Bps += rate;
    }
  }
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    Cluster& one = clusters_[rank];
    network_.send_Bps[rank] = one.send_Bps = reached(one.out);
    network_.receive_Bps[rank] = one.receive_Bps = reached(one.in);
    all_sent_Bps_ += one.send_Bps;
    all_received_Bps_ += one.receive_Bps;
  }
}

// The rate between two ranks while segments were on their way, in both directions.
double Learner::nearness(std::size_t a, std::size_t b) const {
  double rates = 0;
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    Traffic::Cell sum;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      sum.bytes += received_[to].at(bin, from).bytes;
      sum.busy_s += received_[to].at(bin, from).busy_s;
    }
    if (sum.busy_s > 0) rates += sum.bytes / sum.busy_s;
  }
  return rates;
}

// Joins the nearest clusters (average linkage) until two are left, and looks at what each cluster
// exchanged with all other ranks.
void Learner::find_cuts() {
  std::vector<std::vector<double>> near(ranks_, std::vector<double>(ranks_));
  for (std::size_t a = 0; a < ranks_; ++a) {
    for (std::size_t b = 0; b < a; ++b) near[a][b] = near[b][a] = nearness(a, b);
  }
  std::vector<std::size_t> left(ranks_);
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (left.size() > 2) {
    std::pair<std::size_t, std::size_t> best{0, 1};
    const auto mean = [&](std::size_t i, std::size_t j) {
      const std::size_t pairs = clusters_[left[i]].ranks.size() * clusters_[left[j]].ranks.size();
      return near[left[i]][left[j]] / static_cast<double>(pairs);
    };
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = i + 1; j < left.size(); ++j) {
        if (mean(i, j) > mean(best.first, best.second)) best = {i, j};
      }
    }
    const std::size_t kept = left[best.first];
    const std::size_t gone = left[best.second];
    clusters_[kept] = joined(clusters_[kept], clusters_[gone]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best.second));
    for (const std::size_t other : left) near[kept][other] = near[other][kept] += near[gone][other];
    look_at(clusters_[kept]);
  }
}

Cluster Learner::joined(const Cluster& a, const Cluster& b) const {
  Cluster both = a;
  add(both.in, b.in);
  add(both.out, b.out);
  add(both.within, b.within);
  for (const std::size_t one : a.ranks) {
    for (const std::size_t other : b.ranks) {
      add(both.within, series_of(one, other));
      add(both.within, series_of(other, one));
      both.links_within_Bps += network_.link(one, other) + network_.link(other, one);
    }
  }
  both.receive_Bps += b.receive_Bps;
  both.send_Bps += b.send_Bps;
  both.links_in_Bps += b.links_in_Bps;
  both.links_out_Bps += b.links_out_Bps;
  both.links_within_Bps += b.links_within_Bps;
  both.ranks.insert(both.ranks.end(), b.ranks.begin(), b.ranks.end());
  std::ranges::sort(both.ranks);
  return both;
}

void Learner::look_at(const Cluster& cluster) {
  const double others_send_Bps = all_sent_Bps_ - cluster.send_Bps;
  const double others_receive_Bps = all_received_Bps_ - cluster.receive_Bps;
  keep_cut(cluster, true, difference(cluster.in, cluster.within),
           std::min({cluster.links_in_Bps - cluster.links_within_Bps, others_send_Bps,
                     cluster.receive_Bps}));
  keep_cut(cluster, false, difference(cluster.out, cluster.within),
           std::min({cluster.links_out_Bps - cluster.links_within_Bps, others_receive_Bps,
                     cluster.send_Bps}));
}

void Learner::keep_cut(const Cluster& cluster, bool is_inward, const Series& across,
                       double links_Bps) {
  const double rate = reached(across);
  if (rate <= 0 || rate >= kClearlyLess * links_Bps) return;
  network_.cuts.push_back({cluster.ranks, is_inward, rate});
}

std::string listed(std::span<const std::size_t> ranks, std::span<const std::string> names) {
  std::vector<std::string> listed;
  for (const std::size_t rank : ranks.first(std::min(ranks.size(), kMostNamed))) {
    listed.push_back(names[rank]);
  }
  if (ranks.size() > kMostNamed) {
    listed.push_back(fmt::format("{} more", ranks.size() - kMostNamed));
  }
  return fmt::format("{}", fmt::join(listed, ", "));
}

// Its arcs, ascending.
std::vector<probe::Flow> arcs_of(const LearntNetwork::Cut& cut, std::size_t ranks) {
  std::vector<probe::Flow> arcs;
  for (std::size_t from = 0; from < ranks; ++from) {
    const bool from_inside = std::ranges::binary_search(cut.ranks, from);
    if (from_inside == cut.is_inward) continue;
    for (std::size_t to = 0; to < ranks; ++to) {
      if (std::ranges::binary_search(cut.ranks, to) == cut.is_inward) arcs.push_back({from, to});
    }
  }
  return arcs;
}

// The least rates of links that carried something.
struct LeastRates {
  explicit LeastRates(const LearntNetwork& network)
      : out(network.ranks(), kNone), in(network.ranks(), kNone) {
    for (std::size_t from = 0; from < network.ranks(); ++from) {
      for (std::size_t to = 0; to < network.ranks(); ++to) {
        const double rate = network.link(from, to);
        if (rate <= 0) continue;
        for (double* const least : {&out[from], &in[to], &all}) *least = std::min(*least, rate);
      }
    }
  }
  // For a link that carried nothing; 0 if none did.
  [[nodiscard]] double beside(std::size_t from, std::size_t to) const {
    const double least = std::min(out[from], in[to]);
    if (least < kNone) return least;
    return all < kNone ? all : 0;
  }

  static constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> out;  // by rank
  std::vector<double> in;
  double all = kNone;
};

}  // namespace

std::size_t LearntNetwork::links_used() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(link_Bps, [](double rate) { return rate > 0; }));
}

LearntNetwork learn_network(std::span<const Traffic> received) {
  return Learner(received).run();
}

LearntBound bound_of(const LearntNetwork& network, std::span<const double> shares,
                     std::span<const std::string> names) {
  constexpr double kRounding = 1e-9;
  LearntBound bound;
  // times: how often the message must pass what has this rate.
  const auto limit = [&](double rate_Bps, double times, const std::function<std::string()>& what) {
    const double rate = rate_Bps / times;
    if (rate_Bps <= 0 || times < kRounding) return;
    if (bound.rate_Bps > 0 && rate >= bound.rate_Bps) return;
    bound = {rate, what()};
  };
  double all_sent = 0;
  for (std::size_t rank = 0; rank < network.ranks(); ++rank) {
    all_sent += network.send_Bps[rank];
    limit(network.send_Bps[rank], shares[rank],
          [&] { return fmt::format("{} sends", names[rank]); });
    limit(network.receive_Bps[rank], 1 - shares[rank],
          [&] { return fmt::format("{} receives", names[rank]); });
  }
  limit(all_sent, static_cast<double>(network.ranks()) - 1,
        [] { return std::string("all ranks send together"); });
  for (const LearntNetwork::Cut& cut : network.cuts) {
    double inside = 0;
    for (const std::size_t rank : cut.ranks) inside += shares[rank];
    limit(cut.rate_Bps, cut.is_inward ? 1 - inside : inside, [&] {
      return fmt::format("{} {}", listed(cut.ranks, names),
                         cut.is_inward ? "receive from the others" : "send to the others");
    });
  }
  return bound;
}

LearntNetwork among_ranks(const LearntNetwork& hosts, std::span<const std::size_t> host_of) {
  constexpr double kFasterWithin = 10;
  const std::size_t ranks = host_of.size();
  std::vector<std::vector<std::size_t>> ranks_of(hosts.ranks());
  for (std::size_t rank = 0; rank < ranks; ++rank) ranks_of[host_of[rank]].push_back(rank);
  double fastest = 0;
  for (std::size_t host = 0; host < hosts.ranks(); ++host) {
    fastest = std::max({fastest, hosts.send_Bps[host], hosts.receive_Bps[host]});
  }
  LearntNetwork network{std::vector<double>(ranks),
                        std::vector<double>(ranks),
                        std::vector<double>(ranks * ranks),
                        {}};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      network.link_Bps[from * ranks + to] = host_of[from] == host_of[to]
                                                ? kFasterWithin * fastest
                                                : hosts.link(host_of[from], host_of[to]);
    }
  }
  for (std::size_t host = 0; host < hosts.ranks(); ++host) {
    if (ranks_of[host].size() == 1) {
      network.send_Bps[ranks_of[host].front()] = hosts.send_Bps[host];
      network.receive_Bps[ranks_of[host].front()] = hosts.receive_Bps[host];
      continue;
    }
    for (const bool is_inward : {false, true}) {
      const double rate = is_inward ? hosts.receive_Bps[host] : hosts.send_Bps[host];
      if (rate > 0) network.cuts.push_back({ranks_of[host], is_inward, rate});
    }
  }
  for (const LearntNetwork::Cut& cut : hosts.cuts) {
    LearntNetwork::Cut of_ranks{{}, cut.is_inward, cut.rate_Bps};
    for (const std::size_t host : cut.ranks) {
      of_ranks.ranks.insert(of_ranks.ranks.end(), ranks_of[host].begin(), ranks_of[host].end());
    }
    std::ranges::sort(of_ranks.ranks);
    network.cuts.push_back(std::move(of_ranks));
  }
  return network;
}

probe::Estimate estimate_of(const LearntNetwork& network, std::vector<std::string> names) {
  const std::size_t ranks = network.ranks();
  probe::Estimate estimate;
  estimate.nodes = std::move(names);
  estimate.groups.resize(ranks);
  const auto known = [](double rate) { return rate > 0 ? std::optional(rate) : std::nullopt; };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    estimate.send_Bps.push_back(known(network.send_Bps[rank]));
    estimate.receive_Bps.push_back(known(network.receive_Bps[rank]));
  }
  const LeastRates least(network);
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const double used = network.link(from, to);
      const double rate = used > 0 ? used : least.beside(from, to);
      if (rate > 0) estimate.links.push_back({{from, to}, rate, 0, 0});
    }
  }
  for (const LearntNetwork::Cut& cut : network.cuts) {
    estimate.shared_links.push_back({arcs_of(cut, ranks), cut.rate_Bps});
  }
  return estimate;
}

}  // namespace espalier::runtime
