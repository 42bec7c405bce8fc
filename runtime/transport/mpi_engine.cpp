#include "runtime/transport/mpi_engine.hpp"

#include <utility>

namespace espalier::engine {
template class Engine<runtime::MpiTransport>;
}  // namespace espalier::engine

namespace espalier::runtime {

MpiEngine::MpiEngine(MPI_Comm comm, const std::vector<engine::TreeRole>& roles,
                     planner::SegmentAssignment assignment, engine::Options options,
                     MpiTransportOptions transport_options)
    : transport(comm, roles, std::move(transport_options)),
      flows(transport, roles, std::move(assignment), std::move(options)) {}

Outcome MpiEngine::run(const engine::Message& message, engine::SegmentStore& store,
                       Timeout end_timeout) {
  try {
    flows.prepare(message);
    flows.begin(store);
    while (!flows.is_done()) flows.wait();
    return message.stoppable && transport.has_stopped(end_timeout) ? Outcome::kStopped
                                                                   : Outcome::kComplete;
  } catch (...) {
    transport.abandon();
    throw;
  }
}

}  // namespace espalier::runtime
