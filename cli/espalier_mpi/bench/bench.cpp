#include "cli/espalier_mpi/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/espalier_mpi/run/buffer.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

// Below the rate of any network worth benchmarking, for when no plan predicts a rate.
constexpr BytesPerSecond kSlowNetwork{1e6};

// A file that is given twice gets two rows: "plan.json" and "plan.json (2)".
std::string row_name(const std::string& file, std::span<const BenchPlan> earlier) {
  std::string name = file;
  for (int n = 2; std::ranges::find(earlier, name, &BenchPlan::name) != earlier.end(); ++n) {
    name = fmt::format("{} ({})", file, n);
  }
  return name;
}

// Reads the plan files, and the tuned segments, each of which is for one of the plans.
std::vector<BenchPlan> read_plans(MPI_Comm comm, const BenchArguments& arguments) {
  std::vector<BenchPlan> plans;
  for (const std::string& file : arguments.plans) {
    plans.push_back({row_name(display_name(file), plans), runtime::share_plan(comm, file),
                     arguments.segment.value_or(Bytes{0}).value});
  }
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  const std::size_t hosts = runtime::count_hosts(comm);
  for (const std::string& file : arguments.tuned) {
    const runtime::TunedSegments tuned = runtime::share_tuned(comm, file);
    if (plans.empty()) throw InputError("--tuned needs a plan; give PLAN");
    const auto found = std::find_if(plans.begin(), plans.end(), [&](const BenchPlan& one) {
      return runtime::identity_of(one.plan) == tuned.plan;
    });
    BenchPlan& plan = found == plans.end() ? plans.front() : *found;
    plan.tuned = runtime::segments_of(tuned, plan.plan, ranks, hosts, display_name(file));
  }
  return plans;
}

BenchOperation operation_for(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog) {
  const std::vector<BenchPlan> plans = read_plans(comm, arguments);
  const planner::Operation operation = arguments.operation.value_or(
      plans.empty() ? planner::Operation::kBroadcast : plans[0].plan.operation);
  for (const BenchPlan& one : plans) planner::require_operation(one.plan, operation, one.name);
  return bench_of(comm, plans, operation, arguments, watchdog);
}

// The time that a round may take, for the timeouts of ranks that wait.
Seconds longest_of(const BenchOperation& operation, std::uint64_t bytes) {
  Seconds longest{0};
  for (const BenchMethod& method : operation.methods) {
    if (method.predicted_time) longest = std::max(longest, method.predicted_time(bytes));
  }
  return longest.value > 0 ? longest : Seconds{static_cast<double>(bytes) / kSlowNetwork.value};
}

class Bench {
 public:
  Bench(MPI_Comm comm, const BenchOperation& operation, std::span<const Bytes> sizes,
        const BenchArguments& arguments, Watchdog& watchdog)
      : comm_(comm), arguments_(&arguments), watchdog_(&watchdog), operation_(&operation) {
    const Bytes largest = *std::max_element(sizes.begin(), sizes.end());
    watchdog.expect("waiting for all ranks to have memory for the messages");
    buffer_ = allocate_message(comm, largest.value, arguments.sizes_option, operation.copies);
  }

