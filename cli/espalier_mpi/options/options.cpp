#include "cli/espalier_mpi/options/options.hpp"

#include <fmt/format.h>

#include <utility>

#include "support/errors.hpp"

namespace espalier::cli {

void RunArguments::add_source_to(Arguments& app) {
  app.add("PLAN", plan, "plan file, read by rank 0 only; - is standard input", {.type = "FILE"});
  app.add("--decisions", decisions,
          "instead of PLAN: a table of espalier decide --json, which selects the algorithm for "
          "these ranks and this message; read by rank 0 only",
          {.type = "FILE"});
  app.add("--algorithm", algorithm,
          "instead of PLAN: an algorithm for which it is enough to know which ranks share a host, "
          "and which hosts a group: hierarchical, hierarchical-node, hierarchical-group, reorder, "
          "each with another one (hierarchical:chain), or one that knows neither; or tac, the "
          "rules of TAC's report. The program espalier beside this one makes the plan",
          {.type = "NAME"});
  app.add("--groups", groups,
          "with --algorithm, or where a missing PLAN is made: which hosts share a group: lines "
          "HOST GROUP, Slurm's topology.conf or "
          "a platform in Espalier's JSON; read by rank 0 only",
          {.type = "FILE"});
  app.add("--root", root,
          "with --decisions or --algorithm, or where a missing PLAN is made: the root's rank "
          "(default 0)",
          {.type = "RANK"});
  app.add("--message", given_message, "size of a test message", {.shown = shown(message())});
  app.add("--repeat", repeat, "number of runs", {.range = Range{1, kMostRepeats}});
  add_tuned_option(app, tuned);
  app.add("--trace", trace,
          "write the times of each rank's sends and receives to this file, for chrome://tracing "
          "and Perfetto",
          {.type = "FILE"});
  app.add("--report", page,
          "write a page about the run for a browser to this file, by the program espalier beside "
          "this one",
          {.type = "FILE"});
  app.add("--platform", platform,
          "with --report: also the network, its bottlenecks and the plan's trees; default: what a "
          "run without a plan has learnt",
          {.type = "FILE"});
  app.add("--json", json, "figures as JSON on standard output");
  app.add("--quiet", quiet, "no progress");
}

void RunArguments::check_records() const {
  for (const auto& [file, option] : {std::pair(&trace, "--trace"), std::pair(&page, "--report")}) {
    if (*file != "-") continue;
    throw InputError(
        fmt::format("{} needs a file name; standard output contains the figures", option));
  }
  if (!platform.empty() && page.empty()) throw InputError("--platform is for --report FILE");
  if (!platform.empty() && (platform == "-" || plan == "-")) {
    throw InputError("--report reads the files again; give names of files instead of -");
  }
}

void RunArguments::check(const runtime::CollectiveOptions& options) const {
  check_tuned(tuned, running.segment, options);
  check_records();
  if (tuned.size() > 1) throw InputError("--tuned: there is only one plan; give one file");
  if (!algorithm.empty() || has_no_plan()) return check_algorithm();
  if (!groups.empty()) throw InputError("--groups is for a run without PLAN and --decisions");
  if (decisions.empty()) {
    if (root) {
      throw InputError("--root is for --decisions and --algorithm; a plan has its own source");
    }
    return;
  }
  if (!plan.empty()) throw InputError("PLAN and --decisions are given; give one of them");
  const bool timed = options.rounds || options.schedule;
  if (running.segment || !tuned.empty() || timed ||
      running.mapping != runtime::RankMapping::kByOrder) {
    throw InputError(
        "--decisions sets the segment size, for ranks in order; leave out --segment, --tuned, "
        "--rounds, --schedule and --map");
  }
}

void RunArguments::check_algorithm() const {
  for (const auto& [given, other] :
       {std::pair(!plan.empty(), "PLAN"), std::pair(!decisions.empty(), "--decisions")}) {
    if (!given) continue;  // beside --algorithm
    throw InputError(fmt::format("{} and --algorithm are given; give one of them", other));
  }
  if (!tuned.empty()) throw InputError("--tuned is for PLAN; give it, without --algorithm");
  if (running.mapping != runtime::RankMapping::kByOrder) {
    throw InputError("--map is for PLAN; other plans are for ranks in order");
  }
}

std::unique_ptr<CommandLine> make_command_line(const Job& job) {
  auto line = std::make_unique<CommandLine>(
      "Runs the plans of espalier on the ranks of an mpirun:\n"
      "  mpirun -np 8 espalier-mpi doctor\n"
      "  mpirun -np 8 espalier-mpi reorder --hostfile hosts\n"
      "  mpirun -np 8 espalier-mpi probe -o platform.json\n"
      "  mpirun -np 8 espalier-mpi bcast plan.json --message 256MiB --verify\n"
      "  mpirun -np 8 espalier-mpi allreduce plan.json --type float --op max\n"
      "  mpirun -np 8 espalier-mpi allgather plan.json --message 256MiB --verify\n"
      "  mpirun -np 8 espalier-mpi scatter plan.json --in big.tar --out 'part.{rank}'\n"
      "  mpirun -np 8 espalier-mpi bench plan.json\n"
      "  mpirun -np 8 espalier-mpi tune plan.json --message 1MiB,64MiB",
      "espalier-mpi", ESPALIER_VERSION);
  line->root().add_footer(
      "Exit status: 0 done, 1 internal error, 2 wrong usage or input, 4 timeout, 5 received data "
      "differ, the source changed while it was sent, or doctor found something.");
  for (const auto add :
       {add_bcast, add_collectives, add_bench, add_tune, add_probe, add_doctor, add_reorder}) {
    add(line->root(), job);
  }
  return line;
}

}  // namespace espalier::cli
