#include "cli/espalier_mpi_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/espalier_mpi_buffer.hpp"
#include "cli/espalier_mpi_timing.hpp"
#include "runtime/agreement.hpp"
#include "runtime/comm_facts.hpp"
#include "runtime/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

// Slow enough for the slowest network that one would bench on, where no plan says how fast it is.
constexpr BytesPerSecond kSlowNetwork{1e6};

void require_meaning(const std::string& option, planner::Operation operation) {
  if (option.empty()) return;
  throw InputError(fmt::format("{} means nothing to a {}", option, planner::name_of(operation)));
}

// All plans are for one operation; each operation has a file of its own.
BenchOperation operation_for(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog) {
  std::vector<planner::Plan> plans;
  std::optional<planner::Operation> operation = arguments.operation;
  for (const std::string& file : arguments.plans) {
    plans.push_back(runtime::share_plan(comm, file));
    operation = operation.value_or(plans[0].operation);
    planner::require_operation(plans.back(), *operation, display_name(file));
  }
  if (operation && planner::reduces(*operation)) {
    require_meaning(arguments.only_for_broadcasts, *operation);
    return reduction_bench(comm, plans, *operation, arguments, watchdog);
  }
  require_meaning(arguments.only_for_reductions, planner::Operation::kBroadcast);
  return broadcast_bench(comm, plans, arguments);
}

// What a round may take, for who waits for others.
Seconds longest_of(const BenchOperation& operation, std::uint64_t bytes) {
  Seconds longest{0};
  for (const BenchMethod& method : operation.methods) {
    if (method.foreseen) longest = std::max(longest, method.foreseen(bytes));
  }
  return longest.value > 0 ? longest : Seconds{static_cast<double>(bytes) / kSlowNetwork.value};
}

class Bench {
 public:
  Bench(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog)
      : comm_(comm), arguments_(&arguments), watchdog_(&watchdog) {
    watchdog.expect("waiting for all ranks to have the plans",
                    arguments.timeout.value_or(Seconds{}));
    operation_ = operation_for(comm, arguments, watchdog);
    const Bytes largest = *std::max_element(arguments.sizes.begin(), arguments.sizes.end());
    watchdog.expect("waiting for all ranks to have memory for the messages");
    buffer_ = allocate_message(comm, largest.value, "--sizes", operation_.copies);
  }

  // All methods in turns, so that what disturbs the machine for a while disturbs them alike.
  void measure(Bytes size, BenchFigures& figures) {
    const std::span<std::byte> memory(buffer_.get(), operation_.copies * size.value);
    const std::size_t first = figures.rows.size();
    for (const BenchMethod& method : operation_.methods) {
      BenchRow row{size.value, method.name, {}, {}, {}, {}};
      if (method.slice_bytes) row.slice_bytes = method.slice_bytes(size.value);
      if (method.foreseen) row.foreseen = method.foreseen(size.value);
      figures.rows.push_back(std::move(row));
    }
    const ReportTimer timer(comm_, operation_.root, longest_of(operation_, size.value),
                            arguments_->timeout, *watchdog_);
    for (std::size_t round = 0; round < arguments_->warm_up + arguments_->repeat; ++round) {
      for (std::size_t i = 0; i < operation_.methods.size(); ++i) {
        const double seconds = time_round(timer, operation_.methods[i], memory);
        if (round >= arguments_->warm_up) figures.rows[first + i].seconds.push_back(seconds);
      }
    }
    const double mpis = quartiles_of(figures.rows[first].seconds).median;
    for (std::size_t i = 1; i < operation_.methods.size(); ++i) {
      figures.rows[first + i].mpis_median_s = mpis;
    }
  }

  [[nodiscard]] const BenchOperation& operation() const { return operation_; }

 private:
  double time_round(const ReportTimer& timer, const BenchMethod& method,
                    std::span<std::byte> memory) {
    watchdog_->rest();  // while the message is made, and checked
    operation_.prepare(memory, round_);
    const double seconds =
        timer.seconds_of({[&] { method.run(memory); },
                          method.is_mpis() ? "waiting in " + method.name : std::string{}});
    if (arguments_->verify) {
      watchdog_->rest();
      runtime::together(
          comm_,
          [&] {
            if (const auto fault = operation_.fault(memory, round_)) {
              throw CheckFailed(method.name + ": " + *fault);
            }
          },
          true);
    }
    ++round_;
    return seconds;
  }

  MPI_Comm comm_;
  const BenchArguments* arguments_;
  Watchdog* watchdog_;
  BenchOperation operation_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t round_ = 0;
};

}  // namespace

void require_same_source(const std::vector<planner::Plan>& plans, const BenchArguments& arguments) {
  for (std::size_t i = 1; i < plans.size(); ++i) {
    if (plans[i].source == plans[0].source) continue;
    throw InputError(display_name(arguments.plans[i]), "/source",
                     fmt::format("{} is not {}, the source of {}", in_quotes(plans[i].source),
                                 in_quotes(plans[0].source), display_name(arguments.plans[0])));
  }
}

void run_bench(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog) {
  const int rank = runtime::rank_in(comm);
  Bench bench(comm, arguments, watchdog);
  BenchFigures figures;
  figures.operation = bench.operation().operation;
  if (planner::reduces(figures.operation)) {
    figures.op = name_of(arguments.elements.op);
    figures.type = name_of(arguments.elements.type);
  }
  figures.ranks = runtime::size_of(comm);
  figures.warm_up = arguments.warm_up;
  figures.verified = arguments.verify;
  for (const Bytes size : arguments.sizes) bench.measure(size, figures);
  if (rank != 0) return;
  fmt::print("{}", arguments.json ? bench_json(figures) : bench_text(figures));
  std::fflush(stdout);
}

}  // namespace espalier::cli
