// espalier-mpi bench: plans against MPI's own function.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/espalier_mpi/options/running_options.hpp"
#include "cli/espalier_mpi/run/elements.hpp"
#include "cli/espalier_mpi/run/watchdog.hpp"
#include "runtime/api/broadcast.hpp"
#include "runtime/api/reduction.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct BenchArguments {
  std::vector<std::string> plans;  // files; none: time only MPI's own function
  std::optional<planner::Operation>
      operation;             // unset: the first plan's, or a broadcast if there is no plan
  std::vector<Bytes> sizes;  // of messages
  std::string sizes_option = "--sizes";
  std::size_t repeat = 9;   // timed rounds
  std::size_t warm_up = 2;  // rounds before them
  bool verify = false;
  bool json = false;
  std::optional<Bytes> segment;    // instead of the plans'
  std::vector<std::string> tuned;  // files of tuned segments, each for one of the plans
  std::optional<Seconds> timeout;
  runtime::BroadcastOptions broadcast;
  runtime::ReductionOptions reduction;
  Elements elements;  // of reductions
  // The name of an option that was given and applies to only one kind of operation; empty: none.
  std::string only_for_reductions{};
  std::string only_for_broadcasts{};
};

// A plan, and the segments in which it is run.
struct BenchPlan {
  std::string name;  // in tables
  planner::Plan plan;
  std::uint64_t segment_bytes = 0;  // 0: the executor chooses
  std::vector<runtime::TunedSegment> tuned{};
};

// The unchecked texts that CLI11 stores.
struct BenchTexts {
  RunningTexts running;
  ElementTexts elements;
  std::string operation;
  std::string sizes = "64KiB,256KiB,1MiB,4MiB,16MiB,64MiB,256MiB";
};
// Adds the subcommand to the command line; checks and converts its texts. Throws InputError.
CLI::App* add_bench(CLI::App& app, BenchArguments& to, BenchTexts& texts);
void check_bench(const CLI::App& command, BenchArguments& to, const BenchTexts& texts);

// A method of running an operation.
struct BenchMethod {
  std::string name;  // "MPI_Bcast", or a plan's file
  // Runs on the memory that prepare has filled.
  std::function<void(std::span<std::byte>)> run;
  // Of a plan: the segment size for a message of the given bytes, and the predicted time. Empty for
  // MPI's own function, about which nothing is known.
  std::function<std::uint64_t(std::uint64_t)> segment_bytes{};
  std::function<Seconds(std::uint64_t)> predicted_time{};
  std::string algorithm{};  // of a plan

  [[nodiscard]] bool is_mpi() const { return !predicted_time; }
};

// An operation, and the methods that are timed alternately.
struct BenchOperation {
  planner::Operation operation = planner::Operation::kBroadcast;
  int root = 0;  // the rank that collects the reports and measures the time
  // Messages in this rank's memory: 1 if the output replaces the input, 2 if the output follows it.
  std::uint64_t copies = 1;
  // Fills the input on this rank before a round. Each round has other bytes.
  std::function<void(std::span<std::byte>, std::uint64_t round)> prepare;
  // Describes the error in the output after a round; unset: it is correct.
  std::function<std::optional<std::string>(std::span<const std::byte>, std::uint64_t round)> fault;
  std::vector<BenchMethod> methods;  // at least one; MPI's own, if present, is the first
  std::shared_ptr<void> state{};     // what the functions refer to
};

// Broadcasts: MPI_Bcast and each plan. Collective. Throws MpiError, and InputError on all ranks
// when plans have different sources or cannot run here.
BenchOperation broadcast_bench(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                               const BenchArguments& arguments);
// Reduces or allreduces: MPI_Reduce or MPI_Allreduce, and each plan. As above; InputError also when
// a size is not a multiple of the element size. watchdog must outlive the result.
BenchOperation reduction_bench(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                               planner::Operation operation, const BenchArguments& arguments,
                               Watchdog& watchdog);
// The one of them for `operation`; InputError also for an option that does not apply to it.
BenchOperation bench_of(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                        planner::Operation operation, const BenchArguments& arguments,
                        Watchdog& watchdog);
// Throws InputError that names the plan's file when a plan has another source than the first one.
void require_same_source(const std::vector<BenchPlan>& plans);

// The figures of a message size and a method. The same on all ranks.
struct BenchRow {
  std::uint64_t message_bytes = 0;
  std::string method;
  std::vector<double> seconds;         // one per round, report-to-root
  std::optional<double> mpi_median_s;  // of MPI's own, same size; unset: this is it
  std::optional<std::uint64_t> segment_bytes;
  std::optional<Seconds> predicted_time;
  std::string algorithm{};  // of a plan; empty: MPI's own
};

// The segment size in which a message was fastest.
struct BestSegment {
  runtime::TunedSegment segment;
  double default_median_s = 0;  // in the segment size that the executor chooses on its own
};

struct BenchFigures {
  planner::Operation operation = planner::Operation::kBroadcast;
  std::string op{};  // of a reduction; empty: a broadcast
  std::string type{};
  int ranks = 0;
  std::size_t warm_up = 0;
  bool verified = false;
  std::vector<BenchRow> rows;
  std::vector<BestSegment> best{};  // of a tune
};
// No rows yet. Collective.
BenchFigures empty_figures(MPI_Comm comm, planner::Operation operation,
                           const BenchArguments& arguments);
// Adds the rows of these sizes. Collective. Throws as run_bench does.
void measure_alternating(MPI_Comm comm, const BenchOperation& operation,
                         std::span<const Bytes> sizes, const BenchArguments& arguments,
                         Watchdog& watchdog, BenchFigures& figures);
std::string bench_json(const BenchFigures& figures);
std::string bench_text(const BenchFigures& figures);

// The whole command. Throws on all ranks, except MpiError.
void run_bench(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog);

}  // namespace espalier::cli
