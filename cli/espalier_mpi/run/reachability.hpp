// Which hosts of the ranks can connect to which others, tried by TCP.
#pragma once

#include <vector>

#include "cli/doctor/facts.hpp"
#include "cli/espalier_mpi/run/exchange.hpp"

namespace espalier::cli {

// Collective: one rank of each host connects to the addresses of the next hosts, up to 64. Rank 0
// gets the attempts of the pairs of hosts of which one failed, the others nothing. mine: this
// rank's facts. Listens at the ports that Open MPI is confined to, if it is.
std::vector<doctor::TrialFacts> try_hosts(TextExchange& exchange, const doctor::RankFacts& mine);

}  // namespace espalier::cli
