#include "cli/espalier_mpi/commands/trees_of_ranks.hpp"

#include <filesystem>
#include <system_error>

#include "cli/espalier_mpi/commands/file_names.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;
using runtime::collective_try_by_rank;

std::uint64_t largest(MPI_Comm comm, std::uint64_t of_ranks) {
  runtime::check(MPI_Allreduce(MPI_IN_PLACE, &of_ranks, 1, MPI_UINT64_T, MPI_MAX, comm),
                 "MPI_Allreduce");
  return of_ranks;
}

// The name by which the root has a file or a folder of each rank; empty: it has one of all.
std::string name_of_each(const FileMover& mover, const FilesOfRanks& files) {
  const bool scatters = mover.operation == Operation::kScatter;
  if (!scatters && mover.operation != Operation::kGather) return {};
  const std::string& name = scatters ? files.in : files.out;
  return depends_on_rank(name) ? name : std::string{};
}

}  // namespace

bool TreesOfRanks::are_meant(MPI_Comm comm, const FileMover& mover, const FilesOfRanks& files,
                             const OwnNames& own) {
  const bool copies_parts = mover.operation == Operation::kScatter ||
                            mover.operation == Operation::kGather ||
                            mover.operation == Operation::kAllgather;
  if (!copies_parts) return false;
  std::error_code ignored;
  const bool here =
      !name_of_each(mover, files).empty() || std::filesystem::is_directory(own.in, ignored);
  return largest(comm, here ? 1 : 0) != 0;
}

TreesOfRanks::TreesOfRanks(MPI_Comm comm, const FileMover& mover, const FilesOfRanks& files,
                           const OwnNames& own)
    : comm_(comm),
      mover_(&mover),
      own_(own),
      rank_(static_cast<std::size_t>(runtime::rank_in(comm))),
      alignment_(largest(comm, runtime::page_bytes())) {
  if (mover.operation == Operation::kScatter) {
    scatter(files);
  } else {
    gather(files);
  }
}

void TreesOfRanks::scatter(const FilesOfRanks& files) {
  const int rank = static_cast<int>(rank_);
  const std::vector<std::string> names =
      runtime::gather_texts(comm_, own_name(files.in, rank, mover_->node));
  std::string text;
  collective_try_by_rank(comm_, [&] {
    if (rank != mover_->root) return;
    const bool one_each = !name_of_each(*mover_, files).empty();
    input_ =
        std::make_unique<runtime::MappedInputTrees>(assigned_from(names, one_each), alignment_);
    text = runtime::to_text(trees_);
  });
  runtime::share_text(comm_, mover_->root, text);
  trees_ = runtime::named_files_from_text(text);
}

std::vector<TreesOfRanks::Named> TreesOfRanks::assigned_from(const std::vector<std::string>& names,
                                                             bool one_each) {
  std::vector<Named> inputs;
  if (one_each) {
    for (const std::string& name : names) {
      trees_.push_back(runtime::scan_name(name));
      inputs.push_back({name, trees_.back().tree});
    }
    return inputs;
  }
  inputs.push_back({own_.in, runtime::scan_name(own_.in).tree});
  for (runtime::FileTree& part : runtime::assigned_to_ranks(inputs.front().tree, mover_->shares)) {
    trees_.push_back({true, std::move(part)});
  }
  return inputs;
}

void TreesOfRanks::gather(const FilesOfRanks& files) {
  std::vector<runtime::NamedFiles> mine(1);
  collective_try_by_rank(comm_, [&] {
    mine.front() = runtime::scan_name(own_.in);
    input_ = std::make_unique<runtime::MappedInputTrees>(
        std::vector<Named>{{own_.in, mine.front().tree}}, alignment_);
  });
  for (const std::string& text : runtime::gather_texts(comm_, runtime::to_text(mine))) {
    trees_.push_back(runtime::named_files_from_text(text).front());
  }
  places_.resize(trees_.size());
  const std::string each = name_of_each(*mover_, files);
  if (each.empty()) return;
  const std::size_t place = each.rfind('/', each.find('{')) + 1;  // 0 without a slash
  places_ = runtime::gather_texts(
      comm_, own_name(each.substr(place), static_cast<int>(rank_), mover_->node));
  if (!own_.out.empty()) own_.out = place == 0 ? "." : each.substr(0, place);
}

std::uint64_t TreesOfRanks::bytes() const {
  std::uint64_t bytes = 0;
  for (const runtime::NamedFiles& files : trees_) {
    for (const auto& entry : files.tree.entries) bytes += entry.bytes;
  }
  return bytes;
}

PartBytes TreesOfRanks::parts() const {
  std::vector<std::size_t> sizes;
  for (const runtime::NamedFiles& files : trees_) {
    sizes.push_back(runtime::aligned_bytes(files.tree, alignment_));
  }
  PartBytes parts{{sizes[rank_]}, sizes};
  if (mover_->operation == Operation::kScatter) std::swap(parts.sent, parts.received);
  return parts;
}

std::unique_ptr<runtime::MappedTarget> TreesOfRanks::new_output() const {
  const auto folder = [&](const runtime::FileTree& tree) {
    return std::make_unique<runtime::MappedOutputTree>(own_.out, tree, alignment_);
  };
  if (mover_->operation != Operation::kScatter) return folder(runtime::joined(trees_, places_));
  const runtime::NamedFiles& mine = trees_[rank_];
  if (mine.is_folder) return folder(mine.tree);
  return std::make_unique<runtime::MappedOutput>(own_.out, mine.tree.entries.front().bytes,
                                                 alignment_);
}

}  // namespace espalier::cli
