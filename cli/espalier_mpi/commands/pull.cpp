#include "cli/espalier_mpi/commands/pull.hpp"

#include <fmt/format.h>

#include <memory>

#include "runtime/files/file_store.hpp"
#include "runtime/pull/pull_broadcast.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

class PulledFiles : public FileCarrier {
 public:
  PulledFiles(runtime::PullBroadcast& broadcast, int source)
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
  runtime::PullBroadcast* broadcast_;
  int source_;
};

TimedOperation timed_pull(MPI_Comm comm, const std::shared_ptr<runtime::PullBroadcast>& broadcast,
                          int source) {
  TimedOperation timed = timed_mpi_bcast(comm, source);
  timed.candidates.push_back(
      {{},
       [broadcast, source](std::span<std::byte> message) {
         broadcast->run(message.data(), message.size(), MPI_BYTE, source);
       },
       [broadcast](std::uint64_t message_bytes) { return broadcast->segment_bytes(message_bytes); },
       // Nothing is known beforehand.
       [](std::uint64_t) { return Seconds{}; }});
  return timed;
}

int checked_source(MPI_Comm comm, std::uint64_t source) {
  const auto ranks = static_cast<std::uint64_t>(runtime::size_of(comm));
  if (source < ranks) return static_cast<int>(source);
  throw InputError(fmt::format("--source: there is no rank {}; give 0 to {}", source, ranks - 1));
}

}  // namespace

ExitStatus run_pull(const Job& job, const RunArguments& arguments, const FileOptions& files,
                    std::uint64_t source) {
  const MPI_Comm comm = job.comm;
  Watchdog& watchdog = *job.watchdog;
  const int rank = runtime::rank_in(comm);
  const int from = checked_source(comm, source);
  watchdog.start(arguments.running.timeout);
  watchdog.expect("waiting for all ranks to set up the broadcast", kOwnTimeoutFirst);
  ProgressBar bar(rank == 0 && !arguments.quiet, {});
  const auto broadcast = std::make_shared<runtime::PullBroadcast>(
      comm,
      runtime::PullOptions{.segment_bytes = arguments.running.segment.value_or(Bytes{0}).value,
                           .timeout = arguments.running.timeout,
                           .on_progress = [&bar, &watchdog](std::uint64_t bytes) {
                             bar.show(bytes);
                             watchdog.note_progress();
                           }});
  Figures figures;
  if (files.in.empty()) {
    bar.expect(arguments.message().value);
    figures = time_message(comm, timed_pull(comm, broadcast, from), arguments, watchdog);
  } else {
    PulledFiles pulled(*broadcast, from);
    figures = broadcast_file(comm, pulled, arguments, files, bar, watchdog);
  }
  bar.end();
  if (rank == 0) {
    warn_of_change(figures);
    const auto ranks = static_cast<std::size_t>(runtime::size_of(comm));
    print_report(pull_report(ranks, from, figures), arguments.json);
  }
  return ExitStatus::kDone;
}

}  // namespace espalier::cli
