#include "cost_models/formulas/pipelined_trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "cost_models/formulas/terms.hpp"
#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

bool is_time(Seconds time) {
  return std::isfinite(time.value) && time.value >= 0;
}

}  // namespace

Seconds predict_pipelined(std::span<const PipelinedTree> trees) {
  if (trees.empty()) throw InputError("no trees");
  double last = 0;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const PipelinedTree& tree = trees[i];
    if (!is_time(tree.period) || !is_time(tree.fill)) {
      throw InputError({}, fmt::format("/{}", i), "period and fill must be finite and at least 0");
    }
    if (tree.segments == 0) continue;
    last = std::max(last, tree.fill.value + static_cast<double>(tree.segments) * tree.period.value);
  }
  return finite(last);
}

Seconds predict_pipelined(const PipelinedTree& tree) {
  return predict_pipelined(std::span<const PipelinedTree>(&tree, 1));
}

}  // namespace espalier::cost_models
