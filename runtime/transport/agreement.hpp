// Collective error handling: if one rank fails, all ranks fail, so that none waits for a rank that
// has left.
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

// Collective. Runs `act`; if it throws on any rank, throws an Error with the text and status of the
// lowest such rank on every rank. Whatever is not an Error counts as an internal one; only
// MpiErrors pass through. with_rank: prefix the text with rank and host, as internal errors always
// are. timeout: for the other ranks' answers; throws TimedOut.
void collective_try(MPI_Comm comm, const std::function<void()>& act, bool with_rank = false,
                    Timeout timeout = Timeout());
// For faults of a rank's own files and memory: always says which rank.
inline void collective_try_by_rank(MPI_Comm comm, const std::function<void()>& act) {
  collective_try(comm, act, true);
}

// Collective. Ranks that take part run `act`; the others sleep until all of these have ended, and
// leave them the processors. Throws on all ranks as collective_try.
void act_on_some(MPI_Comm comm, bool takes_part, const std::function<void()>& act);

// Collective: every rank gets the text of rank `from`.
void share_text(MPI_Comm comm, int from, std::string& text);

// Collective: rank 0 reads the file, and all ranks get its contents. Throws InputError on all
// ranks.
std::string share_file(MPI_Comm comm, const std::string& file);

// Collective: whether all ranks have the same values. timeout: as above.
bool all_equal(MPI_Comm comm, std::span<const std::uint64_t> values, Timeout timeout = Timeout());

// Collective: all ranks get the texts of all ranks, in rank order. Throws MpiError.
std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine);

}  // namespace espalier::runtime
