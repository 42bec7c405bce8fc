// The names of the files that ranks read and write.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace espalier::cli {

// `name` with {rank} and {host} replaced by those of this rank, and {node} if it is given.
std::string own_name(std::string name, int rank, const std::string& node = {});
// Whether `name` contains one of these.
bool depends_on_rank(const std::string& name);

// The canonical path of a file, as far as it exists, so that different names of one file compare
// equal.
std::string identity_of(const std::string& name);

// Collective. `file` is this rank's. By rank, the first rank on its host that has the same file:
// its own number where no other has it, or where it is a device.
std::vector<int> first_with_file(MPI_Comm comm, const std::string& file);

// Collective. Throws on all ranks when two of them on one host would write the same file, or one
// would write it and one read it.
void refuse_conflicts(MPI_Comm comm, const std::string& file);

}  // namespace espalier::cli
