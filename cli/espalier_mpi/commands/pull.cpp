#include "cli/espalier_mpi/commands/pull.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/espalier_mpi/bench/bound_plans.hpp"
#include "cli/espalier_mpi/commands/file_names.hpp"
#include "engine/plan_blocks.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/files/file_store.hpp"
#include "runtime/pull/pull_among_hosts.hpp"
#include "runtime/pull/pull_collective.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/owned_comm.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

class PullCarrier : public FileCarrier {
 public:
  PullCarrier(runtime::PullCollective& broadcast, int source)
      : broadcast_(&broadcast), source_(source) {}
  [[nodiscard]] int root() const override { return source_; }
  [[nodiscard]] Shape stream_shape(std::uint64_t message_bytes,
                                   std::uint64_t buffer_bytes) const override {
    return broadcast_->stream_shape(message_bytes, buffer_bytes);
  }
  [[nodiscard]] Seconds predicted_time(std::uint64_t /*message_bytes*/,
                                       std::uint64_t /*segment_bytes*/) const override {
    return {};
  }
  [[nodiscard]] bool stream(std::uint64_t bytes, const Shape& shape,
                            runtime::FileStore& store) override {
    return broadcast_->stream(bytes, shape, store, source_);
  }

 private:
  runtime::PullCollective* broadcast_;
  int source_;
};

TimedOperation timed_pull(MPI_Comm comm, const std::shared_ptr<runtime::PullAmongHosts>& pull,
                          const PullTask& task) {
  const bool broadcasts = task.operation == planner::Operation::kBroadcast;
  TimedOperation timed = broadcasts ? timed_mpi_bcast(comm, task.source)
                                    : timed_collective(comm, task.operation, {}, {}, {});
  const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
  timed.candidates.push_back(
      {{},
       [pull, broadcasts, ranks, source = task.source](std::span<std::byte> message) {
         if (broadcasts) {
           pull->broadcast(message.data(), message.size(), MPI_BYTE, source);
         } else {
           pull->allgather(MPI_IN_PLACE, message.data(),
                           engine::divided_equally(message.size(), ranks), {}, MPI_BYTE);
         }
       },
       [pull](std::uint64_t message_bytes) { return pull->segment_bytes(message_bytes); },
       // Nothing is known beforehand.
       [](std::uint64_t) { return Seconds{}; }});
  return timed;
}

FileMover pulling_mover(runtime::PullAmongHosts& pull) {
  FileMover mover{.operation = planner::Operation::kAllgather};
  mover.segment_bytes = [&pull](std::uint64_t bytes) { return pull.segment_bytes(bytes); };
  mover.predicted_time = [](std::uint64_t, std::uint64_t) { return Seconds{}; };
  mover.move = [&pull](std::byte* in, std::byte* out, const PartBytes& parts) {
    pull.allgather(in, out, parts.received, {}, MPI_BYTE);
  };
  return mover;
}

// The messages of one command.
class PullCommand {
 public:
  PullCommand(const Job& job, const RunArguments& arguments, const PulledFiles& files,
              const PullTask& task, std::span<const std::size_t> puller_of, Learning& learning)
      : job_(job),
        arguments_(arguments),
        files_(files),
        task_(task),
        puller_of_(puller_of.begin(), puller_of.end()),
        learning_(learning),
        tracing_(job.comm, arguments, *job.watchdog),
        bar_(runtime::rank_in(job.comm) == 0 && !arguments.quiet, {}) {}

  // Repeats of a message learn from the first one; a comparison with MPI needs equal repeats.
  void run() {
    std::optional<planner::Plan> plan = learning_.plan();
    if (!plan) {
      const bool learns = learning_.is_active() && files_.none() && !arguments_.compare;
      std::size_t left = learns ? arguments_.repeat - 1 : 0;
      pull(arguments_.repeat - left);
      if (left > 0) plan = learning_.plan();
      if (left > 0 && !plan) pull(left);
      if (plan) follow(*plan, left);
    } else {
      follow(*plan, arguments_.repeat);
    }
    bar_.end();
    learning_.keep();
    tracing_.write(runtime::host_name(), learning_.network());
  }
  void report() const {
    warn_of_change(figures_);
    const auto ranks = static_cast<std::size_t>(runtime::size_of(job_.comm));
    print_report(pull_report(task_, ranks, figures_, planned_, learning_.figures()),
                 arguments_.json);
  }

