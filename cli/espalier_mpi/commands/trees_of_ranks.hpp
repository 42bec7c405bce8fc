// Whole files that are copied to ranks: those of folders, or of which the root has one for each
// rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/espalier_mpi/commands/run_plan.hpp"
#include "runtime/files/mapped_files.hpp"
#include "runtime/files/tree_parts.hpp"

namespace espalier::cli {

class TreesOfRanks {
 public:
  // This rank's; empty: it reads or writes nothing.
  struct OwnNames {
    std::string in;
    std::string out;
  };
  // Collective: whether the ranks' files are such, rather than parts of one file.
  [[nodiscard]] static bool are_meant(MPI_Comm comm, const FileMover& mover,
                                      const FilesOfRanks& files, const OwnNames& own);
  // Collective: finds and maps them. mover: outlives this. Throws InputError on all ranks.
  TreesOfRanks(MPI_Comm comm, const FileMover& mover, const FilesOfRanks& files,
               const OwnNames& own);

  // Of all files.
  [[nodiscard]] std::uint64_t bytes() const;
  // With the zeros between files in memory.
  [[nodiscard]] PartBytes parts() const;
  // Null where this rank reads nothing.
  [[nodiscard]] std::unique_ptr<runtime::MappedSource> take_input() { return std::move(input_); }
  // Of a rank that writes. Throws InputError.
  [[nodiscard]] std::unique_ptr<runtime::MappedTarget> new_output() const;

 private:
  using Named = runtime::MappedInputTrees::Named;

  void scatter(const FilesOfRanks& files);
  void gather(const FilesOfRanks& files);
  // The root's input, which sets what each rank receives.
  std::vector<Named> assigned_from(const std::vector<std::string>& names, bool one_each);

  MPI_Comm comm_;
  const FileMover* mover_;
  OwnNames own_;
  std::size_t rank_;
  std::uint64_t alignment_;
  std::vector<runtime::NamedFiles> trees_{};  // of each rank: what it sends or, in a scatter, gets
  std::vector<std::string> places_{};         // of these in the output's folder
  std::unique_ptr<runtime::MappedSource> input_{};
};

}  // namespace espalier::cli
