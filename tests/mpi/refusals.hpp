// The messages of refused broadcasts.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "support/errors.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::testing {

inline std::string refusal_of(const planner::Plan& plan,
                              const runtime::BroadcastOptions& options = {}) {
  return espalier::testing::refusal(
      [&] { const runtime::Broadcast broadcast(MPI_COMM_WORLD, plan, options); });
}

// The refusal of a message of `bytes` bytes. The buffer is at least as large.
inline std::string refusal_of(runtime::Collective& broadcast, std::vector<std::byte>& buffer,
                              std::size_t bytes) {
  try {
    broadcast.run(buffer.data(), bytes, MPI_BYTE);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted " + std::to_string(bytes);
}

}  // namespace espalier::testing