 private:
  void pull(std::size_t repeat);
  void follow(const planner::Plan& plan, std::size_t repeat);
  [[nodiscard]] RunArguments with(std::size_t repeat) const {
    RunArguments some = arguments_;
    some.repeat = repeat;
    return some;
  }
  void add(Figures more) {
    more.seconds.insert(more.seconds.begin(), figures_.seconds.begin(), figures_.seconds.end());
    figures_ = std::move(more);
  }

  const Job& job_;
  const RunArguments& arguments_;
  const PulledFiles& files_;
  PullTask task_;
  std::vector<int> puller_of_;  // by rank
  Learning& learning_;
  Tracing tracing_;
  ProgressBar bar_;
  std::shared_ptr<runtime::PullAmongHosts> in_memory_;
  std::optional<runtime::PullCollective> in_files_;
  Figures figures_;
  std::size_t planned_ = 0;  // repeats
};

void PullCommand::pull(std::size_t repeat) {
  Watchdog& watchdog = *job_.watchdog;
  const runtime::PullOptions options{.segment_bytes = arguments_.running.segment_bytes(),
                                     .timeout = arguments_.running.timeout,
                                     .transfers = tracing_.log(),
                                     .on_progress = bar_.shown_by(watchdog)};
  if (!in_memory_ && !in_files_) {
    watchdog.expect("waiting for all ranks to set up the pull", kOwnTimeoutFirst);
  }
  if (!files_.of_broadcast.in.empty()) {
    if (!in_files_) in_files_.emplace(job_.comm, options);
    PullCarrier pulled(*in_files_, task_.source);
    add(broadcast_file(job_.comm, pulled, with(repeat), files_.of_broadcast, bar_, watchdog));
    learning_.learn(*in_files_, figures_.message_bytes, figures_.seconds.back());
    return;
  }
  if (!in_memory_) {
    in_memory_ = std::make_shared<runtime::PullAmongHosts>(job_.comm, puller_of_, options);
  }
  if (files_.none()) {
    bar_.expect(arguments_.message().value);
    add(time_message(job_.comm, timed_pull(job_.comm, in_memory_, task_), with(repeat), watchdog));
  } else {
    add(move_files(job_.comm, pulling_mover(*in_memory_), with(repeat), files_.of_ranks, bar_,
                   watchdog));
  }
  learning_.learn(*in_memory_, figures_.message_bytes, figures_.seconds.back());
}

void PullCommand::follow(const planner::Plan& plan, std::size_t repeat) {
  const auto prepared = [&](auto options) {
    arguments_.running.write_to(options);
    options.on_progress = bar_.shown_by(*job_.watchdog);
    options.transfers = tracing_.log();
    return options;
  };
  const NamedPlan named{{}, plan, arguments_.running.segment_bytes()};
  job_.watchdog->expect("waiting for all ranks to set up the plan", kOwnTimeoutFirst);
  if (task_.operation == planner::Operation::kBroadcast) {
    const Broadcasts bound =
        bind_broadcasts(job_.comm, {&named, 1}, prepared(runtime::BroadcastOptions()));
    add(run_bound(job_.comm, named, bound, with(repeat), files_.of_broadcast, bar_,
                  *job_.watchdog));
  } else if (!files_.none()) {
    std::vector<runtime::Collective> bound;
    bind_plans(job_.comm, {&named, 1}, prepared(runtime::ReductionOptions()), bound);
    add(move_files(job_.comm, mover_of(bound.front(), {}), with(repeat), files_.of_ranks, bar_,
                   *job_.watchdog));
  } else {
    bar_.expect(arguments_.message().value);
    add(time_message(job_.comm,
                     timed_collective(job_.comm, task_.operation, {&named, 1},
                                      prepared(runtime::ReductionOptions()), {}),
                     with(repeat), *job_.watchdog));
  }
  planned_ += repeat;
  learning_.judge_plan(
      figures_.message_bytes,
      *std::min_element(figures_.seconds.end() - static_cast<std::ptrdiff_t>(repeat),
                        figures_.seconds.end()));
}

void pull_among(const Job& job, const RunArguments& arguments, const PulledFiles& files,
                const PullArguments& options, const PullTask& task) {
  const std::uint64_t message = files.none() ? arguments.message().value : 0;
  const std::vector<std::size_t> puller_of = pullers_of_ranks(job, files.of_broadcast.in.empty());
  Learning learning(job.comm, options.learning, task, puller_of, message, *job.watchdog);
  PullCommand command(job, arguments, files, task, puller_of, learning);
  command.run();
  if (runtime::rank_in(job.comm) == 0) command.report();
}

