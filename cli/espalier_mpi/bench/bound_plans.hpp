// Plans bound to the ranks, as candidates of a timed operation.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/espalier_mpi/bench/candidates.hpp"
#include "support/errors.hpp"

namespace espalier::cli {

// Throws InputError that names the plan's file when a plan has another source than the first one.
void require_same_source(std::span<const NamedPlan> plans);

// Adds each plan, bound to the ranks, to `to`. Collective. Throws as the constructor of Bound;
// refusals name the plan.
template <class Bound, class Options>
void bind_plans(MPI_Comm comm, std::span<const NamedPlan> plans, Options options,
                std::vector<Bound>& to) {
  for (const NamedPlan& one : plans) {
    options.segment_bytes = one.segment_bytes;
    options.tuned = one.tuned;
    at_place(one.name, "", [&] { to.push_back(Bound(comm, one.plan, options)); });
  }
}

// Adds a candidate for each plan. bound: the plans', which must outlive `timed`. run(bound,
// memory): one round. element_bytes: of the unit that segments consist of.
template <class Bound, class Run>
void add_candidates(std::span<const NamedPlan> plans, std::vector<Bound>& bound,
                    std::size_t element_bytes, const Run& run, TimedOperation& timed) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Bound* const one = &bound[i];
    const auto segment_bytes = [one, element_bytes](std::uint64_t bytes) {
      return one->segment_bytes(bytes, element_bytes);
    };
    const auto predicted_time = [one, segment_bytes](std::uint64_t bytes) {
      return one->predicted_time(bytes, segment_bytes(bytes));
    };
    timed.candidates.push_back(
        {plans[i].name, [one, run](std::span<std::byte> memory) { run(*one, memory); },
         segment_bytes, predicted_time, plans[i].plan.algorithm, one->node()});
  }
}

}  // namespace espalier::cli
