// Scatters a file to files of all ranks, or gathers their files into one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "cli/espalier_mpi/commands/file_names.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/files/mapped_files.hpp"
#include "runtime/memory/checksum.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using runtime::check;

class RoutedFile {
 public:
  RoutedFile(MPI_Comm comm, runtime::Collective& collective, const RoutedFiles& files,
             Watchdog& watchdog)
      : comm_(comm),
        collective_(&collective),
        watchdog_(&watchdog),
        rank_(runtime::rank_in(comm)),
        scatters_(collective.operation() == planner::Operation::kScatter) {
    watchdog_->expect("waiting for all ranks to name their files");
    const bool is_root = rank_ == collective.root();
    if (is_root || !scatters_) input_name_ = own_name(files.in, rank_, collective.node());
    if (is_root || scatters_) output_name_ = own_name(files.out, rank_, collective.node());
    if (scatters_) refuse_conflicts(comm_, output_name_);
    runtime::collective_try_by_rank(comm_, [&] {
      if (!input_name_.empty()) input_ = std::make_unique<runtime::MappedInput>(input_name_);
    });
    share_sizes();
    disk_ = disk_time(total());
  }

  [[nodiscard]] std::uint64_t total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }

  // One round. Afterwards the files are complete, but do not have their final names yet.
  double run(const ReportTimer& timer) {
    watchdog_->expect("waiting for all ranks to reserve space for their files", disk_);
    output_.reset();
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_name_.empty()) return;
      const std::uint64_t bytes = scatters_ ? counts_[here()] : total();
      output_ = std::make_unique<runtime::MappedOutput>(output_name_, bytes);
    });
    const double seconds = timer.seconds_of({[&] { move(); }, {}, true});
    watchdog_->expect("waiting for all ranks to check their files", disk_);
    runtime::collective_try_by_rank(comm_, [&] {
      const auto change = input_ ? input_->change() : std::nullopt;
      if (change) {
        throw CheckFailed(fmt::format("{}; run again when nothing writes it", describe(*change)));
      }
    });
    return seconds;
  }

  // Compares the outputs with the inputs.
  void verify() {
    watchdog_->expect("waiting for all ranks to check their files", disk_);
    std::vector<std::uint64_t> sent(counts_.size());
    if (!scatters_) {
      sent[here()] = runtime::hash_of(input_->bytes());
    } else if (input_) {
      for (std::size_t rank = 0; rank < sent.size(); ++rank)
        sent[rank] = checksum_in(*input_, rank);
    }
    check(MPI_Allreduce(MPI_IN_PLACE, sent.data(), static_cast<int>(sent.size()), MPI_UINT64_T,
                        MPI_BOR, comm_),
          "MPI_Allreduce");
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_ == nullptr) return;
      for (std::size_t rank = 0; rank < sent.size(); ++rank) {
        if (scatters_ && rank != here()) continue;
        const std::uint64_t written =
            scatters_ ? runtime::hash_of(output_->bytes()) : checksum_in(*output_, rank);
        if (written == sent[rank]) continue;
        throw CheckFailed(fmt::format(
            "{}: the part of rank {} differs from what was sent (checksum {:016x}, not {:016x})",
            output_name_, rank, written, sent[rank]));
      }
    });
  }

  void commit() {
    watchdog_->expect("waiting for all ranks to write their files to disk", disk_);
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_) output_->sync();
    });
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_) output_->commit();
    });
  }

 private:
  [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(rank_); }
  // Of a rank's part in a file of all parts.
  template <class File>
  [[nodiscard]] std::uint64_t checksum_in(const File& file, std::size_t rank) const {
    const std::size_t first = runtime::one_after_another(counts_)[rank];
    return runtime::hash_of(file.bytes().subspan(first, counts_[rank]));
  }
  // All ranks must know the sizes of all parts.
  void share_sizes() {
    std::uint64_t mine = input_ ? input_->bytes().size() : 0;
    if (scatters_) {
      check(MPI_Bcast(&mine, 1, MPI_UINT64_T, collective_->root(), comm_), "MPI_Bcast");
      counts_ = runtime::divided(mine, collective_->shares());
      return;
    }
    std::vector<std::uint64_t> sizes(collective_->ranks());
    check(MPI_Allgather(&mine, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm_),
          "MPI_Allgather");
    counts_.assign(sizes.begin(), sizes.end());
  }
  void move() {
    std::byte* const in = input_ ? input_->bytes().data() : nullptr;
    std::byte* const out = output_ ? output_->bytes().data() : nullptr;
    if (scatters_) {
      collective_->scatter(in, out, counts_, {}, MPI_BYTE);
    } else {
      collective_->gather(in, out, counts_, {}, MPI_BYTE);
    }
  }

  MPI_Comm comm_;
  runtime::Collective* collective_;
  Watchdog* watchdog_;
  int rank_;
  bool scatters_;
  std::string input_name_;   // empty: this rank reads no file
  std::string output_name_;  // empty: this rank writes no file
  std::vector<std::size_t> counts_;
  Seconds disk_;
  std::unique_ptr<runtime::MappedInput> input_;
  std::unique_ptr<runtime::MappedOutput> output_;
};

}  // namespace

Figures route_files(MPI_Comm comm, runtime::Collective& collective, const RunArguments& arguments,
                    const RoutedFiles& files, ProgressBar& bar, Watchdog& watchdog) {
  RoutedFile routed(comm, collective, files, watchdog);
  Figures figures;
  figures.message_bytes = routed.total();
  figures.segment_bytes = collective.segment_bytes(figures.message_bytes);
  figures.verified = arguments.verify;
  bar.expect(figures.message_bytes);
  const ReportTimer timer(comm, collective.root(), Seconds{},
                          collective.predicted_time(figures.message_bytes, figures.segment_bytes),
                          arguments.running.timeout, watchdog);
  for (std::size_t i = 0; i < arguments.repeat; ++i) {
    figures.seconds.push_back(routed.run(timer));
    if (arguments.verify) routed.verify();
  }
  routed.commit();
  return figures;
}

}  // namespace espalier::cli
