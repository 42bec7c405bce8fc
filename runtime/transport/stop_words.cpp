#include "runtime/transport/stop_words.hpp"

#include <array>
#include <memory>

#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

void StopWords::begin(bool listen) {
  said_ = heard_ = false;
  if (!listen || !is_source()) return;
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &word()), "MPI_Irecv");
}

void StopWords::say() {
  said_ = true;
  if (is_source()) return;
  check(MPI_Isend(nullptr, 0, MPI_BYTE, source_, tag_, comm_, &word()), "MPI_Isend");
}

bool StopWords::settle(Patience patience) {
  constexpr const char* kOthers = "waiting for all ranks to be through with their slices";
  constexpr const char* kWord = "passing the word to stop";
  const int mine = said_ ? 1 : 0;
  const auto said = std::make_shared<std::array<int, 2>>(std::array<int, 2>{mine, 0});
  MPI_Request sum = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(said->data(), said->data() + 1, 1, MPI_INT, MPI_SUM, comm_, &sum),
        "MPI_Iallreduce");
  patience.wait(sum, kOthers, said);
  const int all = (*said)[1];
  if (!is_source()) {
    patience.wait(word(), kWord);
    return all != 0;
  }
  int words = all - mine - (heard_ ? 1 : 0);
  if (word() != MPI_REQUEST_NULL) {
    if (words == 0) check(MPI_Cancel(&word()), "MPI_Cancel");
    patience.wait(word(), kWord);
    if (words > 0) --words;
  }
  for (; words > 0; --words) {
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &word()), "MPI_Irecv");
    patience.wait(word(), kWord);
  }
  return all != 0;
}

}  // namespace espalier::runtime
