#include "runtime/pull/network_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/measure/platform_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/surroundings.hpp"

namespace espalier::runtime {
namespace {

namespace fs = std::filesystem;

// Shorter ones show buffers rather than links.
constexpr double kLeastTime_s = 16 * engine::pull::Traffic::kFirstBin_s;
constexpr double kRecent_s = 86400;
// A longer message than so many times the one that was measured is measured again.
constexpr std::uint64_t kMostTimesLonger = 16;
constexpr std::uint64_t kMostPlanFailures = 2;
// A plan fails if it carries less than this of what the pull did.
constexpr double kFailingShare = 0.95;

// hosts: by rank, of its host.
std::vector<std::string> names_of_pullers(std::span<const std::string> hosts,
                                          std::span<const std::size_t> puller_of) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (puller_of[rank] == names.size()) names.push_back(hosts[rank]);
  }
  return names_on_hosts(names);
}

}  // namespace

NetworkMemory::NetworkMemory(std::vector<std::string> hosts, std::vector<std::size_t> puller_of,
                             const std::string& folder, Warn warn)
    : hosts_(std::move(hosts)),
      rank_names_(names_on_hosts(hosts_)),
      puller_of_(std::move(puller_of)),
      names_(names_of_pullers(hosts_, puller_of_)),
      warn_(std::move(warn)) {
  if (folder.empty()) return;
  file_ = fs::path(folder) / kept_file_name(names_);
  std::error_code ignored;
  if (!fs::exists(file_, ignored)) return;
  try {
    known_ = parse_kept_network(read_text(file_), file_, names_);
  } catch (const InputError& error) {
    warn_(fmt::format("{}; the network is measured again", error.what()));
  }
}

bool NetworkMemory::is_worth_a_plan(Bytes message) const {
  if (!known_ || known_->plan_failures >= kMostPlanFailures) return false;
  const double age_s = seconds_since_1970() - known_->measured_s;
  return age_s >= 0 && age_s < kRecent_s &&
         message.value <= kMostTimesLonger * known_->message_bytes;
}

void NetworkMemory::learn(std::span<const engine::pull::Traffic> received,
                          planner::Operation operation, Bytes message, Seconds time) {
  if (received.empty() || message < kLeastLearnt || time.value < kLeastTime_s) return;
  const auto last = std::ranges::max_element(received, {}, &engine::pull::Traffic::end_s);
  last_rank_ = names_[static_cast<std::size_t>(last - received.begin())];
  LearntNetwork network = learn_network(received);
  const double now_s = seconds_since_1970();
  if (known_) {
    network = combined(known_->network, network, Seconds{now_s - known_->measured_s});
  }
  known_ = {.names = names_,
            .network = std::move(network),
            .operation = operation,
            .message_bytes = message.value,
            .pulled_Bps = static_cast<double>(message.value) / time.value,
            .measured_s = now_s,
            .plan_failures = known_ ? known_->plan_failures : 0};
}

void NetworkMemory::judge_plan(planner::Operation operation, Bytes message, Seconds time) {
  if (!known_ || operation != known_->operation || message.value < known_->message_bytes ||
      time.value <= 0)
    return;
  const bool has_failed =
      static_cast<double>(message.value) / time.value < kFailingShare * known_->pulled_Bps;
  known_->plan_failures = has_failed ? known_->plan_failures + 1 : 0;
  if (has_failed) known_->measured_s = 0;
}

void NetworkMemory::keep() const {
  if (file_.empty() || !known_) return;
  try {
    std::error_code fault;
    fs::create_directories(fs::path(file_).parent_path(), fault);
    write_text(file_, to_json(*known_));
  } catch (const InputError& error) {
    warn_(fmt::format("{}; what was learnt is not kept", error.what()));
  }
}

std::string NetworkMemory::platform() const {
  if (!known_) return {};
  const bool some_share = hosts_.size() > names_.size();
  probe::Estimate estimate = estimate_of(
      some_share ? among_ranks(known_->network, puller_of_) : known_->network, rank_names_);
  if (some_share) estimate.groups = hosts_;
  return probe::platform_json(estimate,
                              fmt::format("learnt of {}", counted(estimate.nodes.size(), "rank")));
}

}  // namespace espalier::runtime
