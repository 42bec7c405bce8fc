#include "tests/planner/references/all_trees.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lp/solver/linear_program.hpp"

namespace espalier::testing {

AllTrees::AllTrees(PlainModel model, const platforms::Platform& platform, platforms::NodeId source,
                   bool up)
    : model_(std::move(model)), source_(static_cast<std::uint32_t>(source)) {
  at_.resize(platform.nodes().size());
  chosen_.assign(at_.size(), nullptr);
  for (HostPath& path : all_host_paths(platform)) {
    if (up) std::swap(path.from, path.to);
    if (path.to != source_) at_[path.to].push_back(std::move(path));
  }
  for (const platforms::NodeId host : platform.hosts()) {
    if (host != source) hosts_.push_back(static_cast<std::uint32_t>(host));
  }
}

double AllTrees::combinations() const {
  double product = 1;
  for (const std::uint32_t host : hosts_) product *= static_cast<double>(at_[host].size());
  return product;
}

Loads AllTrees::loads() {
  choose(0);
  return std::move(loads_);
}

void AllTrees::choose(std::size_t position) {
  if (position < hosts_.size()) {
    for (const HostPath& path : at_[hosts_[position]]) {
      chosen_[hosts_[position]] = &path;
      choose(position + 1);
    }
    return;
  }
  PlainModel::Load load = model_.no_load();
  for (const std::uint32_t host : hosts_) {
    std::uint32_t node = host;
    for (std::size_t step = 0; node != source_; ++step) {
      if (step > hosts_.size()) return;  // a cycle
      node = chosen_[node]->from;
    }
    model_.add(chosen_[host]->arcs, 1, load);
  }
  loads_.push_back(std::move(load));
}

double packing_optimum(const std::vector<Loads>& kinds) {
  double unit_rate = 0;
  for (const PlainModel::Load& load : kinds[0]) unit_rate = std::max(unit_rate, 1 / busiest(load));
  lp::LinearProgram program(lp::Sense::kMaximise);
  const std::size_t resources = kinds[0][0].size();
  for (std::size_t r = 0; r < resources; ++r) program.add_row({-lp::kInfinity, 1});
  std::vector<lp::Entry> total;
  for (const Loads& kind : kinds) {
    const std::uint32_t balance = program.add_row({0, 0});
    total.push_back({balance, -1});
    for (const PlainModel::Load& load : kind) {
      std::vector<lp::Entry> entries;
      for (std::uint32_t r = 0; r < resources; ++r) {
        if (load[r] > 0) entries.push_back({r, load[r] * unit_rate});
      }
      entries.push_back({balance, 1});
      program.add_column({0, lp::kInfinity}, 0, entries);
    }
  }
  program.add_column({0, lp::kInfinity}, 1, total);
  if (program.solve() != lp::LpStatus::kOptimal) throw std::logic_error("no optimum");
  return program.objective() * unit_rate;
}

}  // namespace espalier::testing
