// Derives the network from the measurements: links, caps, shared links, and the contention model
// (docs/model.md) that fits.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/measure/measurements.hpp"
#include "runtime/measure/shared_links.hpp"

namespace espalier::runtime::probe {

struct Link {
  Flow ends;
  double bandwidth_Bps = 0;  // of a message without its overhead
  double latency_s = 0;      // half a round trip, minus the overhead
  double overhead_s = 0;     // time per message in a train of short ones
};

// The error of a model. The rates x of simultaneous flows load the model's resources to A x; each
// flow should saturate one of the resources that it occupies, and overload none. A flow's error is
// the factor by which the load of its fullest resource differs from 1, in either direction.
struct ModelFit {
  std::string_view model;  // as in docs/model.md
  double typical = 1;      // geometric mean over the experiments; 1 is a perfect fit
  double worst = 1;        // of a flow
};

struct Estimate {
  std::vector<std::string> nodes;   // one name per rank
  std::vector<std::string> groups;  // host, if several but not all ranks share one; otherwise ""
  std::vector<Link> links;          // ordered pairs that were measured or inferred, ascending
  std::size_t measured = 0;         // of the links
  std::vector<std::optional<double>> send_Bps;     // caps, set where simultaneous flows
  std::vector<std::optional<double>> receive_Bps;  // carried less than their arcs allow
  std::vector<double> sender_s;                    // per rank: sender's time per short message
  std::vector<SharedLink> shared_links;
  std::vector<ModelFit> fits;  // all models, the simplest first
  std::size_t best = 0;        // index of the simplest of the best-fitting models
  double noise = 0;            // typical relative deviation of a repeat from its median
  std::size_t disturbed = 0;   // arcs that were slower beside other flows than alone
  std::size_t doubtful = 0;    // arcs that may have been disturbed and were not measured alone
};

// A pure function. Precondition: every rank of a flow is below hosts.size().
Estimate analyse(const Measurements& measurements);

// Names of ranks: their hosts' names up to the first dot, or in full, if these are distinct;
// otherwise "rank0", "rank1" and so on.
std::vector<std::string> node_names(const std::vector<std::string>& hosts);

}  // namespace espalier::runtime::probe
