// Broadcasts a file, several files or a folder to every rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/espalier_mpi/commands/file_names.hpp"
#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "cli/espalier_mpi/run/timing.hpp"
#include "runtime/files/file_store.hpp"
#include "runtime/files/file_tree.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;
using runtime::check;

// Together with MPI's own memory this stays below 64 MiB per rank (docs/runtime.md).
constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;

// Whether the input is several files or a folder, and not one file.
bool is_tree(const std::vector<std::string>& in) {
  std::error_code ignored;
  return in.size() != 1 || fs::is_directory(in[0], ignored);
}

class FileBroadcast {
 public:
  FileBroadcast(MPI_Comm comm, FileCarrier& broadcast, const RunArguments& arguments,
                const FileOptions& files, ProgressBar& bar, Watchdog& watchdog)
      : comm_(comm),
        broadcast_(&broadcast),
        watchdog_(&watchdog),
        verify_(arguments.verify),
        resumes_(files.resume),
        allows_changes_(files.allow_changes),
        bar_(&bar) {
    rank_ = runtime::rank_in(comm_);
    watchdog_->expect("waiting for all ranks to name their files");
    output_name_ = own_name(files.out, rank_);
    runtime::collective_try_by_rank(comm_, [&] {
      if (is_source()) open_input(files.in);
    });
    share_input_facts();
    writes_ = is_source() ? is_tree_ || identity_of(files.in[0]) != identity_of(output_name_)
                          : broadcast_->receives_all();
    refuse_conflicts(comm_, output_name_);
    shape_ = broadcast_->stream_shape(bytes_, kWindowBytes);
    disk_ = disk_time(bytes_ + hole_bytes_);  // devices have no holes
    timer_.emplace(comm_, broadcast_->root(), Seconds{},
                   broadcast_->predicted_time(bytes_, shape_.segment_bytes),
                   arguments.running.timeout, watchdog);
  }

  // One round. Afterwards the files are complete, but do not have their final names yet.
  double run() {
    watchdog_->expect("waiting for all ranks to reserve space for their files", disk_);
    output_.reset();
    runtime::collective_try_by_rank(comm_, [&] {
      if (writes_) output_ = make_output();
    });
    store_ = std::make_unique<runtime::FileStore>(shape_, input_.get(), output_.get());
    watchdog_->expect("waiting for all ranks to check their partial files", disk_);
    skip_kept_bytes();
    bar_->expect(bytes());
    const ReportTimer::Act stream{[&] {
                                    if (broadcast_->stream(bytes_ - skipped_, shape_, *store_)) {
                                      return;
                                    }
                                    watchdog_->expect(
                                        "waiting for all ranks to report their failures", disk_);
                                    refuse_failures();
                                  },
                                  {}};
    const double seconds = timer_->seconds_of(stream);
    watchdog_->expect("waiting for all ranks to check their files", disk_);
    refuse_failures();
    compare_checksums(store_->checksum(), "received");
    if (verify_) {
      std::uint64_t written = store_->checksum();
      runtime::collective_try_by_rank(comm_, [&] {
        if (writes_) written = checksum_of(*output_, bytes_, shape_.segment_bytes);
      });
      compare_checksums(written, "written");
    }
    return seconds;
  }

  void commit() {
    watchdog_->expect("waiting for all ranks to write their files to disk", disk_);
    commit_with_all(comm_, writes_ ? output_.get() : nullptr);
  }

