#include "platforms/generators/fabrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace espalier::platforms {

namespace {

using Groups = std::vector<std::vector<std::size_t>>;

// "2;4,4;1,2;1,2": groups of whole numbers, each 1 to kMostFabricNodes.
Groups parse_groups(std::string_view text, std::string_view what) {
  Groups groups(1);
  std::size_t number = 0;
  bool digits = false;
  for (const char letter : std::string(text) + ";") {
    if (letter >= '0' && letter <= '9' && number <= kMostFabricNodes) {
      number = number * 10 + static_cast<std::size_t>(letter - '0');
      digits = true;
      continue;
    }
    if ((letter != ',' && letter != ';') || !digits || number < 1 || number > kMostFabricNodes) {
      throw InputError(fmt::format("{} must be numbers from 1 to {}, not {}", what,
                                   kMostFabricNodes, in_quotes(text)));
    }
    groups.back().push_back(number);
    number = 0;
    digits = false;
    if (letter == ';') groups.emplace_back();
  }
  groups.pop_back();
  return groups;
}

[[noreturn]] void refuse_notation(std::string_view what, std::string_view notation,
                                  std::string_view text) {
  throw InputError(fmt::format("{} must be {}, not {}", what, notation, in_quotes(text)));
}

// The product, or most + 1 if it is above `most`.
std::size_t product(std::span<const std::size_t> factors, std::size_t most = kMostFabricNodes) {
  std::size_t result = 1;
  for (const std::size_t factor : factors) {
    result *= std::min(factor, most + 1);
    if (result > most) return most + 1;
  }
  return result;
}

void require_positive(std::span<const std::size_t> numbers, std::string_view what) {
  if (!numbers.empty() && std::ranges::count(numbers, 0U) == 0) return;
  throw InputError(fmt::format("{} need at least one value, each at least 1", what));
}

void require_size(std::size_t nodes, std::size_t cables) {
  if (nodes > kMostFabricNodes)
    throw InputError(fmt::format("more than {} nodes", kMostFabricNodes));
  if (cables > kMostFabricCables) {
    throw InputError(fmt::format("more than {} links", kMostFabricCables));
  }
}

std::size_t node_count(const Fabric& fabric) {
  std::size_t count = fabric.hosts;
  for (const std::size_t switches : fabric.switches) count += switches;
  return count;
}

void add_cable(Fabric& fabric, std::size_t one, std::size_t other, std::size_t count,
               std::size_t level) {
  fabric.cables.push_back(
      {static_cast<std::uint32_t>(one), static_cast<std::uint32_t>(other), count, level});
}

// One level of a fat tree. A node of level l has a digit per level i: below up[i] for i <= l, below
// down[i] for i > l. Neighbours in levels l and l + 1 have equal digits except that of l + 1.
struct TreeLevel {
  std::size_t below;  // values of the digits of lower levels, the least significant of the number
  std::size_t up;
  std::size_t down;
  std::size_t above;
};

TreeLevel level_of(const FatTreeShape& shape, std::size_t level) {
  return {product(std::span(shape.up).first(level)), shape.up[level], shape.down[level],
          product(std::span(shape.down).subspan(level + 1))};
}

void add_level(Fabric& fabric, const TreeLevel& at, std::size_t lower, std::size_t upper,
               std::size_t count, std::size_t level) {
  for (std::size_t high = 0; high < at.above; ++high) {
    for (std::size_t child = 0; child < at.down; ++child) {
      for (std::size_t parent = 0; parent < at.up; ++parent) {
        for (std::size_t low = 0; low < at.below; ++low) {
          add_cable(fabric, lower + low + at.below * (child + at.down * high),
                    upper + low + at.below * (parent + at.up * high), count, level);
        }
      }
    }
  }
}

void require_sound(const DragonflyShape& shape) {
  const std::array<std::size_t, 4> counts{shape.groups, shape.chassis, shape.routers, shape.hosts};
  require_positive(counts, "groups, chassis, routers and hosts");
  const std::array<std::size_t, 3> cables{shape.group_cables, shape.chassis_cables,
                                          shape.router_cables};
  require_positive(cables, "parallel links");
  const std::array<std::size_t, 2> group{shape.chassis, shape.routers};
  const std::array<std::size_t, 3> routers{shape.groups, shape.chassis, shape.routers};
  const std::size_t of_group = product(group);
  const std::size_t all = product(routers);
  require_size(hosts_of(shape), 0);
  require_size(hosts_of(shape) + all, 0);
  if (shape.global_ports == 0 && shape.groups > of_group) {
    throw InputError(fmt::format(
        "too many groups; a group has {} routers, and there may be as many groups", of_group));
  }
  const std::size_t ports = of_group * std::min(shape.global_ports, kMostFabricNodes);
  if (shape.global_ports > 0 && shape.groups > ports + 1) {
    throw InputError(fmt::format(
        "too many groups; a group has {} global links, and there may be one group more", ports));
  }
  const std::size_t inside = all * (shape.routers - 1 + shape.chassis - 1) / 2;
  require_size(0, hosts_of(shape) + inside + shape.groups * (shape.groups - 1) / 2);
}

}  // namespace

std::size_t hosts_of(const FatTreeShape& shape) {
  return product(shape.down);
}

std::size_t hosts_of(std::span<const std::size_t> torus) {
  return product(torus);
}

std::size_t hosts_of(const DragonflyShape& shape) {
  const std::array<std::size_t, 4> sizes{shape.groups, shape.chassis, shape.routers, shape.hosts};
  return product(sizes);
}

