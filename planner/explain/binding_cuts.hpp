// Cuts that are the bound: links over which all data must pass, and that together carry no more
// than the optimum (docs/model.md, "Plain bounds").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "platforms/core/platform.hpp"
#include "support/quantities.hpp"

namespace espalier::planner {

struct BindingCut {
  // "the 4 links into rack3", "the link out of h0"; of hosts that each have such a cut of their own
  // "the links into each of 63 hosts".
  std::string name;
  BytesPerSecond rate{};  // that they carry together, under the model
  std::size_t hosts = 0;  // that receive everything over them, or whose data pass over them
  std::vector<platforms::ArcId> links{};
  bool each = false;  // the rate is that of one of the hosts' cuts
};

// Those of the outcome's bound, of which at least one host is on either side: most hosts first, at
// most `top`. Looks at the links of the source and of each host, at parts of the network below one
// link of a spanning tree, and at the part that the outcome's prices separate from the source.
std::vector<BindingCut> binding_cuts(const Collective& collective, const Outcome& outcome,
                                     std::size_t top);

// Of other problems no cuts are looked for.
template <class Problem>
std::vector<BindingCut> binding_cuts(const Problem& /*problem*/, const Outcome& /*outcome*/,
                                     std::size_t /*top*/) {
  return {};
}

// "the 4 links into rack3 carry 12.0000 Gbit/s for 64 hosts"; "the links into each of 63 hosts
// carry 10.0000 Gbit/s".
std::string sentence_of(const BindingCut& cut);

}  // namespace espalier::planner
