// Failing together: what one rank refuses, all refuse, so that none waits for one that has left.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/transport/timeout.hpp"
#include "support/errors.hpp"

namespace espalier::runtime {

// Collective. Runs `act` and, when it throws an Error on any rank, throws that Error's text and
// status on every rank (the lowest such rank's). with_rank: the text is to say which rank and host
// it comes from. timeout: for the others; TimedOut when it ends.
void collective_try(MPI_Comm comm, const std::function<void()>& act, bool with_rank = false,
              Timeout timeout = Timeout());

// Collective: every rank gets rank `from`'s text.
void share_text(MPI_Comm comm, int from, std::string& text);

// Collective: what is in the file, which rank 0 reads, on all ranks. Throws InputError on all
// alike.
std::string share_file(MPI_Comm comm, const std::string& file);

// Collective: have all ranks the same values? timeout: as above.
bool all_equal(MPI_Comm comm, std::span<const std::uint64_t> values, Timeout timeout = Timeout());

// Collective: what each rank says, by rank, on all ranks. Throws MpiError.
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine);

}  // namespace espalier::runtime
