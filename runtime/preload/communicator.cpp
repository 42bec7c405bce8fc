#include "runtime/preload/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>
#include <utility>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/preload/plan_choice.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::preload {
namespace {

using runtime::check;
using runtime::size_of;

constexpr std::size_t kMostAnswers = 1024;

struct Group {
  MPI_Group group = MPI_GROUP_NULL;
  explicit Group(MPI_Comm comm) { check(PMPI_Comm_group(comm, &group), "MPI_Comm_group"); }
  ~Group() { PMPI_Group_free(&group); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  Group(Group&&) = delete;
  Group& operator=(Group&&) = delete;
};

// A communicator of the same ranks without the program's attributes and error handler, so that none
// of its callbacks are called.
class PlainComm {
 public:
  explicit PlainComm(MPI_Comm of) {
    const Group group(of);
    check(PMPI_Comm_create(of, group.group, &comm_), "MPI_Comm_create");
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~PlainComm() { PMPI_Comm_free(&comm_); }
  PlainComm(const PlainComm&) = delete;
  PlainComm& operator=(const PlainComm&) = delete;
  PlainComm(PlainComm&&) = delete;
  PlainComm& operator=(PlainComm&&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Empty if some ranks are not in this process's MPI_COMM_WORLD.
std::vector<int> world_ranks_of(MPI_Comm comm) {
  const Group group(comm);
  const Group world(MPI_COMM_WORLD);
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> translated(ranks.size());
  check(PMPI_Group_translate_ranks(group.group, static_cast<int>(ranks.size()), ranks.data(),
                                   world.group, translated.data()),
        "MPI_Group_translate_ranks");
  if (std::find(translated.begin(), translated.end(), MPI_UNDEFINED) != translated.end()) return {};
  return translated;
}

// Whether all ranks share one host and the settings treat such calls specially.
bool are_local(const std::vector<int>& world_ranks, const SharedSettings& shared) {
  if (shared.host_of_rank.empty()) return false;
  const auto host_of = [&](int rank) {
    return shared.host_of_rank[static_cast<std::size_t>(rank)];
  };
  return std::all_of(world_ranks.begin(), world_ranks.end(),
                     [&](int rank) { return host_of(rank) == host_of(world_ranks.front()); });
}

// Reasons that every rank finds without communication.
std::optional<Reason> plain_reason(MPI_Comm comm) {
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) return Reason::kIntercommunicator;
  if (size_of(comm) <= 2) return Reason::kFewRanks;
  return std::nullopt;
}

// Precondition: members.decided is not empty.
runtime::DecidedPlan decided_for(const Members& members, const SharedSettings& shared) {
  return plan_for(*shared.decisions_for(members.operation), members.decided,
                  static_cast<std::uint32_t>(members.world_ranks.size()),
                  static_cast<std::uint32_t>(members.root));
}

// Rank 0's answer, as known to all ranks.
struct Found {
  int reason = 0;
  int given = -1;
  int decided = 0;
  std::string plan{};
};

Found share(MPI_Comm comm, const PlanMaker::Answer& answer) {
  std::array<int, 3> figures{static_cast<int>(answer.reason), answer.given, answer.decided ? 1 : 0};
  check(PMPI_Bcast(figures.data(), static_cast<int>(figures.size()), MPI_INT, 0, comm),
        "MPI_Bcast");
  Found found{figures[0], figures[1], figures[2], answer.plan};
  runtime::share_text(comm, 0, found.plan);
  return found;
}

// Collective: the segments tuned for a plan as it was given, if the numbers of ranks and hosts are
// those of the tuning.
std::vector<runtime::TunedSegment> tuned_for(const std::string& given, const SharedSettings& shared,
                                             MPI_Comm comm) {
  if (shared.tuned.empty()) return {};
  const std::string identity =
      runtime::identity_of(planner::parse_plan(given, "the plan"));  // as read from its file
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  const std::size_t hosts = runtime::count_hosts(comm);
  std::string reason;
  for (std::size_t i = 0; i < shared.tuned.size(); ++i) {
    if (shared.tuned[i].plan != identity) continue;
    try {
      return runtime::segments_of(shared.tuned[i], identity, ranks, hosts,
                                  shared.settings.tuned_files[i]);
    } catch (const InputError& error) {
      reason = error.what();
    }
  }
  if (!reason.empty() && runtime::rank_in(comm) == 0) {
    fmt::print(stderr, "espalier-pmpi: {}; its segments are not used\n", reason);
  }
  return {};
}

// check_sizes is off: MPI allows a rank to leave a collective before all ranks have entered it.
template <class Options>
Options options_for(const std::optional<runtime::DecidedPlan>& decided,
                    const std::vector<runtime::TunedSegment>& tuned) {
  Options options;
  options.check_sizes = false;
  options.tuned = tuned;
  if (decided) follow(*decided, options);
  return options;
}

// Collective. The plan, ready to run with the segment sizes chosen for it. Throws InputError on all
// ranks.
std::unique_ptr<ReadyPlan> ready_from(const Found& found, const Members& members,
                                      const SharedSettings& shared, MPI_Comm comm) {
  const planner::Plan plan = planner::parse_plan(found.plan, "the plan");
  std::optional<runtime::DecidedPlan> decided;
  std::vector<runtime::TunedSegment> tuned;
  if (found.decided != 0) {
    decided = decided_for(members, shared);
  } else if (found.given >= 0) {
    tuned = tuned_for(shared.plans[static_cast<std::size_t>(found.given)], shared, comm);
  }
  const bool is_tuned = !tuned.empty();
  const auto runner = [&]() -> std::variant<runtime::Broadcast, runtime::Reduction> {
    if (plan.operation != planner::Operation::kBroadcast) {
      return runtime::Reduction(comm, plan, options_for<runtime::ReductionOptions>(decided, tuned));
    }
    auto options = options_for<runtime::BroadcastOptions>(decided, tuned);
    options.timeout = shared.settings.timeout;
    return runtime::Broadcast(comm, plan, options);
  };
  return std::make_unique<ReadyPlan>(ReadyPlan{
      runner(), plan.algorithm, std::max(plan.reduce_trees.size(), plan.broadcast_trees.size()),
      plan.throughput, Bytes{0}, found.decided != 0, is_tuned});
}

// Collective. Rank 0 finds the plan and shares it with the other ranks. decided: Members::decided;
// on return empty unless it determined the plan.
Communicator::Entry made(MPI_Comm of, planner::Operation operation, int root,
                         const SharedSettings& shared, PlanMaker& maker, std::string& decided) {
  Members members;
  members.decided = std::exchange(decided, {});
  if (const auto reason = plain_reason(of)) return *reason;
  members.world_size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  members.world_ranks = world_ranks_of(of);
  members.root = root;
  members.operation = operation;
  if (members.world_ranks.empty()) return Reason::kOtherWorld;
  const PlainComm comm(of);
  if (shared.settings.mapping == runtime::RankMapping::kByHostName) {
    members.hosts = runtime::host_names(comm.get());
  }
  int rank = 0;
  check(PMPI_Comm_rank(comm.get(), &rank), "MPI_Comm_rank");
  PlanMaker::Answer answer;
  if (rank == 0) answer = maker.answer(members);
  const Found found = share(comm.get(), answer);
  if (found.decided != 0) decided = members.decided;
  if (found.plan.empty()) return static_cast<Reason>(found.reason);
  try {
    auto ready = ready_from(found, members, shared, comm.get());
    const bool is_own = found.given < 0 && found.decided == 0;
    if (is_own && are_local(members.world_ranks, shared)) ready->least = kLocalCalls;
    return ready;
  } catch (const InputError& error) {  // on all ranks
    if (rank == 0)
      fmt::print(stderr, "espalier-pmpi: {}; {} runs unchanged\n", error.what(),
                 function_name(operation));
    return Reason::kPlanningFailed;
  }
}

}  // namespace

Bytes ReadyPlan::segment_of(std::uint64_t message_bytes, std::uint64_t element_bytes) const {
  if (const auto* const broadcast = std::get_if<runtime::Broadcast>(&runner)) {
    return {broadcast->segment_bytes(message_bytes)};
  }
  return {std::get<runtime::Reduction>(runner).segment_bytes(message_bytes, element_bytes)};
}

PlanMaker::PlanMaker(const SharedSettings& shared) : shared_(&shared) {
  for (std::size_t i = 0; i < shared.plans.size(); ++i) {
    plans_.push_back(planner::parse_plan(shared.plans[i], shared.settings.plan_files[i]));
  }
}

const PlanMaker::Answer& PlanMaker::answer(const Members& members) {
  const std::tuple key{members.world_ranks, members.root, members.operation, members.decided};
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  if (answers_.size() >= kMostAnswers) answers_.clear();
  Answer found;
  try {
    found = find(members);
  } catch (const std::exception& error) {
    report_failure(members, error.what());
    found.reason = Reason::kPlanningFailed;
  }
  return answers_.emplace(key, std::move(found)).first->second;
}

void PlanMaker::report_failure(const Members& members, const std::string& reason) {
  if (reported_.size() >= kMostAnswers) reported_.clear();
  if (!reported_.emplace(members.operation, reason).second) return;
  fmt::print(stderr, "espalier-pmpi: no plan {}: {}; {} runs unchanged\n",
             ranks_text(members.operation, members.root, members.world_ranks.size()),
             printable(reason), function_name(members.operation));
}

PlanMaker::Answer PlanMaker::find(const Members& members) const {
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    if (const auto fit = fitted(plans_[i], members, shared_->settings.mapping)) {
      return {Reason::kNoPlanFits, planner::to_json(*fit), static_cast<int>(i)};
    }
  }
  if (!members.decided.empty()) {
    return {Reason::kNoPlanFits, planner::to_json(decided_for(members, *shared_).plan), -1, true};
  }
  if (shared_->platform.empty()) return {};
  return {Reason::kNoPlanFits,
          planner::to_json(make_plan_for(shared_->platform, shared_->settings, members))};
}

Communicator::Entry& Communicator::entry_for(MPI_Comm comm, planner::Operation operation, int root,
                                             std::uint64_t bytes, const SharedSettings& shared,
                                             PlanMaker& maker) {
  std::string decided;
  if (const runtime::Decisions* const table = shared.decisions_for(operation)) {
    decided = decision_for(*table, static_cast<std::uint32_t>(size_of(comm)), bytes).algorithm;
  }
  for (Known& known : entries_) {
    if (known.operation != operation || known.root != root) continue;
    if (known.algorithm.empty() || known.algorithm == decided) return known.entry;
  }
  if (entries_.size() >= kMostRoots) return too_many_;
  Entry entry = made(comm, operation, root, shared, maker, decided);
  return entries_.emplace_back(Known{operation, root, std::move(decided), std::move(entry)}).entry;
}

}  // namespace espalier::preload
