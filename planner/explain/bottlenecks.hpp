// What limits the optimum: resources by price, the links on which the priced time is spent, and
// sets of resources that may bind only jointly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/registry.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/faster.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::planner {

// A resource and its share of the bound.
struct NamedPrice {
  std::uint32_t row;
  std::string resource;  // "out-port of a"
  double price;          // above 0
};
// The `top` resources with the highest prices in the outcome's certificate, highest first; fewer
// where fewer have a price. occupation: of the platform; the prices refer to its rows.
std::vector<NamedPrice> highest_priced_resources(const platforms::Platform& platform,
                                                 const platforms::Occupation& occupation,
                                                 const Outcome& outcome, std::size_t top);

// Thresholds for "full" and "priced": the trees are optimal only within a gap.
inline constexpr double kFullLoad = 1 - 1e-4;
inline constexpr double kLeastPrice = 5e-5;

struct Bottleneck {
  enum class Kind : std::uint8_t { kResource, kLink, kSet };
  Kind kind = Kind::kResource;
  std::string name;  // "out-port of a", "link a -> b", "all 4 links out of lyon that bind"
  // Share of the bound. For a link, the share of the priced time that the trees spend on it: over
  // all links these sum to 1, as those of the resources do. For a set, the sum of its resources'
  // shares.
  double price = 0;
  double load = 0;       // at the optimum; 1: always busy; of a set: its least busy resource's
  double copies = 0;     // bytes that cross it per byte of the message; of a set: the sum
  double copies_up = 0;  // the part of copies along trees that combine
  std::size_t size = 1;  // resources of a set; else 1
  platforms::Figures figures{};  // the figures to raise to make it faster
};

// "resource", "link", "set".
std::string_view name_of(Bottleneck::Kind kind);

struct Bottlenecks {
  std::vector<Bottleneck> resources;  // highest price first
  // Where links are not resources themselves (between hosts under the one-port models): highest
  // price first.
  std::vector<Bottleneck> links;
  // Sets of priced or full resources of one kind, all of them and by group: at least two resources
  // each, highest price first, of equal prices the smaller set first.
  std::vector<Bottleneck> sets;
  Bottleneck all;  // a set: everything that is full or priced
};

// The platform of a problem of any operation, under its model.
struct ModelledPlatform {
  // Keeps references to what the problem has.
  template <class Problem>
  explicit ModelledPlatform(const Problem& problem)
      : platform(problem.platform()),
        occupation(problem.occupation()),
        model(problem.model()),
        options(problem.options()) {}
  const platforms::Platform& platform;
  const platforms::Occupation& occupation;
  platforms::Model model;
  const platforms::OccupationOptions& options;
};

// outcome: trees and prices of the optimum of the problem. At most `top` of each list.
Bottlenecks bottlenecks_of(const ModelledPlatform& problem, const Outcome& outcome,
                           std::size_t top);
template <class Problem>
Bottlenecks bottlenecks_of(const Problem& problem, const Outcome& outcome, std::size_t top) {
  return bottlenecks_of(ModelledPlatform(problem), outcome, top);
}

}  // namespace espalier::planner
