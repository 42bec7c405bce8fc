#include "runtime/measure/model_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace espalier::runtime::probe {
namespace {

constexpr std::string_view kOnePort = "one-port";
constexpr std::string_view kUnidirectional = "one-port-unidirectional";
constexpr std::string_view kMultiPort = "multi-port";
constexpr std::string_view kBounded = "bounded-multi-port";
// The simplest first: with the fewest fitted values.
constexpr std::array<std::string_view, 4> kModels = {kOnePort, kUnidirectional, kMultiPort,
                                                     kBounded};
constexpr double kClearlyBetter = 0.02;
constexpr double kSendShare = 0.8;  // of the fastest link's time, for a sender without a cap

// The first link that is not before these ends.
auto first_link_from(const Estimate& estimate, const Flow& ends) {
  return std::ranges::lower_bound(estimate.links, ends, {}, &Link::ends);
}

class Loads {
 public:
  Loads(const Estimate& estimate, std::string_view model)
      : estimate_(&estimate),
        model_(model),
        out_(ranks()),
        in_(ranks()),
        shared_links_(shared_links().size()) {}

  void add(const Link& link, double rate_Bps) {
    const auto [from, to] = link.ends;
    const double busy = rate_Bps / link.bandwidth_Bps;
    if (model_ == kOnePort || model_ == kUnidirectional) {
      out_[from] += busy;
      in_[to] += busy;
    } else if (model_ == kMultiPort) {
      out_[from] += rate_Bps / send_rate_bps(from);
    } else {
      if (const auto cap = estimate_->send_Bps[from]) out_[from] += rate_Bps / *cap;
      if (const auto cap = estimate_->receive_Bps[to]) in_[to] += rate_Bps / *cap;
    }
    for (std::size_t i = 0; i < shared_links().size(); ++i) {
      if (crosses(link.ends, shared_links()[i]))
        shared_links_[i] += rate_Bps / shared_links()[i].bandwidth_Bps;
    }
  }

  [[nodiscard]] double fullest(const Link& link, double rate_Bps) const {
    const auto [from, to] = link.ends;
    double most = std::max(out_[from], in_[to]);
    if (model_ == kUnidirectional) most = std::max(out_[from] + in_[from], out_[to] + in_[to]);
    if (model_ == kMultiPort || model_ == kBounded) {
      most = std::max(most, rate_Bps / link.bandwidth_Bps);
    }
    for (std::size_t i = 0; i < shared_links().size(); ++i) {
      if (crosses(link.ends, shared_links()[i])) most = std::max(most, shared_links_[i]);
    }
    return most;
  }

 private:
  [[nodiscard]] std::size_t ranks() const { return estimate_->nodes.size(); }
  [[nodiscard]] const std::vector<SharedLink>& shared_links() const {
    return estimate_->shared_links;
  }
  static bool crosses(const Flow& arc, const SharedLink& shared_link) {
    return std::binary_search(shared_link.arcs.begin(), shared_link.arcs.end(), arc);
  }
  [[nodiscard]] double send_rate_bps(std::size_t rank) const {
    if (const auto cap = estimate_->send_Bps[rank]) return *cap;
    double fastest = 0;
    for (auto link = first_link_from(*estimate_, {rank, 0});
         link != estimate_->links.end() && link->ends.from == rank; ++link) {
      fastest = std::max(fastest, link->bandwidth_Bps);
    }
    return fastest / kSendShare;
  }

  const Estimate* estimate_;
  std::string_view model_;
  std::vector<double> out_;
  std::vector<double> in_;
  std::vector<double> shared_links_;
};

const Link* link_of(const Estimate& estimate, const Flow& ends) {
  const auto found = first_link_from(estimate, ends);
  return found == estimate.links.end() || found->ends != ends ? nullptr : &*found;
}

bool is_fan(Purpose purpose) {
  return purpose == Purpose::kFanOut || purpose == Purpose::kFanIn;
}

bool has_unlike_arcs(const Estimate& estimate, const Experiment& experiment) {
  const auto rate = [&](const Flow& flow) {
    const Link* link = link_of(estimate, flow);
    return link ? link->bandwidth_Bps : 0;
  };
  const auto [least, most] = std::ranges::minmax(experiment.flows, {}, rate);
  return rate(most) > (1 + kClearlyBetter) * rate(least);
}

// The experiments that can tell models apart. Fans of equal arcs cannot tell one-port from bounded
// multi-port; if there are others, which may be few, they do not count.
std::vector<const Experiment*> telling(const Measurements& measurements, const Estimate& estimate) {
  std::vector<const Experiment*> all;
  std::vector<const Experiment*> unlike;
  bool has_unlike_fans = false;
  for (const Experiment& experiment : measurements.experiments) {
    const bool fan = is_fan(experiment.purpose);
    if (!fan && experiment.purpose != Purpose::kBothWays) continue;
    all.push_back(&experiment);
    if (fan && !has_unlike_arcs(estimate, experiment)) continue;
    unlike.push_back(&experiment);
    has_unlike_fans = has_unlike_fans || fan;
  }
  return has_unlike_fans ? unlike : all;
}

// Absolute logarithms of the errors of an experiment's flows.
std::vector<double> errors_of(const Estimate& estimate, std::string_view model,
                              const Experiment& experiment) {
  std::vector<Flow> flows;
  std::vector<double> rates;
  for (std::size_t flow = 0; flow < experiment.flows.size(); ++flow) {
    const double rate = experiment.rate_bps(flow);
    if (rate <= 0 || !link_of(estimate, experiment.flows[flow])) continue;
    flows.push_back(experiment.flows[flow]);
    rates.push_back(rate);
  }
  std::vector<double> errors = fullest_loads(estimate, model, flows, rates);
  for (double& error : errors) error = std::abs(std::log(error));
  return errors;
}

}  // namespace

std::vector<double> fullest_loads(const Estimate& estimate, std::string_view model,
                                  const std::vector<Flow>& flows,
                                  const std::vector<double>& rates_Bps) {
  Loads loads(estimate, model);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    loads.add(*link_of(estimate, flows[i]), rates_Bps[i]);
  }
  std::vector<double> fullest;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    fullest.push_back(loads.fullest(*link_of(estimate, flows[i]), rates_Bps[i]));
  }
  return fullest;
}

void fit_models(const Measurements& measurements, Estimate& estimate) {
  estimate.fits.clear();
  const std::vector<const Experiment*> experiments = telling(measurements, estimate);
  std::vector<double> means;
  double doubt = kClearlyBetter;
  for (const std::string_view model : kModels) {
    double sum = 0;
    double worst = 0;
    std::size_t count = 0;
    for (const Experiment* experiment : experiments) {
      for (const double error : errors_of(estimate, model, *experiment)) {
        sum += error;
        worst = std::max(worst, error);
        ++count;
      }
    }
    means.push_back(count > 0 ? sum / static_cast<double>(count) : 0);
    if (count > 0) {
      doubt = std::max(kClearlyBetter, estimate.noise / std::sqrt(static_cast<double>(count)));
    }
    estimate.fits.push_back({model, std::exp(means.back()), std::exp(worst)});
  }
  const double least = *std::min_element(means.begin(), means.end());
  const auto simplest =
      std::find_if(means.begin(), means.end(), [&](double mean) { return mean <= least + doubt; });
  estimate.best = static_cast<std::size_t>(simplest - means.begin());
}

}  // namespace espalier::runtime::probe
