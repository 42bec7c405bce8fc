// What binds at the optimum: resources by price, the links that the priced time goes to, and sets
// of resources that may bind only together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/problem/collective.hpp"
#include "planner/registry.hpp"
#include "platforms/core/faster.hpp"

namespace espalier::planner {

// A resource and its share of the bound.
struct NamedPrice {
  std::uint32_t row;
  std::string resource;  // "out-port of a"
  double price;          // above 0
};
// The `top` dearest resources of the outcome's certificate, dearest first; fewer where fewer have a
// price. occupation: of the platform, whose rows the prices are of.
std::vector<NamedPrice> dearest_resources(const platforms::Platform& platform,
                                          const platforms::Occupation& occupation,
                                          const Outcome& outcome, std::size_t top);

// Loads and prices count as there from these on: the trees are optimal within a gap only.
inline constexpr double kFullLoad = 1 - 1e-4;
inline constexpr double kLeastPrice = 5e-5;

struct Bottleneck {
  enum class Kind : std::uint8_t { kResource, kLink, kSet };
  Kind kind = Kind::kResource;
  std::string name;  // "out-port of a", "link a -> b", "all 4 links out of lyon that bind"
  // Share of the bound. A link's is the share of the priced time that the trees spend on it: over
  // all links these sum to 1 as those of the resources do. A set's is the sum of its resources'.
  double price = 0;
  double load = 0;       // at the optimum, 1: busy all the time; of a set its least busy resource's
  double copies = 0;     // bytes that cross it for each byte of the message; of a set all of them
  double copies_up = 0;  // of these along reduce trees
  std::size_t size = 1;  // resources of a set; else 1
  platforms::Figures figures{};  // what makes it faster when it is raised
};

struct Bottlenecks {
  std::vector<Bottleneck> resources;  // dearest first
  // Where links are no resources of their own (between hosts under the one-port models): dearest
  // first.
  std::vector<Bottleneck> links;
  // Priced resources and those that are full, of one kind, all of them and by group: at least two
  // resources each, dearest first, of equally dear ones the smaller first.
  std::vector<Bottleneck> sets;
  Bottleneck all;  // everything that is full or priced; a set
};

// outcome: trees and prices of the optimum of `collective`. At most `top` of each list.
Bottlenecks bottlenecks_of(const Collective& collective, const Outcome& outcome, std::size_t top);

}  // namespace espalier::planner
