// An engine over MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "runtime/transport/mpi_transport.hpp"

namespace espalier::engine {
extern template class Engine<runtime::MpiTransport>;
}  // namespace espalier::engine

namespace espalier::runtime {

enum class Outcome : std::uint8_t { kComplete, kStopped };

class MpiEngine {
 public:
  // The arguments of engine::Engine and MpiTransport.
  MpiEngine(MPI_Comm comm, const std::vector<engine::TreeRole>& roles,
            planner::SegmentAssignment assignment, engine::Options options,
            MpiTransportOptions transport_options);

  // Collective: one message from its beginning to its end. Its call must have been given to the
  // transport. A message that may be stopped costs a synchronisation at the end, which waits for
  // the other ranks up to end_timeout. The outcome is the same on all ranks. After an exception
  // (MpiError, TimedOut, InputError for calls that differ), messages may still be in progress and
  // the engine must not run again.
  Outcome run(const engine::Message& message, engine::SegmentStore& store, Timeout end_timeout);

  MpiTransport transport;
  engine::Engine<MpiTransport> flows;
};

}  // namespace espalier::runtime
