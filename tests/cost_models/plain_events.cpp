#include "tests/cost_models/plain_events.hpp"

#include <algorithm>

namespace espalier::cost_models {

Children flat_tree(std::size_t ranks) {
  Children children(ranks);
  for (std::size_t v = 1; v < ranks; ++v) children[0].push_back(v);
  return children;
}

Children chain(std::size_t ranks) {
  Children children(ranks);
  for (std::size_t v = 1; v < ranks; ++v) children[v - 1].push_back(v);
  return children;
}

Children binary_tree(std::size_t ranks) {
  Children children(ranks);
  for (std::size_t v = 1; v < ranks; ++v) children[(v - 1) / 2].push_back(v);
  return children;
}

Children binomial_tree(std::size_t ranks) {
  Children children(ranks);
  std::size_t top = 1;
  while (top < ranks) top *= 2;
  for (std::size_t v = 0; v < ranks; ++v) {
    // v's children are v + 2^k for all 2^k below v's lowest bit.
    const std::size_t lowest = v == 0 ? top : v & (~v + 1);
    for (std::size_t bit = lowest / 2; bit > 0; bit /= 2) {
      if (v + bit < ranks) children[v].push_back(v + bit);
    }
  }
  return children;
}

double pipelined_s(const Children& children, std::size_t segments, Message segment) {
  std::vector<std::vector<double>> at(children.size(), std::vector<double>(segments, 0));
  double last = 0;
  for (std::size_t v = 0; v < children.size(); ++v) {
    double free_at = 0;
    for (std::size_t s = 0; s < segments; ++s) {
      for (const std::size_t child : children[v]) {
        const double start = std::max(free_at, at[v][s]);
        free_at = start + segment.spacing;
        at[child][s] = start + segment.delivery;
        last = std::max(last, at[child][s]);
      }
    }
  }
  return last;
}

double store_and_forward_s(const Children& children, std::size_t segments, Message segment) {
  std::vector<double> has_all_at(children.size(), 0);
  for (std::size_t v = 0; v < children.size(); ++v) {
    double start = has_all_at[v];
    for (const std::size_t child : children[v]) {
      for (std::size_t s = 0; s < segments; ++s) {
        has_all_at[child] = start + segment.delivery;
        start += segment.spacing;
      }
    }
  }
  return *std::max_element(has_all_at.begin(), has_all_at.end());
}

double linear_alltoall_s(std::size_t ranks, std::size_t segments, Message segment) {
  double begin = 0;
  double last = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    double start = begin;
    for (std::size_t s = 0; s < segments; ++s) {
      for (std::size_t to = 0; to < ranks; ++to) {
        if (to == rank) continue;
        last = std::max(last, start + segment.delivery);
        if (to == rank + 1) begin = start + segment.delivery;
        start += segment.spacing;
      }
    }
  }
  return last;
}

double pipelined_reduce_s(const Children& children, std::size_t segments, double segment_s) {
  std::vector<std::vector<double>> done(children.size(), std::vector<double>(segments, 0));
  for (std::size_t v = children.size(); v-- > 0;) {
    double free_at = 0;
    for (std::size_t s = 0; s < segments; ++s) {
      for (const std::size_t child : children[v]) {
        free_at = std::max(free_at, done[child][s]) + segment_s;
      }
      done[v][s] = free_at;
    }
  }
  return done[0][segments - 1];
}

}  // namespace espalier::cost_models
