// Operations on files of which each rank has its own: a part, or what is combined.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/espalier_mpi/commands/file_names.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/api/parts.hpp"
#include "runtime/files/mapped_files.hpp"
#include "runtime/files/tree_parts.hpp"
#include "runtime/memory/checksum.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;
using runtime::check;

// Whether ranks get parts as they are, and no row of each.
bool copies_parts(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kGather ||
         operation == Operation::kAllgather;
}

bool sends_to_each(Operation operation) {
  return operation == Operation::kScatter || operation == Operation::kAlltoall;
}

// The largest of all ranks' values.
std::uint64_t largest(MPI_Comm comm, std::uint64_t value) {
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");
  return value;
}

bool is_folder(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_directory(name, ignored);
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
    const bool names_each = names_a_file_each(files);
    if (copies_parts(operation) &&
        largest(comm_, names_each || is_folder(input_name_) ? 1 : 0) != 0) {
      name_trees(files);
      divide_trees();
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
      if (!output_name_.empty()) output_ = new_output();
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
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_) output_->sync();
    });
    runtime::collective_try_by_rank(comm_, [&] {
      if (output_) output_->commit();
    });
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
  // Whether the root has a file or a folder of each rank, by the option with a name that depends on
  // the rank.
  [[nodiscard]] bool names_a_file_each(const FilesOfRanks& files) const {
    return (mover_->operation == Operation::kScatter && depends_on_rank(files.in)) ||
           (mover_->operation == Operation::kGather && depends_on_rank(files.out));
  }
  // Sets what each rank sends or, in a scatter, receives, and maps the input.
  void name_trees(const FilesOfRanks& files) {
    alignment_ = largest(comm_, runtime::page_bytes());
    std::vector<runtime::MappedInputTrees::Named> inputs;
    if (mover_->operation == Operation::kScatter) {
      const std::vector<std::string> names =
          runtime::gather_texts(comm_, own_name(files.in, rank_, mover_->node));
      std::string text;
      runtime::collective_try_by_rank(comm_, [&] {
        if (rank_ != mover_->root) return;
        inputs = scattered(names, depends_on_rank(files.in));
        text = runtime::to_text(trees_);
      });
      runtime::share_text(comm_, mover_->root, text);
      trees_ = runtime::named_files_from_text(text);
    } else {
      std::vector<runtime::NamedFiles> mine(1);
      runtime::collective_try_by_rank(comm_,
                                      [&] { mine.front() = runtime::scan_name(input_name_); });
      for (const std::string& text : runtime::gather_texts(comm_, runtime::to_text(mine))) {
        trees_.push_back(runtime::named_files_from_text(text).front());
      }
      inputs.push_back({input_name_, mine.front().tree});
      name_places(files.out);
    }
    runtime::collective_try_by_rank(comm_, [&] {
      if (inputs.empty()) return;
      input_ = std::make_unique<runtime::MappedInputTrees>(inputs, alignment_);
    });
  }
  // The root's input, which sets what each rank receives.
  [[nodiscard]] std::vector<runtime::MappedInputTrees::Named> scattered(
      const std::vector<std::string>& names, bool one_each) {
    std::vector<runtime::MappedInputTrees::Named> inputs;
    if (one_each) {
      for (const std::string& name : names) {
        trees_.push_back(runtime::scan_name(name));
        inputs.push_back({name, trees_.back().tree});
      }
      return inputs;
    }
    inputs.push_back({input_name_, runtime::scan_name(input_name_).tree});
    for (runtime::FileTree& part : runtime::dealt(inputs.front().tree, mover_->shares)) {
      trees_.push_back({true, std::move(part)});
    }
    return inputs;
  }
  // Where each rank's files are in the output's folder.
  void name_places(const std::string& out) {
    places_.assign(ranks_, {});
    if (mover_->operation != Operation::kGather || !depends_on_rank(out)) return;
    const std::size_t folder = out.rfind('/', out.find('{'));
    const std::size_t place = folder == std::string::npos ? 0 : folder + 1;
    places_ = runtime::gather_texts(comm_, own_name(out.substr(place), rank_, mover_->node));
    if (!output_name_.empty()) output_name_ = place == 0 ? "." : out.substr(0, place);
  }
  void divide_trees() {
    std::vector<std::size_t> sizes;
    for (const runtime::NamedFiles& files : trees_) {
      sizes.push_back(runtime::aligned_bytes(files.tree, alignment_));
      for (const auto& entry : files.tree.entries) total_ += entry.bytes;
    }
    parts_ = {{sizes[here()]}, sizes};
    if (mover_->operation == Operation::kScatter) std::swap(parts_.sent, parts_.received);
  }
  [[nodiscard]] std::unique_ptr<runtime::MappedTarget> new_output() const {
    if (trees_.empty()) {
      return std::make_unique<runtime::MappedOutput>(output_name_, sum_of(parts_.received));
    }
    if (mover_->operation != Operation::kScatter) {
      return std::make_unique<runtime::MappedOutputTree>(
          output_name_, runtime::joined(trees_, places_), alignment_);
    }
    const runtime::NamedFiles& mine = trees_[here()];
    if (mine.is_folder) {
      return std::make_unique<runtime::MappedOutputTree>(output_name_, mine.tree, alignment_);
    }
    return std::make_unique<runtime::MappedOutput>(output_name_, mine.tree.entries.front().bytes,
                                                   alignment_);
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
  // Where files of trees are copied: of each rank, what it sends or, in a scatter, receives.
  std::vector<runtime::NamedFiles> trees_;
  std::vector<std::string> places_;  // of these in the output's folder
  std::uint64_t alignment_ = 1;
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