  // Alternates the methods, so that a temporary disturbance of the machine affects all of them, and
  // reverses their order in every other round, so that none always follows the same other one.
  void measure(Bytes size, BenchFigures& figures) {
    const std::span<std::byte> memory(buffer_.get(), operation_->copies * size.value);
    const std::vector<BenchMethod>& methods = operation_->methods;
    const std::size_t first = figures.rows.size();
    for (const BenchMethod& method : methods) {
      BenchRow row{size.value, method.name, {}, {}, {}, {}, method.algorithm};
      if (method.segment_bytes) row.segment_bytes = method.segment_bytes(size.value);
      if (method.predicted_time) row.predicted_time = method.predicted_time(size.value);
      figures.rows.push_back(std::move(row));
    }
    const ReportTimer timer(comm_, operation_->root, longest_of(*operation_, size.value),
                            arguments_->timeout, *watchdog_);
    for (std::size_t round = 0; round < arguments_->warm_up + arguments_->repeat; ++round) {
      for (std::size_t turn = 0; turn < methods.size(); ++turn) {
        const std::size_t i = round % 2 == 0 ? turn : methods.size() - 1 - turn;
        const double seconds = time_round(timer, methods[i], memory);
        if (round >= arguments_->warm_up) figures.rows[first + i].seconds.push_back(seconds);
      }
    }
    if (!methods[0].is_mpi()) return;
    const double mpi_s = quartiles_of(figures.rows[first].seconds).median;
    for (std::size_t i = 1; i < methods.size(); ++i) {
      figures.rows[first + i].mpi_median_s = mpi_s;
    }
  }

 private:
  double time_round(const ReportTimer& timer, const BenchMethod& method,
                    std::span<std::byte> memory) {
    watchdog_->pause();  // while the message is filled, and checked
    operation_->prepare(memory, round_);
    const double seconds =
        timer.seconds_of({[&] { method.run(memory); },
                          method.is_mpi() ? "waiting in " + method.name : std::string{}});
    if (arguments_->verify) {
      watchdog_->pause();
      runtime::collective_try(
          comm_,
          [&] {
            if (const auto fault = operation_->fault(memory, round_)) {
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
  const BenchOperation* operation_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t round_ = 0;
};

}  // namespace

void require_same_source(const std::vector<BenchPlan>& plans) {
  for (const BenchPlan& one : plans) {
    if (one.plan.source == plans[0].plan.source) continue;
    throw InputError(one.name, "/source",
                     fmt::format("{} is not {}, the source of {}", in_quotes(one.plan.source),
                                 in_quotes(plans[0].plan.source), plans[0].name));
  }
}

BenchOperation bench_of(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                        planner::Operation operation, const BenchArguments& arguments,
                        Watchdog& watchdog) {
  const bool reduces = planner::reduces(operation);
  const std::string& inapplicable =
      reduces ? arguments.only_for_broadcasts : arguments.only_for_reductions;
  if (!inapplicable.empty()) {
    throw InputError(
        fmt::format("{} is for {}", inapplicable, reduces ? "broadcasts" : "reductions"));
  }
  return reduces ? reduction_bench(comm, plans, operation, arguments, watchdog)
                 : broadcast_bench(comm, plans, arguments);
}

BenchFigures empty_figures(MPI_Comm comm, planner::Operation operation,
                           const BenchArguments& arguments) {
  BenchFigures figures;
  figures.operation = operation;
  if (planner::reduces(operation)) {
    figures.op = name_of(arguments.elements.op);
    figures.type = name_of(arguments.elements.type);
  }
  figures.ranks = runtime::size_of(comm);
  figures.warm_up = arguments.warm_up;
  figures.verified = arguments.verify;
  return figures;
}

void measure_alternating(MPI_Comm comm, const BenchOperation& operation,
                         std::span<const Bytes> sizes, const BenchArguments& arguments,
                         Watchdog& watchdog, BenchFigures& figures) {
  Bench bench(comm, operation, sizes, arguments, watchdog);
  for (const Bytes size : sizes) bench.measure(size, figures);
}

void run_bench(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog) {
  watchdog.expect("waiting for all ranks to have the plans", arguments.timeout.value_or(Seconds{}));
  const BenchOperation operation = operation_for(comm, arguments, watchdog);
  BenchFigures figures = empty_figures(comm, operation.operation, arguments);
  measure_alternating(comm, operation, arguments.sizes, arguments, watchdog, figures);
  if (runtime::rank_in(comm) != 0) return;
  fmt::print("{}", arguments.json ? bench_json(figures) : bench_text(figures));
  std::fflush(stdout);
}

}  // namespace espalier::cli
