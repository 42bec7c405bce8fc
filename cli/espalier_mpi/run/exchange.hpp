// Short texts between ranks where messages of MPI may not get through: by names that the launcher
// keeps (MPI_Publish_name), as those of Open MPI and MPICH do.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace espalier::cli {

class TextExchange {
 public:
  // Collective. Names are tried; if the launcher keeps none, messages are used.
  explicit TextExchange(MPI_Comm comm);

  [[nodiscard]] bool is_by_names() const { return by_names_; }
  // Collective: rank 0 gets the texts of all ranks; what the others get is of no use.
  std::vector<std::string> gather(const std::string& mine);
  // Collective: all ranks get rank 0's text.
  std::string share(const std::string& of_first);

 private:
  // Whether the text was stored under this rank's name.
  [[nodiscard]] bool publish(const std::string& plain) const;
  [[nodiscard]] std::string look_up(int rank) const;

  MPI_Comm comm_;
  int rank_;
  std::size_t round_ = 0;  // every text has a name of its own
  bool by_names_;
};

}  // namespace espalier::cli
