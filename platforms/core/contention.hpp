// Contention models: the resources that a byte occupies while it crosses an arc, and for how long.
//
// The planner is based on one sparse matrix (docs/model.md):
//     A[r, e] = seconds for which one byte on arc e occupies resource r.
// A tree with arc set x has throughput 1 / max_r (A x)_r; rates lambda_T are feasible iff sum
// lambda_T A x_T <= 1.
#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

enum class Model : std::uint8_t {
  // T of an arc is 1 / bandwidth, in seconds per byte.
  kOnePort,  // Bhat et al., bidirectional: one send and one receive at a time, which may overlap
  kOnePortUnidirectional,  // one transfer at a time, either a send or a receive
  kMultiPort,              // Bar-Noy et al.: a byte occupies the sender for s_u and the link for T
  kBoundedMultiPort,       // caps out of and into a node; a byte occupies the link for T
  kMultiPortProcessor,     // Banikazemi et al.: a byte occupies the sender's processor for s_u, the
                           // link for T, and the receiver's processor for r_v
};

// Whether a node has one port, which a transfer occupies for its whole duration, with overheads.
inline bool is_one_port(Model model) {
  return model == Model::kOnePort || model == Model::kOnePortUnidirectional;
}

struct ModelEntry {
  Model model;
  std::string_view name;     // "one-port"
  std::string_view summary;  // one line
  std::string_view source;   // paper
};
// All models, in the order of help and `list`.
std::span<const ModelEntry> models();
std::string_view name_of(Model model);
// Throws InputError that suggests the nearest name.
Model parse_model(std::string_view name);

struct OccupationOptions {
  Bytes segment{0};  // 0: overheads are ignored (infinitely long segments)
  // Bhat's affine one-port model: latency adds to overhead. Needs a segment size.
  bool latency_occupies = false;
  // The platform is a reversed one (platforms/core/reversed.hpp): data crosses an arc from its head
  // to its tail, and the sender is at the head. This matters only where senders and receivers take
  // different times: multi-port and multi-port-processor.
  bool reversed = false;
  // What all transfers together may cost per second, > 0, in the platform's currency: a resource
  // that a byte occupies for price / money seconds on each link of its way (docs/model.md,
  // "Money is a resource"). Unset, or where no link has a price: no such resource.
  std::optional<double> money_per_s = std::nullopt;
};

// The resource of a row of A.
struct Resource {
  enum class Kind : std::uint8_t { kOutPort, kInPort, kPort, kLink, kSharedLink, kMoney };
  Kind kind;
  std::uint32_t index;  // of the node, arc or shared link; 0: money
};

struct Occupation {
  // resources x arcs, seconds per byte; column e has the resources of a byte on arc e. Compressed.
  Eigen::SparseMatrix<double> seconds_per_byte;
  std::vector<Resource> resources;  // by row
};

// The matrix A of `platform` under `model` (table in docs/model.md). Rows that no arc occupies are
// left out. Links at a relay and shared links are resources under every model. multi-port and
// multi-port-processor: s_u is 1 / send cap if there is one, otherwise 0.8 * min over out-arcs of T
// (HBT, simulations); r_v likewise, by the receive cap and in-arcs. Under multi-port-processor an
// arc's own send and receive rates take their place for it (HBT, Multi-port, Banikazemi et al.:
// send and receive times of a link).
Occupation occupation(const Platform& platform, Model model, const OccupationOptions& options = {});

// "out-port of a", "in-port of b", "port of a", "link a -> b", "shared link trunk", "money".
std::string describe(const Resource& resource, const Platform& platform);

// Time per byte that a transfer occupies an arc: (overhead [+ latency] + segment / bandwidth) /
// segment, or 1 / bandwidth if the segment size is 0.
double arc_seconds_per_byte(const Arc& arc, const OccupationOptions& options);

}  // namespace espalier::platforms
