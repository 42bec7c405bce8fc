// Gathers the facts of this process and its machine.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor/facts.hpp"

namespace espalier::cli::doctor {

// Of this process, without what only MPI knows (mpi, mpi_so, clock_ahead_s). host: its name.
RankFacts gather_rank(const std::string& host);
// Of a folder. to_be_made: it may be missing if its nearest parent can be written.
FolderFacts gather_folder(const std::string& path, bool to_be_made = false);
// The launchers in PATH, each once; runs each with --version.
std::vector<LauncherFacts> gather_launchers();
// "libmpi.so.40" of the first name of an MPI library in a file; empty: none.
std::string mpi_library_in(const std::string& file);

}  // namespace espalier::cli::doctor