// Where ranks of one host have the same output, one of them pulls it: the source, or else the
// first.
void pull_files(const Job& job, const RunArguments& arguments, const PulledFiles& files,
                const PullArguments& options, PullTask task) {
  job.watchdog->expect("waiting for all ranks to name their files");
  const int rank = runtime::rank_in(job.comm);
  std::vector<int> puller = first_with_file(job.comm, own_name(files.of_broadcast.out, rank));
  const int first_at_source = puller[static_cast<std::size_t>(task.source)];
  std::ranges::replace(puller, first_at_source, task.source);
  const auto pulls = [&](int one) { return puller[static_cast<std::size_t>(one)] == one; };
  int pullers = 0;
  int before_source = 0;
  for (int one = 0; one < static_cast<int>(puller.size()); ++one) {
    if (one == task.source) before_source = pullers;
    if (pulls(one)) ++pullers;
  }
  if (pullers == static_cast<int>(puller.size())) {
    return pull_among(job, arguments, files, options, task);
  }
  if (rank == 0 && !arguments.quiet) {
    fmt::print(stderr, "espalier-mpi: pulled by {} of {} ranks; the others have the same files\n",
               pullers, puller.size());
  }
  task.source = before_source;
  const auto some = runtime::ranks_of_color(job.comm, pulls(rank) ? 0 : MPI_UNDEFINED);
  if (!some) job.watchdog->pause();
  runtime::act_on_some(job.comm, some.has_value(), [&] {
    pull_among({some->get(), job.watchdog}, arguments, files, options, task);
  });
}

}  // namespace

std::vector<std::size_t> pullers_of_ranks(const Job& job, bool in_memory) {
  const auto ranks = static_cast<std::size_t>(runtime::size_of(job.comm));
  if (!in_memory) return runtime::numbered_hosts({}, ranks);
  job.watchdog->expect("waiting for all ranks to tell their hosts", kOwnTimeoutFirst);
  const std::vector<int> host_of_rank = runtime::hosts_of_ranks(job.comm);
  const auto is_first = [&](int host) { return host == host_of_rank.front(); };
  if (std::ranges::all_of(host_of_rank, is_first)) return runtime::numbered_hosts({}, ranks);
  return runtime::numbered_hosts(host_of_rank, ranks);
}

void refuse_needing_plan(const RunArguments& arguments,
                         std::initializer_list<std::pair<bool, std::string_view>> needs) {
  const RunningOptions& running = arguments.running;
  const auto refuse = [](bool given, std::string_view option) {
    if (given) throw InputError(fmt::format("{} needs a plan; give PLAN", option));
  };
  refuse(!arguments.tuned.empty(), "--tuned");
  refuse(running.mapping != runtime::RankMapping::kByOrder, "--map");
  refuse(running.sends.has_value(), "--window");
  refuse(running.receives.has_value(), "--receives");
  refuse(running.ports.has_value(), "--ports");
  refuse(!running.direct_copies, "--as-planned");
  refuse(running.rounds, "--rounds");
  for (const auto& [given, option] : needs) refuse(given, option);
  arguments.check_records();
  if (!arguments.groups.empty()) throw InputError("--groups is for --algorithm");
  if (arguments.root) {
    throw InputError("--root is for --decisions; without a plan --source names the rank");
  }
}

void PullArguments::add_to(Arguments& app) {
  if (planner::needs_root(operation)) {
    app.add("--source", source,
            "without PLAN: the rank that has the message (default 0). All others ask whoever has a "
            "segment for it, and measure the links meanwhile",
            {.type = "RANK"});
  }
  learning.add_to(app);
}

void PullArguments::refuse_given() const {
  if (source) throw InputError("--source is for a run without a plan; a plan has its own source");
  if (!learning.platform_out.empty() || !learning.cache.empty() || !learning.uses_cache) {
    throw InputError("--platform-out, --cache and --no-cache are for a run without a plan");
  }
}

ExitStatus run_pull(const Job& job, const RunArguments& arguments, const PulledFiles& files,
                    const PullArguments& options) {
  const PullTask task{options.operation, checked_rank(job.comm, "--source", options.source)};
  job.watchdog->start(arguments.running.timeout);
  if (files.of_broadcast.in.empty()) {
    pull_among(job, arguments, files, options, task);
  } else {
    pull_files(job, arguments, files, options, task);
  }
  return ExitStatus::kDone;
}

}  // namespace espalier::cli
