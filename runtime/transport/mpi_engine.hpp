// An engine over MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
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
  MpiEngine(MPI_Comm comm, std::vector<engine::Block> blocks, engine::Options options,
            MpiTransportOptions transport_options);

  // As engine::Engine::prepare, for this call.
  void prepare(const engine::Message& message, std::span<const engine::Range> ranges,
               const MpiCall& call);
  // Collective, after prepare: the message from its beginning to its end. A message that may be
  // stopped costs a synchronisation at the end, which waits for the other ranks up to end_timeout.
  // The outcome is the same on all ranks. After an exception (MpiError, TimedOut, InputError for
  // calls that differ), messages may still be in progress: the transport must be abandoned, and the
  // engine must not run again.
  Outcome run(engine::SegmentStore& store, Timeout end_timeout = Timeout());

  MpiTransport transport;
  engine::Engine<MpiTransport> flows;

 private:
  bool stoppable_ = false;
};

}  // namespace espalier::runtime
