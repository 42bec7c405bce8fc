// Contention models: which resources a byte keeps busy while it crosses an arc, and for how long.
//
// The whole planner follows from one sparse matrix (docs/model.md):
//     A[r, e] = seconds for which one byte on arc e occupies resource r.
// A tree with arc set x has throughput 1 / max_r (A x)_r; rates lambda_T are feasible iff sum
// lambda_T A x_T <= 1.
#pragma once

#include <Eigen/SparseCore>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::platforms {

enum class Model : std::uint8_t {
  kOnePort,  // Bhat et al., bidirectional: sends and receives overlap, one of each at a time
  kOnePortUnidirectional,  // one transfer at a time, sent or received
  kMultiPort,  // Bar-Noy et al.: sender busy s_u a byte whatever the target; each link its own T
  kBoundedMultiPort,  // caps out of and into a node; each link its own T
};

// Whether a node has one port, which transfers occupy from end to end, overheads included.
inline bool is_one_port(Model model) {
  return model == Model::kOnePort || model == Model::kOnePortUnidirectional;
}

struct ModelEntry {
  Model model;
  std::string_view name;     // "one-port"
  std::string_view summary;  // one line
  std::string_view source;   // paper
};
// Every model, in the order that help and `list` show.
std::span<const ModelEntry> models();
std::string_view name_of(Model model);
// Throws InputError with the nearest name offered.
Model parse_model(std::string_view name);

struct OccupationOptions {
  Bytes segment{0};  // 0: overheads are ignored (infinitely long segments)
  bool latency_occupies =
      false;  // Bhat's affine one-port: latency adds to overhead (needs a segment size)
  // The platform is another's with its arcs reversed (platforms/core/reversed.hpp): data crosses an
  // arc from its head to its tail, and who sends it is at the head. Only multi-port, which knows
  // senders and no receivers, makes a difference between the two.
  bool reversed = false;
};

// What a row of A stands for.
struct Resource {
  enum class Kind : std::uint8_t { kOutPort, kInPort, kPort, kLink, kSharedLink };
  Kind kind;
  std::uint32_t index;  // of the node, the arc or the shared link
};

struct Occupation {
  // resources x arcs, seconds per byte; column e holds what a byte on arc e occupies. Compressed.
  Eigen::SparseMatrix<double> seconds_per_byte;
  std::vector<Resource> resources;  // one a row
};

// The matrix A of `platform` under `model` (rows of the table in docs/model.md). Rows that no arc
// occupies are left out. Links that touch a relay are resources under every model, and so are
// shared links. multi-port: s_u = 1 / send cap if given, else 0.8 * min over out-arcs of T (HBT,
// simulations).
Occupation occupation(const Platform& platform, Model model, const OccupationOptions& options = {});

// "out-port of a", "in-port of b", "port of a", "link a -> b", "shared link trunk".
std::string describe(const Resource& resource, const Platform& platform);

// Occupied time per byte of one arc by itself: (overhead [+ latency] + segment / bandwidth) /
// segment, or 1 / bandwidth.
double arc_seconds_per_byte(const Arc& arc, const OccupationOptions& options);

}  // namespace espalier::platforms
