// A file to every rank.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/espalier_mpi_bcast.hpp"
#include "runtime/agreement.hpp"
#include "runtime/file_store.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/rank_mapping.hpp"
#include "support/errors.hpp"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;
using runtime::check;

// With MPI's own memory that stays under 64 MiB a rank (docs/runtime.md).
constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;

std::string with_all(std::string text, std::string_view what, const std::string& value) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + value.size())) {
    text.replace(at, what.size(), value);
  }
  return text;
}

// The file that a name means, as far as it exists; names that only look different are the same
// then.
std::string identity_of(const std::string& name) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(fs::absolute(name, ignored), ignored);
  return path.empty() ? name : path.string();
}

// Two ranks may write one device, such as /dev/null.
bool is_device(const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::status(name, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine) {
  int ranks = 0;
  check(MPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> starts;
  int total = 0;
  for (const int one : lengths) {
    starts.push_back(total);
    total += one;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  check(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(),
                       MPI_CHAR, comm),
        "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

// Throws on all ranks alike when two of them on one host would write, or one write and one read,
// the same file.
void refuse_conflicts(MPI_Comm comm, const std::string& file) {
  const std::string mine = is_device(file) ? std::string{} : identity_of(file);
  const std::vector<std::string> files = gather_texts(comm, mine);
  const std::vector<std::string> hosts = runtime::host_names(comm);
  for (std::size_t second = 0; second < files.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      if (files[first].empty() || files[first] != files[second] || hosts[first] != hosts[second]) {
        continue;
      }
      throw InputError(files[first], {},
                       fmt::format("is the file of rank {} and of rank {} on host {}; put {{rank}} "
                                   "into --out",
                                   first, second, hosts[first]));
    }
  }
}

class FileBroadcast {
 public:
  FileBroadcast(MPI_Comm comm, runtime::Broadcast& broadcast, const BcastArguments& arguments)
      : comm_(comm), broadcast_(&broadcast), verify_(arguments.verify) {
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    output_name_ = with_all(arguments.out, "{rank}", std::to_string(rank_));
    output_name_ = with_all(output_name_, "{host}", runtime::host_name());
    runtime::together(
        comm_,
        [&] {
          if (is_source()) input_.emplace(arguments.in);
        },
        true);
    bytes_ = is_source() ? input_->bytes() : 0;
    check(MPI_Bcast(&bytes_, 1, MPI_UINT64_T, broadcast_->root(), comm_), "MPI_Bcast");
    writes_ = !is_source() || identity_of(arguments.in) != identity_of(output_name_);
    refuse_conflicts(comm_, output_name_);
    shape_ = broadcast_->stream_shape(bytes_, kWindowBytes);
  }

  // One round up to files that are whole but have no name yet.
  double run() {
    output_.reset();
    runtime::together(
        comm_,
        [&] {
          if (writes_) output_.emplace(output_name_, bytes_);
        },
        true);
    store_ = make_store();
    const double seconds = seconds_to_report(comm_, broadcast_->root(), [&] {
      if (!broadcast_->stream(bytes_, shape_, *store_)) refuse_failures();
    });
    refuse_failures();
    compare_checksums(store_->checksum(), "received");
    if (verify_) {
      std::uint64_t written = store_->checksum();
      runtime::together(
          comm_,
          [&] {
            if (writes_) written = checksum_of(*output_, bytes_, shape_.slice_bytes);
          },
          true);
      compare_checksums(written, "written");
    }
    return seconds;
  }

  void commit() {
    runtime::together(
        comm_,
        [&] {
          if (writes_) output_->sync();
        },
        true);
    runtime::together(
        comm_,
        [&] {
          if (writes_) output_->commit();
        },
        true);
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t slice_bytes() const { return shape_.slice_bytes; }

 private:
  [[nodiscard]] bool is_source() const { return rank_ == broadcast_->root(); }

  std::unique_ptr<runtime::FileStore> make_store() {
    if (!is_source()) return std::make_unique<runtime::FileSink>(shape_, *output_);
    return std::make_unique<runtime::FileSource>(shape_, *input_, writes_ ? &*output_ : nullptr);
  }

  void refuse_failures() {
    runtime::together(
        comm_,
        [&] {
          if (store_->failed()) throw InputError(store_->failure());
        },
        true);
  }

  void compare_checksums(std::uint64_t mine, std::string_view what) {
    std::uint64_t sources = mine;
    check(MPI_Bcast(&sources, 1, MPI_UINT64_T, broadcast_->root(), comm_), "MPI_Bcast");
    runtime::together(
        comm_,
        [&] {
          if (mine != sources) {
            throw CheckFailed(
                fmt::format("{}: what was {} is not what was sent (checksum {:016x}, "
                            "not {:016x})",
                            output_name_, what, mine, sources));
          }
        },
        true);
  }

  MPI_Comm comm_;
  runtime::Broadcast* broadcast_;
  bool verify_;
  int rank_ = 0;
  std::string output_name_;
  std::optional<runtime::InputFile> input_;
  std::uint64_t bytes_ = 0;
  bool writes_ = true;
  runtime::Broadcast::StreamShape shape_{};
  std::optional<runtime::OutputFile> output_;
  std::unique_ptr<runtime::FileStore> store_;
};

}  // namespace

Figures broadcast_file(MPI_Comm comm, runtime::Broadcast& broadcast,
                       const BcastArguments& arguments) {
  FileBroadcast files(comm, broadcast, arguments);
  Figures figures{files.bytes(), files.slice_bytes(), {}, {}, true};
  for (std::size_t i = 0; i < arguments.repeat; ++i) figures.seconds.push_back(files.run());
  files.commit();
  return figures;
}

}  // namespace espalier::cli
