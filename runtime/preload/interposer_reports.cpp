// What the preloaded library counts and prints.
#include <fmt/format.h>

#include <memory>

#include "runtime/preload/interposer.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {

using runtime::check;
using runtime::rank_in;
using runtime::size_of;

void Interposer::report(const ReadyPlans& ready, std::size_t way, const Call& call,
                        std::uint64_t bytes, double seconds) {
  if (!counts_calls() || !counts(call)) return;
  {
    const std::lock_guard lock(mutex_);
    Tally& tally = tallies_[static_cast<std::size_t>(call.operation)];
    ++tally.taken;
    tally.taken_bytes += bytes;
    SizeTally& of_size = size_tally(call, bytes);
    ++of_size.taken;
    of_size.taken_s += seconds;
    if (const auto saved_s = ready.trials.saved_s(bytes, way)) {
      of_size.saved_s += *saved_s;
      ++of_size.is_known;
    }
  }
  if (!shared_->settings.verbose) return;
  const auto ranks = static_cast<std::size_t>(size_of(call.comm));
  const BytesPerSecond achieved{static_cast<double>(bytes) / seconds};
  const auto [run, planned] = ready.is_pull(way) ? RunTexts{"pulled", ""}
                              : ready.leaders    ? RunTexts{"by leaders of hosts", ""}
                                              : texts_of(ready, ready.plans[way - 1], call, bytes);
  print_line(fmt::format(
      "{} {}: {}, {} at {}, {}{}", format_size({bytes}),
      ranks_text(call.operation, call.root, ranks), run, format_duration({seconds}),
      planner::needs_root(call.operation) ? "the root" : "rank 0", format_rate(achieved), planned));
}

Interposer::RunTexts Interposer::texts_of(const ReadyPlans& ready, const ReadyPlan& plan,
                                          const Call& call, std::uint64_t bytes) const {
  BytesPerSecond planned = plan.planned;
  if (ready.decided) {
    const planner::Decision& decision =
        decision_for(*shared_->decisions_for(call.operation), *ready.decided, bytes);
    if (const Seconds time = decision.time(); time.value > 0) {
      planned = {static_cast<double>(decision.message_bytes) / time.value};
    }
  }
  std::string segments;
  if (ready.decided || ready.tuned) {
    MPI_Count element = 1;
    PMPI_Type_size_x(call.type, &element);
    segments = fmt::format(
        ", segments of {}",
        format_size({plan.runner.segment_bytes(bytes, static_cast<std::uint64_t>(element))}));
  }
  return {fmt::format("{}, {}{}", printable(plan.algorithm), counted(plan.trees, "tree"), segments),
          fmt::format(" of {} {}", format_rate(planned), ready.decided ? "predicted" : "planned")};
}

bool Interposer::counts(const Call& call) {
  int inter = 0;
  PMPI_Comm_test_inter(call.comm, &inter);
  int rank = 0;
  PMPI_Comm_rank(call.comm, &rank);
  return inter != 0 ? call.root == MPI_ROOT : call.root == rank;
}

void Interposer::count_left_to_mpi(Reason reason, const Call& call) {
  if (!counts_calls() || !counts(call)) return;
  const std::lock_guard lock(mutex_);
  ++tallies_[static_cast<std::size_t>(call.operation)]
        .left_to_mpi[static_cast<std::size_t>(reason)];
}

SizeTally& Interposer::size_tally(const Call& call, std::uint64_t bytes) {
  return by_size_[static_cast<std::size_t>(call.operation)]
                 [static_cast<std::size_t>(size_class(bytes))];
}

void Interposer::print_table() const {
  constexpr int kFigures = sizeof(SizeTallies) / sizeof(double);
  const auto all = std::make_unique<SizeTallies>();
  check(PMPI_Reduce(by_size_.data(), all->data(), kFigures, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD),
        "MPI_Reduce");
  if (rank_in(MPI_COMM_WORLD) == 0)
    print_line("calls, and times of their roots\n" + table_of(*all));
}

void Interposer::print_summaries() const {
  constexpr int kFigures = sizeof(tallies_) / sizeof(std::uint64_t);
  std::array<Tally, planner::kEveryOperation.size()> all{};
  check(
      PMPI_Reduce(tallies_.data(), all.data(), kFigures, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD),
      "MPI_Reduce");
  if (rank_in(MPI_COMM_WORLD) != 0) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto operation = static_cast<planner::Operation>(i);
    if (all[i] == Tally() && operation != planner::Operation::kBroadcast) continue;
    print_line(summary(functions_of(operation), all[i]));
  }
}

}  // namespace espalier::preload
