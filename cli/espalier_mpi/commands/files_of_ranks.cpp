// Operations on files of which each rank has its own: a part, or what is combined.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/espalier_mpi/commands/file_names.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "cli/espalier_mpi/commands/trees_of_ranks.hpp"
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

using planner::Operation;
using runtime::check;

bool sends_to_each(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kAlltoall;
}

class PartFiles {
 public:
  PartFiles(MPI_Comm comm, const FileMover& mover, const FilesOfRanks& files, Watchdog& watchdog)
      : comm_(comm),
        mover_(&mover),
        watchdog_(&watchdog),
        rank_(runtime::rank_in(comm)),
        ranks_(static_cast<std::size_t>(runtime::size_of(comm))) {
    watchdog_->expect("waiting for all ranks to name their files");
    const bool is_root = rank_ == mover.root;
    const Operation operation = mover.operation;
    if (is_root || operation != Operation::kScatter) {
      input_name_ = own_name(files.in, rank_, mover.node);
    }
    const bool is_for_root = operation == Operation::kGather || operation == Operation::kReduce;
    if (is_root || !is_for_root) output_name_ = own_name(files.out, rank_, mover.node);
    if (!is_for_root) refuse_conflicts(comm_, output_name_);
    const TreesOfRanks::OwnNames own{input_name_, output_name_};
    if (TreesOfRanks::are_meant(comm_, mover, files, own)) {
      trees_.emplace(comm_, mover, files, own);
      input_ = trees_->take_input();
      total_ = trees_->bytes();
      parts_ = trees_->parts();
    } else {
      runtime::collective_try_by_rank(comm_, [&] {
        if (!input_name_.empty()) open_input();
      });
      divide();
    }
    disk_ = disk_time(total_);
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }

  // One round. Afterwards the files are complete, but do not have their final names yet.
  double run(const ReportTimer& timer) {
    watchdog_->expect("waiting for all ranks to reserve space for their files", disk_);
    output_.reset();
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_name_.empty()) return;
      output_ =
          trees_ ? trees_->new_output()
                 : std::make_unique<runtime::MappedOutput>(output_name_, sum_of(parts_.received));
    });
    const double seconds =
        timer.seconds_of({[&] {
                            mover_->move(input_ ? input_->bytes().data() : nullptr,
                                         output_ ? output_->bytes().data() : nullptr, parts_);
                          },
                          {},
                          true});
    watchdog_->expect("waiting for all ranks to check their files", disk_);
    runtime::collective_try_by_rank(comm_, [&] {
      const auto change = input_ ? input_->change() : std::nullopt;
      if (change) {
        throw CheckFailed(fmt::format("{}; run again when nothing writes it", describe(*change)));
      }
    });
    return seconds;
  }

  // Compares the outputs with the inputs, whose parts are received as they are.
  void verify() {
    watchdog_->expect("waiting for all ranks to check their files", disk_);
    const std::size_t each = sends_to_each(mover_->operation) ? ranks_ : 1;
    std::vector<std::uint64_t> mine(each, 0);
    if (input_) mine = checksums_in(*input_, parts_.sent);
    std::vector<std::uint64_t> sent(each * ranks_);
    const int count = static_cast<int>(each);
    check(MPI_Allgather(mine.data(), count, MPI_UINT64_T, sent.data(), count, MPI_UINT64_T, comm_),
          "MPI_Allgather");
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_ == nullptr) return;
      const std::vector<std::uint64_t> written = checksums_in(*output_, parts_.received);
      for (std::size_t i = 0; i < written.size(); ++i) {
        const bool is_from_root = mover_->operation == Operation::kScatter;
        const std::size_t from = is_from_root ? static_cast<std::size_t>(mover_->root) : i;
        const std::uint64_t right = sent[from * each + (each > 1 ? here() : 0)];
        if (written[i] == right) continue;
        throw CheckFailed(fmt::format(
            "{}: the part from rank {} differs from what was sent (checksum {:016x}, not {:016x})",
            output_name_, from, written[i], right));
      }
    });
  }

  void commit() {
    watchdog_->expect("waiting for all ranks to write their files to disk", disk_);
    commit_with_all(comm_, output_.get());
  }

 private:
  [[nodiscard]] std::size_t here() const { return static_cast<std::size_t>(rank_); }
  static std::uint64_t sum_of(const std::vector<std::size_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  // Of the parts that follow one another in the file.
  template <class File>
  static std::vector<std::uint64_t> checksums_in(const File& file,
                                                 const std::vector<std::size_t>& counts) {
    std::vector<std::uint64_t> sums;
    std::size_t first = 0;
    for (const std::size_t count : counts) {
      sums.push_back(runtime::hash_of(file.bytes().subspan(first, count)));
      first += count;
    }
    return sums;
  }
  void open_input() {
    input_ = std::make_unique<runtime::MappedInput>(input_name_);
    const std::size_t bytes = input_->bytes().size();
    if (bytes % mover_->element_bytes == 0) return;
    throw InputError(
        input_name_, {},
        fmt::format("{} bytes are not whole elements of {} bytes", bytes, mover_->element_bytes));
  }
  // By rank, of the inputs.
  [[nodiscard]] std::vector<std::uint64_t> shared_sizes() const {
    const std::uint64_t mine = input_ ? input_->bytes().size() : 0;
    std::vector<std::uint64_t> sizes(ranks_);
    check(MPI_Allgather(&mine, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm_),
          "MPI_Allgather");
    return sizes;
  }
  void divide() {
    const std::vector<std::uint64_t> sizes = shared_sizes();
    total_ = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    parts_.sent = {sizes[here()]};
    switch (mover_->operation) {
      case Operation::kScatter: {
        const std::vector<std::size_t> parts = runtime::divided(total_, mover_->shares);
        parts_ = {parts, {parts[here()]}};
        return;
      }
      case Operation::kGather:
      case Operation::kAllgather:
        parts_.received.assign(sizes.begin(), sizes.end());
        return;
      case Operation::kAlltoall:
        for (std::size_t from = 0; from < ranks_; ++from) {
          const std::span<const double> shares(mover_->shares.data() + from * ranks_, ranks_);
          const std::vector<std::size_t> parts =
              runtime::divided(sizes[from], {shares.begin(), shares.end()});
          if (from == here()) parts_.sent = parts;
          parts_.received.push_back(parts[here()]);
        }
        total_ /= ranks_;
        return;
      default:
        break;
    }
    for (std::size_t rank = 1; rank < ranks_; ++rank) {
      if (sizes[rank] == sizes.front()) continue;
      throw InputError(
          fmt::format("--in: the file of rank 0 has {} bytes, that of rank {} {}; "
                      "files that are combined have one size",
                      sizes.front(), rank, sizes[rank]));
    }
    total_ = sizes.front();
    parts_.received = parts_.sent;
    if (mover_->operation != Operation::kReduceScatter) return;
    parts_.sent = runtime::divided(total_ / mover_->element_bytes, mover_->shares);
    for (std::size_t& part : parts_.sent) part *= mover_->element_bytes;
    parts_.received = {parts_.sent[here()]};
  }

  MPI_Comm comm_;
  const FileMover* mover_;
  Watchdog* watchdog_;
  int rank_;
  std::size_t ranks_;
  std::string input_name_;   // empty: this rank reads no file
  std::string output_name_;  // empty: this rank writes no file
  std::uint64_t total_ = 0;  // of the message
  PartBytes parts_;
  Seconds disk_;
  std::unique_ptr<runtime::MappedSource> input_;
  std::unique_ptr<runtime::MappedTarget> output_;
  std::optional<TreesOfRanks> trees_;  // instead of parts of files
};

}  // namespace

