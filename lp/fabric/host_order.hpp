// The hosts of a fabric in an order in which neighbours are near each other, and where its
// boundaries are.
#pragma once

#include <cstdint>
#include <vector>

#include "lp/fabric/fabric_tree.hpp"
#include "support/pinned.hpp"

namespace espalier::lp {

class HostOrder : public Interface {
 public:
  // All hosts but the root.
  [[nodiscard]] virtual const std::vector<std::uint32_t>& hosts() const = 0;
  // How small the smallest part of the fabric is that has both hosts: 0 is the whole.
  [[nodiscard]] virtual std::uint32_t depth_of_boundary(std::uint32_t a, std::uint32_t b) const = 0;
  // How far apart two hosts are, the root included; comparable among pairs.
  [[nodiscard]] virtual std::uint32_t distance(std::uint32_t a, std::uint32_t b) const = 0;
};

// As a walk over the fabric's tree comes to them: for fabrics that have parts in parts.
class WalkOrder : public HostOrder {
 public:
  explicit WalkOrder(const FabricTree& fabric) : fabric_(fabric) {}
  [[nodiscard]] const std::vector<std::uint32_t>& hosts() const override { return fabric_.hosts; }
  [[nodiscard]] std::uint32_t depth_of_boundary(std::uint32_t a, std::uint32_t b) const override {
    return fabric_.depth[fabric_.meet(a, b)];
  }
  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const override {
    return fabric_.depth[a] + fabric_.depth[b] - 2 * depth_of_boundary(a, b);
  }

 private:
  const FabricTree& fabric_;
};

// By recursive bisection: each part is divided between those nearer to one of two switches far
// apart, and those nearer to the other. For tori and other grids.
class BisectionOrder : public HostOrder {
 public:
  BisectionOrder(const PackingProblem& problem, const FabricTree& fabric);
  [[nodiscard]] const std::vector<std::uint32_t>& hosts() const override { return hosts_; }
  [[nodiscard]] std::uint32_t depth_of_boundary(std::uint32_t a, std::uint32_t b) const override;
  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const override {
    return a == b ? 0 : UINT32_MAX / 2 - depth_of_boundary(a, b);
  }

 private:
  std::vector<std::uint32_t> all_;       // in order, with the root
  std::vector<std::uint32_t> hosts_;     // without the root
  std::vector<std::uint32_t> position_;  // per node, in all_
};

}  // namespace espalier::lp
