#include "runtime/preload/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>

#include "runtime/agreement.hpp"
#include "runtime/comm_facts.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/preload/plan_choice.hpp"
#include "runtime/rank_mapping.hpp"

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

// The same ranks without the user's attributes and error handler: neither copy callbacks nor
// handlers of the program's are called.
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

// Empty when some are not in this process's world.
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

// Whether ranks share one host, and that matters.
bool are_local(const std::vector<int>& world_ranks, const SharedSettings& shared) {
  if (shared.host_of_rank.empty()) return false;
  const auto host_of = [&](int rank) {
    return shared.host_of_rank[static_cast<std::size_t>(rank)];
  };
  return std::all_of(world_ranks.begin(), world_ranks.end(),
                     [&](int rank) { return host_of(rank) == host_of(world_ranks.front()); });
}

// What needs no talking: the same on all ranks.
std::optional<Reason> plain_reason(MPI_Comm comm) {
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) return Reason::kIntercommunicator;
  if (size_of(comm) <= 2) return Reason::kFewRanks;
  return std::nullopt;
}

// check_sizes is off: MPI's functions let a rank leave before all have entered.
std::variant<runtime::Broadcast, runtime::Reduction> runner_of(const planner::Plan& plan,
                                                               const Settings& settings,
                                                               MPI_Comm comm) {
  if (plan.operation != planner::Operation::kBroadcast) {
    runtime::ReductionOptions options;
    options.check_sizes = false;
    return runtime::Reduction(comm, plan, options);
  }
  runtime::BroadcastOptions options;
  options.check_sizes = false;
  options.timeout = settings.timeout;
  return runtime::Broadcast(comm, plan, options);
}

// Collective. Rank 0 finds the plan, the others get it.
Communicator::Entry made(MPI_Comm of, planner::Operation operation, int root,
                         const SharedSettings& shared, PlanMaker& maker) {
  if (const auto reason = plain_reason(of)) return *reason;
  Members members;
  members.world_size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  members.world_ranks = world_ranks_of(of);
  members.root = root;
  members.operation = operation;
  if (members.world_ranks.empty()) return Reason::kOtherWorld;
  const bool local = are_local(members.world_ranks, shared);
  members.local = local && operation == planner::Operation::kBroadcast;
  if (members.local && shared.plans.empty()) return Reason::kOneHost;
  const PlainComm comm(of);
  if (shared.settings.mapping == runtime::RankMapping::kByHostName) {
    members.hosts = runtime::host_names(comm.get());
  }
  int rank = 0;
  check(PMPI_Comm_rank(comm.get(), &rank), "MPI_Comm_rank");
  PlanMaker::Answer answer;
  if (rank == 0) answer = maker.answer(members);
  int reason = static_cast<int>(answer.reason);
  check(PMPI_Bcast(&reason, 1, MPI_INT, 0, comm.get()), "MPI_Bcast");
  runtime::share_text(comm.get(), 0, answer.plan);
  if (answer.plan.empty()) return static_cast<Reason>(reason);
  const planner::Plan plan = planner::parse_plan(answer.plan, "the plan");
  try {
    return std::make_unique<ReadyPlan>(
        ReadyPlan{runner_of(plan, shared.settings, comm.get()), plan.algorithm,
                  std::max(plan.reduce_trees.size(), plan.broadcast_trees.size()), plan.throughput,
                  local && shared.plans.empty() ? kLocalReductions : Bytes{0}});
  } catch (const InputError& error) {  // on all ranks alike
    if (rank == 0)
      fmt::print(stderr, "espalier-pmpi: {}; {} is left alone\n", error.what(),
                 function_name(operation));
    return Reason::kPlanningFailed;
  }
}

}  // namespace

PlanMaker::PlanMaker(const SharedSettings& shared) : shared_(&shared) {
  for (std::size_t i = 0; i < shared.plans.size(); ++i) {
    plans_.push_back(planner::parse_plan(shared.plans[i], shared.settings.plan_files[i]));
  }
}

const PlanMaker::Answer& PlanMaker::answer(const Members& members) {
  const std::tuple key{members.world_ranks, members.root, members.operation};
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  if (answers_.size() >= kMostAnswers) answers_.clear();
  Answer found;
  try {
    found = find(members);
  } catch (const std::exception& error) {
    say_failure(members, error.what());
    found.reason = Reason::kPlanningFailed;
  }
  return answers_.emplace(key, std::move(found)).first->second;
}

void PlanMaker::say_failure(const Members& members, const std::string& reason) {
  if (said_.size() >= kMostAnswers) said_.clear();
  if (!said_.emplace(members.operation, reason).second) return;
  fmt::print(stderr, "espalier-pmpi: no plan {}: {}; {} is left alone\n",
             ways(members.operation, members.root, members.world_ranks.size()), printable(reason),
             function_name(members.operation));
}

PlanMaker::Answer PlanMaker::find(const Members& members) const {
  for (const planner::Plan& plan : plans_) {
    if (const auto fit = fitted(plan, members, shared_->settings.mapping)) {
      return {Reason::kNoPlanFits, planner::to_json(*fit)};
    }
  }
  if (shared_->platform.empty()) return {};
  if (members.local) return {Reason::kOneHost, {}};
  return {Reason::kNoPlanFits,
          planner::to_json(make_plan_for(shared_->platform, shared_->settings, members))};
}

Communicator::Entry& Communicator::entry_for(MPI_Comm comm, planner::Operation operation, int root,
                                             const SharedSettings& shared, PlanMaker& maker) {
  for (Known& known : entries_) {
    if (known.operation == operation && known.root == root) return known.entry;
  }
  if (entries_.size() >= kMostRoots) return too_many_;
  return entries_.emplace_back(Known{operation, root, made(comm, operation, root, shared, maker)})
      .entry;
}

}  // namespace espalier::preload
