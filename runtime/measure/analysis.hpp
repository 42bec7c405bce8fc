// What the measurements say of the network: links, caps, shared links, and which contention model
// (docs/model.md) fits.
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
  double latency_s = 0;      // half a round trip, less the overhead
  double overhead_s = 0;     // time per message of a train of short ones
};

// How far a model is off what was measured. Rates x of flows that ran together load the model's
// resources to A x; each flow should fill one of those that it occupies, and none more than fill
// it. The factor by which the fullest resource of a flow is off 1, either way, is its error.
struct ModelFit {
  std::string_view model;  // as in docs/model.md
  double typical = 1;      // geometric mean over the experiments; 1 is a perfect fit
  double worst = 1;        // of a flow
};

struct Estimate {
  std::vector<std::string> nodes;  // names, a rank each
  std::vector<std::string>
      groups;               // the host, where several ranks share one and not all do; else ""
  std::vector<Link> links;  // each ordered pair that was measured, ascending
  std::vector<std::optional<double>> send_Bps;     // caps, where several at once came to less than
  std::vector<std::optional<double>> receive_Bps;  // their arcs would have let them
  std::vector<double> sender_s;  // what a short message keeps each rank's sending busy for
  std::vector<SharedLink> shared_links;
  std::vector<ModelFit> fits;  // every model, the simplest first
  std::size_t best = 0;        // the simplest of those that fit best
  double noise = 0;            // how far a repeat typically is off its median, as a share of it
  std::size_t disturbed = 0;   // arcs that were slower among others than alone
  std::size_t doubtful = 0;    // arcs that may have been disturbed and were not measured alone
};

// A pure function. Precondition: every rank of a flow is below hosts.size().
Estimate analyse(const Measurements& measurements);

// Names of ranks: their hosts up to the first dot, or whole, where they differ; else "rank0" and
// on.
std::vector<std::string> node_names(const std::vector<std::string>& hosts);

}  // namespace espalier::runtime::probe