  // The bytes sent, after run().
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ - skipped_; }
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  [[nodiscard]] std::uint64_t hole_bytes() const { return hole_bytes_; }
  [[nodiscard]] std::uint64_t segment_bytes() const { return shape_.segment_bytes; }
  // With --allow-changes, on all ranks: what changed of the source; empty: nothing.
  [[nodiscard]] std::string change() {
    std::string text = change_ ? describe(*change_) : "";
    runtime::share_text(comm_, broadcast_->root(), text);
    return text;
  }

 private:
  [[nodiscard]] bool is_source() const { return rank_ == broadcast_->root(); }

  void open_input(const std::vector<std::string>& in) {
    is_tree_ = is_tree(in);
    if (is_tree_) {
      tree_ = runtime::scan_files(in);
      input_ = std::make_unique<runtime::InputTree>(in, tree_);
    } else {
      auto input = std::make_unique<runtime::InputFile>(in[0]);
      tree_.entries = {
          {.path = "file", .bytes = input->layout().bytes, .holes = input->layout().holes}};
      input_ = std::move(input);
    }
  }

  // Shares with all ranks what they must know to create their outputs.
  void share_input_facts() {
    std::array<std::uint64_t, 2> facts{};
    if (is_source()) facts = {is_tree_ ? 1U : 0U, input_->identity()};
    check(MPI_Bcast(facts.data(), 2, MPI_UINT64_T, broadcast_->root(), comm_), "MPI_Bcast");
    is_tree_ = facts[0] != 0;
    if (resumes_) resume_ = facts[1];
    std::string text = is_source() ? to_text(tree_) : std::string{};
    runtime::share_text(comm_, broadcast_->root(), text);
    runtime::collective_try(comm_, [&] { tree_ = runtime::file_tree_from_text(text); });
    bytes_ = runtime::sequence_of(tree_).bytes();
    for (const runtime::FileTree::Entry& entry : tree_.entries) {
      for (const runtime::ByteRange& hole : entry.holes) hole_bytes_ += hole.bytes;
    }
  }

  std::unique_ptr<runtime::ByteTarget> make_output() {
    if (is_tree_) return std::make_unique<runtime::OutputTree>(output_name_, tree_, resume_);
    const runtime::FileTree::Entry& file = tree_.entries.front();
    return std::make_unique<runtime::OutputFile>(
        output_name_, runtime::FileLayout{file.bytes, file.holes}, resume_);
  }

  // The first bytes that every rank kept from an earlier run are not sent again if their checksum
  // is the source's.
  void skip_kept_bytes() {
    if (!resumes_) return;
    std::uint64_t kept = writes_ ? output_->kept() : bytes_;
    check(MPI_Allreduce(MPI_IN_PLACE, &kept, 1, MPI_UINT64_T, MPI_MIN, comm_), "MPI_Allreduce");
    skipped_ = std::min(kept, bytes_) / shape_.segment_bytes * shape_.segment_bytes;
    std::uint64_t checksum = 0;
    runtime::collective_try_by_rank(comm_, [&] {
      runtime::StoredBytes* const mine =
          is_source() ? static_cast<runtime::StoredBytes*>(input_.get()) : output_.get();
      checksum = checksum_of(*mine, skipped_, shape_.segment_bytes);
      // The source's own output is checked as well.
      if (is_source() && writes_ &&
          checksum_of(*output_, skipped_, shape_.segment_bytes) != checksum) {
        checksum = ~checksum;
      }
    });
    if (!runtime::all_equal(comm_, std::array<std::uint64_t, 1>{checksum})) skipped_ = 0;
    if (skipped_ > 0) store_->continue_from(skipped_, checksum);
  }

  // A source that has changed is also the reason for not being able to read it.
  void refuse_failures() {
    runtime::collective_try_by_rank(comm_, [&] {
      if (is_source()) refuse_changes();
      if (store_->failed()) throw InputError(store_->failure());
    });
  }

  void refuse_changes() {
    change_ = input_->change();
    if (!change_ || allows_changes_) return;
    throw CheckFailed(
        fmt::format("{}; run again when nothing writes it, or accept a mixture of its old and new "
                    "contents with --allow-changes",
                    describe(*change_)));
  }

  void compare_checksums(std::uint64_t mine, std::string_view what) {
    std::uint64_t sources = mine;
    check(MPI_Bcast(&sources, 1, MPI_UINT64_T, broadcast_->root(), comm_), "MPI_Bcast");
    runtime::collective_try_by_rank(comm_, [&] {
      if (mine != sources && broadcast_->receives_all()) {
        throw CheckFailed(
            fmt::format("{}: the {} data differ from those sent (checksum {:016x}, "
                        "not {:016x})",
                        output_name_, what, mine, sources));
      }
    });
  }

  MPI_Comm comm_;
  FileCarrier* broadcast_;
  Watchdog* watchdog_;
  bool verify_;
  bool resumes_;
  bool allows_changes_;
  ProgressBar* bar_;
  std::optional<std::uint64_t> resume_;  // the source's identity
  std::uint64_t skipped_ = 0;            // bytes kept from an earlier run
  int rank_ = 0;
  std::string output_name_;
  std::unique_ptr<runtime::ByteSource> input_;
  std::optional<runtime::SourceChange> change_;  // on the source
  bool is_tree_ = false;
  runtime::FileTree tree_;   // of a single file: one entry, whose name does not matter
  std::uint64_t bytes_ = 0;  // without those of holes
  std::uint64_t hole_bytes_ = 0;
  bool writes_ = true;
  runtime::Broadcast::StreamShape shape_{};
  Seconds disk_;
  std::optional<ReportTimer> timer_;
  std::unique_ptr<runtime::ByteTarget> output_;
  std::unique_ptr<runtime::FileStore> store_;
};

}  // namespace

Figures broadcast_file(MPI_Comm comm, FileCarrier& broadcast, const RunArguments& arguments,
                       const FileOptions& options, ProgressBar& bar, Watchdog& watchdog) {
  FileBroadcast files(comm, broadcast, arguments, options, bar, watchdog);
  Figures figures;
  for (std::size_t i = 0; i < arguments.repeat; ++i) figures.seconds.push_back(files.run());
  figures.message_bytes = files.bytes();
  figures.segment_bytes = files.segment_bytes();
  figures.resumed_bytes = files.skipped();
  figures.hole_bytes = files.hole_bytes();
  figures.verified = true;
  figures.source_change = files.change();
  files.commit();
  return figures;
}

}  // namespace espalier::cli
