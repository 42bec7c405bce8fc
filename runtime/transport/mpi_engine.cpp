#include "runtime/transport/mpi_engine.hpp"

#include <utility>

namespace espalier::engine {
template class Engine<runtime::MpiTransport>;
}  // namespace espalier::engine

namespace espalier::runtime {

MpiEngine::MpiEngine(MPI_Comm comm, std::vector<engine::Block> blocks, engine::Options options,
                     MpiTransportOptions transport_options)
    : transport(comm, engine::trees_of(blocks), std::move(transport_options)),
      flows(transport, std::move(blocks), std::move(options)) {}

void MpiEngine::prepare(const engine::Message& message, std::span<const engine::Range> ranges,
                        const MpiCall& call) {
  stoppable_ = message.stoppable;
  transport.set_call(call);
  flows.prepare(message, ranges);
}

Outcome MpiEngine::run(engine::SegmentStore& store, Timeout end_timeout) {
  flows.begin(store);
  while (!flows.is_done()) flows.wait();
  return stoppable_ && transport.has_stopped(end_timeout) ? Outcome::kStopped : Outcome::kComplete;
}

}  // namespace espalier::runtime
