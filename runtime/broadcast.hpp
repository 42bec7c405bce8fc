// Executing a broadcast plan on the ranks of an MPI communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "planner/plan.hpp"

namespace espalier::runtime {

enum class RankMapping {
  kByOrder,     // rank i is plan.nodes[i]
  kByHostName,  // the rank that runs on host h (MPI_Get_processor_name, up to the first dot) is plan node h
};

struct BroadcastOptions {
  std::size_t sends_in_flight = 2;     // outstanding sends per child
  std::size_t receives_in_flight = 4;  // posted ahead per tree
  RankMapping mapping = RankMapping::kByOrder;
};

// A plan bound to a communicator: made once (collective), run as often as wanted.
class Broadcast {
 public:
  // Collective over `comm`, which is duplicated. Throws InputError when ranks and plan nodes differ in number (says both),
  // MpiError when MPI fails.
  Broadcast(MPI_Comm comm, const planner::Plan& plan, const BroadcastOptions& options = {});
  ~Broadcast();
  Broadcast(Broadcast&&) noexcept;
  Broadcast& operator=(Broadcast&&) noexcept;
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  // Collective. The plan's source holds the data in `buffer`, every other rank receives them there. count elements of
  // `type`, contiguous or not; any count, 0 included.
  void run(void* buffer, std::size_t count, MPI_Datatype type);

  // The rank (in comm) that is the plan's source.
  [[nodiscard]] int root() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::runtime
