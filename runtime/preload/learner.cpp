#include "runtime/preload/learner.hpp"

#include <string>
#include <utility>
#include <vector>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/preload/tally.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "support/surroundings.hpp"

namespace espalier::preload {
namespace {

// The first message also makes connections.
constexpr std::size_t kEnoughMessages = 2;

void warn(const std::string& text) {
  print_line("warning: " + text);
}

}  // namespace

Learner::Learner(const SharedSettings& shared) {
  std::vector<std::string> hosts = runtime::host_names(MPI_COMM_WORLD);
  if (runtime::rank_in(MPI_COMM_WORLD) == 0) {
    const bool keeps = shared.settings.learning == Learning::kKept;
    std::vector<std::size_t> puller_of = runtime::numbered_hosts(shared.host_of_rank, hosts.size());
    memory_ = runtime::NetworkMemory(std::move(hosts), std::move(puller_of),
                                     keeps ? users_cache() : "", warn);
    if (memory_.is_worth_a_plan(Bytes{0})) {
      known_before_ = memory_.platform();
    }
  }
  runtime::share_text(MPI_COMM_WORLD, 0, known_before_);
}

std::string Learner::learn(runtime::PullAmongHosts& pull, MPI_Comm comm,
                           planner::Operation operation, Bytes message, Seconds time) {
  const std::vector<engine::pull::Traffic> received = pull.gather_traffic();
  std::string platform;
  if (runtime::rank_in(comm) == 0) {
    const std::lock_guard lock(mutex_);
    memory_.learn(received, operation, message, time);
    if (++messages_ >= kEnoughMessages) {
      platform = memory_.platform();
      memory_.keep();
    }
  }
  runtime::share_text(comm, 0, platform);
  return platform;
}

}  // namespace espalier::preload
