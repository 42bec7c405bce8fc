#include "runtime/preload/learner.hpp"

#include <span>
#include <vector>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/preload/tally.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/surroundings.hpp"

namespace espalier::preload {
namespace {

// The first message also makes connections.
constexpr std::size_t kEnoughMessages = 2;

void warn(const std::string& text) {
  print_line("warning: " + text);
}

}  // namespace

Learner::Learner(const SharedSettings& shared)
    : hosts_(runtime::host_names(MPI_COMM_WORLD)),
      host_of_(runtime::numbered_hosts(shared.host_of_rank, hosts_.size())) {
  if (runtime::rank_in(MPI_COMM_WORLD) == 0) {
    std::vector<std::string> names;  // of the ranks that pull
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      if (host_of_[rank] == names.size()) names.push_back(hosts_[rank]);
    }
    const bool keeps = shared.settings.learning == Learning::kKept;
    memory_ =
        runtime::NetworkMemory(runtime::names_on_hosts(names), keeps ? users_cache() : "", warn);
    if (memory_.is_worth_a_plan(Bytes{0})) {
      known_before_ = memory_.platform_of_ranks(hosts_, host_of_);
    }
  }
  runtime::share_text(MPI_COMM_WORLD, 0, known_before_);
}

std::string Learner::learn(runtime::PullAmongHosts& broadcast, MPI_Comm comm, Bytes message,
                           Seconds time) {
  const std::vector<engine::pull::Traffic> received = broadcast.gather_traffic();
  std::string platform;
  if (runtime::rank_in(comm) == 0) {
    const std::lock_guard lock(mutex_);
    memory_.learn(received, message, time);
    if (++messages_ >= kEnoughMessages) {
      platform = memory_.platform_of_ranks(hosts_, host_of_);
      memory_.keep();
    }
  }
  runtime::share_text(comm, 0, platform);
  return platform;
}

}  // namespace espalier::preload
