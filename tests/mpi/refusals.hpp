// What broadcasts refuse, in words.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "support/errors.hpp"

namespace espalier::testing {

inline std::string refusal_of(const planner::Plan& plan,
                              const runtime::BroadcastOptions& options = {}) {
  try {
    const runtime::Broadcast broadcast(MPI_COMM_WORLD, plan, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Of a message of so many bytes, for which the buffer has room.
inline std::string refusal_of(runtime::Broadcast& broadcast, std::vector<std::byte>& buffer,
                              std::size_t bytes) {
  try {
    broadcast.run(buffer.data(), bytes, MPI_BYTE);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted " + std::to_string(bytes);
}

}  // namespace espalier::testing