FileMover mover_of(runtime::Collective& collective, Elements elements) {
  const Operation operation = collective.operation();
  const std::size_t element = planner::combines(operation) ? bytes_of(elements.type) : 1;
  FileMover mover{.operation = operation,
                  .root = collective.root(),
                  .node = collective.node(),
                  .shares = collective.shares(),
                  .element_bytes = element};
  mover.segment_bytes = [&collective, element](std::uint64_t bytes) {
    return collective.segment_bytes(bytes, element);
  };
  mover.predicted_time = [&collective](std::uint64_t bytes, std::uint64_t segment) {
    return collective.predicted_time(bytes, segment);
  };
  mover.move = [&collective, operation, elements, element](std::byte* in, std::byte* out,
                                                           const PartBytes& parts) {
    const auto counts = [&](std::vector<std::size_t> bytes) {
      for (std::size_t& count : bytes) count /= element;
      return bytes;
    };
    const MPI_Datatype type = mpi_type(elements.type);
    const MPI_Op op = mpi_op(elements.op);
    switch (operation) {
      case Operation::kScatter:
        return collective.scatter(in, out, parts.sent, {}, MPI_BYTE);
      case Operation::kGather:
        return collective.gather(in, out, parts.received, {}, MPI_BYTE);
      case Operation::kAllgather:
        return collective.allgather(in, out, parts.received, {}, MPI_BYTE);
      case Operation::kAlltoall:
        return collective.alltoallv(in, parts.sent, {}, out, parts.received, {}, MPI_BYTE);
      case Operation::kReduceScatter:
        return collective.reduce_scatter(in, out, counts(parts.sent), type, op);
      default:
        return collective.run(in, out, counts(parts.sent).front(), type, op);
    }
  };
  return mover;
}

Figures move_files(MPI_Comm comm, const FileMover& mover, const RunArguments& arguments,
                   const FilesOfRanks& files, ProgressBar& bar, Watchdog& watchdog) {
  PartFiles parts(comm, mover, files, watchdog);
  Figures figures;
  figures.message_bytes = parts.total();
  figures.segment_bytes = mover.segment_bytes(figures.message_bytes);
  figures.verified = arguments.verify;
  bar.expect(figures.message_bytes);
  const ReportTimer timer(comm, mover.root, Seconds{},
                          mover.predicted_time(figures.message_bytes, figures.segment_bytes),
                          arguments.running.timeout, watchdog);
  for (std::size_t i = 0; i < arguments.repeat; ++i) {
    figures.seconds.push_back(parts.run(timer));
    if (arguments.verify) parts.verify();
  }
  parts.commit();
  return figures;
}

}  // namespace espalier::cli