Fabric fat_tree(const FatTreeShape& shape) {
  const std::size_t levels = shape.down.size();
  require_positive(shape.down, "nodes below a switch");
  require_positive(shape.up, "switches above a node");
  require_positive(shape.cables, "parallel links");
  if (shape.up.size() != levels || shape.cables.size() != levels) {
    throw InputError("a fat tree's shape must have a number for each level");
  }
  Fabric fabric;
  fabric.hosts = hosts_of(shape);
  require_size(fabric.hosts, 0);
  std::size_t lower = 0;
  for (std::size_t level = 0; level < levels; ++level) {
    const TreeLevel at = level_of(shape, level);
    const std::array<std::size_t, 3> switches{at.below, at.up, at.above};
    const std::array<std::size_t, 4> cables{at.below, at.up, at.down, at.above};
    const std::size_t upper = node_count(fabric);
    fabric.switches.push_back(product(switches));
    require_size(node_count(fabric), fabric.cables.size() + product(cables, kMostFabricCables));
    add_level(fabric, at, lower, upper, shape.cables[level], level);
    lower = upper;
  }
  return fabric;
}

Fabric torus(std::span<const std::size_t> dimensions, bool routers) {
  require_positive(dimensions, "a torus's dimensions");
  Fabric fabric;
  fabric.hosts = hosts_of(dimensions);
  require_size(fabric.hosts, 0);
  if (routers) fabric.switches.push_back(fabric.hosts);
  const auto wide = static_cast<std::size_t>(
      std::ranges::count_if(dimensions, [](std::size_t size) { return size > 1; }));
  require_size(node_count(fabric), fabric.hosts * (wide + (routers ? 1 : 0)));
  const std::size_t first = routers ? fabric.hosts : 0;
  for (std::size_t i = 0; i < first; ++i) add_cable(fabric, i, first + i, 1, 0);
  std::size_t stride = 1;
  for (const std::size_t size : dimensions) {
    for (std::size_t i = 0; i < fabric.hosts && size > 1; ++i) {
      const std::size_t at = i / stride % size;
      if (size == 2 && at == 1) continue;
      const std::size_t next = i - at * stride + (at + 1) % size * stride;
      add_cable(fabric, first + i, first + next, 1, routers ? 1 : 0);
    }
    stride *= size;
  }
  return fabric;
}

Fabric dragonfly(const DragonflyShape& shape) {
  require_sound(shape);
  Fabric fabric;
  fabric.hosts = hosts_of(shape);
  const std::size_t of_group = shape.chassis * shape.routers;
  const std::size_t routers = shape.groups * of_group;
  const std::size_t first = fabric.hosts;
  fabric.switches.push_back(routers);
  for (std::size_t i = 0; i < fabric.hosts; ++i) {
    add_cable(fabric, i, first + i / shape.hosts, 1, 0);
  }
  for (std::size_t i = 0; i < routers; ++i) {
    const std::size_t place = i % shape.routers;
    for (std::size_t j = place + 1; j < shape.routers; ++j) {
      add_cable(fabric, first + i, first + i - place + j, shape.router_cables, 1);
    }
    for (std::size_t c = i % of_group / shape.routers + 1; c < shape.chassis; ++c) {
      const std::size_t other = i / of_group * of_group + c * shape.routers + place;
      add_cable(fabric, first + i, first + other, shape.chassis_cables, 2);
    }
  }
  for (std::size_t i = 0; i < shape.groups; ++i) {
    for (std::size_t j = i + 1; j < shape.groups; ++j) {
      // Router j of group i leads to router i of group j; or the k-th link of a group leads to the
      // (k + 1)-th group after it, and the links are assigned to the routers in turn.
      const bool in_turn = shape.global_ports > 0;
      const std::size_t one = in_turn ? (j - i - 1) % of_group : j;
      const std::size_t other = in_turn ? (shape.groups - 1 - (j - i)) % of_group : i;
      add_cable(fabric, first + i * of_group + one, first + j * of_group + other,
                shape.group_cables, 3);
    }
  }
  return fabric;
}

FatTreeShape parse_fat_tree_shape(std::string_view text, std::string_view what) {
  const Groups groups = parse_groups(text, what);
  const std::size_t levels = groups[0][0];
  if (groups.size() != 4 || groups[0].size() != 1 || groups[1].size() != levels ||
      groups[2].size() != levels || groups[3].size() != levels) {
    refuse_notation(what, "levels;down,...;up,...;cables,... with a number for each level", text);
  }
  return {groups[1], groups[2], groups[3]};
}

std::vector<std::size_t> parse_torus_shape(std::string_view text, std::string_view what) {
  const Groups groups = parse_groups(text, what);
  if (groups.size() != 1) refuse_notation(what, "the sizes of the dimensions, such as 3,2,2", text);
  return groups[0];
}

DragonflyShape parse_dragonfly_shape(std::string_view text, std::string_view what) {
  const Groups groups = parse_groups(text, what);
  if (groups.size() != 4 || groups[0].size() != 2 || groups[1].size() != 2 ||
      groups[2].size() != 2 || groups[3].size() != 1) {
    refuse_notation(what, "groups,links;chassis,links;routers,links;nodes", text);
  }
  return {.groups = groups[0][0],
          .chassis = groups[1][0],
          .routers = groups[2][0],
          .hosts = groups[3][0],
          .global_ports = 0,
          .group_cables = groups[0][1],
          .chassis_cables = groups[1][1],
          .router_cables = groups[2][1]};
}

}  // namespace espalier::platforms
