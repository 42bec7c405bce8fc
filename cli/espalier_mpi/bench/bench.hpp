// espalier-mpi bench: plans against what MPI does by itself.
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
  std::vector<std::string> plans;  // files; none: only MPI's own is timed
  std::optional<planner::Operation>
      operation;             // unset: the first plan's; without plans a broadcast
  std::vector<Bytes> sizes;  // of messages
  std::string sizes_option = "--sizes";
  std::size_t repeat = 9;   // timed rounds
  std::size_t warm_up = 2;  // rounds before them
  bool verify = false;
  bool json = false;
  std::optional<Bytes> segment;    // instead of the plans'
  std::vector<std::string> tuned;  // files of tuned segments, each of one of the plans
  std::optional<Seconds> timeout;
  runtime::BroadcastOptions broadcast;
  runtime::ReductionOptions reduction;
  Elements elements;  // of reductions
  // An option that was given and means nothing to other operations; empty: none.
  std::string only_for_reductions{};
  std::string only_for_broadcasts{};
};

// A plan, and the segments in which it is run.
struct BenchPlan {
  std::string name;  // as tables call it
  planner::Plan plan;
  std::uint64_t segment_bytes = 0;  // 0: what the executor chooses
  std::vector<runtime::TunedSegment> tuned{};
};

// What CLI11 stores of it before it is checked.
struct BenchTexts {
  RunningTexts running;
  ElementTexts elements;
  std::string operation;
  std::string sizes = "64KiB,256KiB,1MiB,4MiB,16MiB,64MiB,256MiB";
};
// The subcommand on the command line, and what remains to be checked of it. Throws InputError.
CLI::App* add_bench(CLI::App& app, BenchArguments& to, BenchTexts& texts);
void check_bench(const CLI::App& command, BenchArguments& to, const BenchTexts& texts);

// One way of doing an operation.
struct BenchMethod {
  std::string name;  // "MPI_Bcast", or a plan's file
  // On the memory that prepare has made ready.
  std::function<void(std::span<std::byte>)> run;
  // Of a plan: the segments in which a message of so many bytes goes, and the time that the plan
  // foresees. Empty: MPI's own, of which nothing is known.
  std::function<std::uint64_t(std::uint64_t)> segment_bytes{};
  std::function<Seconds(std::uint64_t)> foreseen{};
  std::string algorithm{};  // of a plan

  [[nodiscard]] bool is_mpis() const { return !foreseen; }
};

// What is done in turns by each of its methods.
struct BenchOperation {
  planner::Operation operation = planner::Operation::kBroadcast;
  int root = 0;  // the rank that is told, and tells the time
  // How many messages stand side by side in this rank's memory: 1 where what comes out takes the
  // place of what goes in, 2 where it follows it.
  std::uint64_t copies = 1;
  // On this rank, before a round: what goes in. Each round has other bytes.
  std::function<void(std::span<std::byte>, std::uint64_t round)> prepare;
  // After it: what is wrong with what came out, in words; unset: nothing.
  std::function<std::optional<std::string>(std::span<const std::byte>, std::uint64_t round)> fault;
  std::vector<BenchMethod> methods;  // one at least; MPI's own, where it is there, first
  std::shared_ptr<void> keeps{};     // what the functions refer to
};

// Broadcasts: MPI_Bcast, and each plan. Collective. Throws InputError on all ranks when plans have
// different sources, or cannot be run here; MpiError.
BenchOperation broadcast_bench(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                               const BenchArguments& arguments);
// Reduces or allreduces: MPI_Reduce or MPI_Allreduce, and each plan. As above; InputError also
// where a size is no multiple of the elements'. watchdog outlives what is returned.
BenchOperation reduction_bench(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                               planner::Operation operation, const BenchArguments& arguments,
                               Watchdog& watchdog);
// Whichever of them the operation asks for; InputError also for an option that means nothing to it.
BenchOperation bench_of(MPI_Comm comm, const std::vector<BenchPlan>& plans,
                        planner::Operation operation, const BenchArguments& arguments,
                        Watchdog& watchdog);
// Throws InputError, naming the plan's file, where a plan has another source than the first.
void require_same_source(const std::vector<BenchPlan>& plans);

// A message size and a method. The same on all ranks.
struct BenchRow {
  std::uint64_t message_bytes = 0;
  std::string method;
  std::vector<double> seconds;          // one a round, report-to-root
  std::optional<double> mpis_median_s;  // of the same size; unset: this is MPI's own
  std::optional<std::uint64_t> segment_bytes;
  std::optional<Seconds> foreseen;
  std::string algorithm{};  // of a plan; empty: this is MPI's own
};

// Which segments a message was fastest in.
struct BestSegment {
  runtime::TunedSegment segment;
  double default_median_s = 0;  // in segments that the executor chooses by itself
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
BenchFigures no_figures(MPI_Comm comm, planner::Operation operation,
                        const BenchArguments& arguments);
// Adds the rows of these sizes. Collective. Throws as run_bench does.
void measure_in_turns(MPI_Comm comm, const BenchOperation& operation, std::span<const Bytes> sizes,
                      const BenchArguments& arguments, Watchdog& watchdog, BenchFigures& figures);
std::string bench_json(const BenchFigures& figures);
std::string bench_text(const BenchFigures& figures);

// The whole command. Throws on all ranks alike, but for MpiError.
void run_bench(MPI_Comm comm, const BenchArguments& arguments, Watchdog& watchdog);

}  // namespace espalier::cli
