#include "runtime/preload/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "runtime/api/library_reduction.hpp"
#include "runtime/api/rank_mapping.hpp"
#include "runtime/preload/plan_choice.hpp"
#include "runtime/topology/tac_rules.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/hosts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/pinned.hpp"

namespace espalier::preload {
namespace {

using runtime::check;
using runtime::size_of;

// A program whose parts always differ in new proportions does not wait for new plans again and
// again: from then on, one for equal parts serves. Per operation.
constexpr std::size_t kMostShares = 8;

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
struct Group : public Pinned {
  MPI_Group group = MPI_GROUP_NULL;
  explicit Group(MPI_Comm comm) { check(PMPI_Comm_group(comm, &group), "MPI_Comm_group"); }
  ~Group() { PMPI_Group_free(&group); }
};

// A communicator of the same ranks without the program's attributes and error handler, so that none
// of its callbacks are called.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class PlainComm : public Pinned {
 public:
  explicit PlainComm(MPI_Comm of) {
    const Group group(of);
    check(PMPI_Comm_create(of, group.group, &comm_), "MPI_Comm_create");
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~PlainComm() { PMPI_Comm_free(&comm_); }
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
  if (size_of(comm) <= kTooFewRanks) return Reason::kFewRanks;
  return std::nullopt;
}

// Precondition: members.decided is not empty.
runtime::DecidedPlan decided_for(const Members& members, const SharedSettings& shared) {
  return plan_for(*shared.decisions_for(members.operation), members.decided, *members.placement,
                  static_cast<std::uint32_t>(members.root));
}

// Collective: the segments tuned for a plan, if the numbers of ranks and hosts are those of the
// tuning.
std::vector<runtime::TunedSegment> tuned_for(const planner::Plan& plan,
                                             const SharedSettings& shared, MPI_Comm comm) {
  if (shared.tuned.empty()) return {};
  const std::string identity = runtime::identity_of(plan);
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
    print_line(reason + "; its segments are not used");
  }
  return {};
}

// Collective: all ranks get rank 0's answer.
PlanMaker::Answer share(MPI_Comm comm, PlanMaker::Answer answer) {
  std::array figures{static_cast<int>(answer.reason),
                     static_cast<int>(answer.origin),
                     answer.given,
                     answer.serves.least,
                     answer.serves.most,
                     answer.pulls ? 1 : 0};
  check(PMPI_Bcast(figures.data(), static_cast<int>(figures.size()), MPI_INT, 0, comm),
        "MPI_Bcast");
  runtime::share_text(comm, 0, answer.made);
  runtime::share_text(comm, 0, answer.for_throughput);
  return {static_cast<Reason>(figures[0]),
          static_cast<PlanMaker::Origin>(figures[1]),
          figures[2],
          std::move(answer.made),
          std::move(answer.for_throughput),
          {figures[3], figures[4]},
          figures[5] != 0};
}

// Collective. Throws InputError on all ranks.
ReadyPlan ready(const planner::Plan& plan, const runtime::OwnedComm& comm,
                const runtime::CollectiveOptions& options) {
  return {runtime::Collective(comm, plan, options), plan.algorithm,
          std::max(planner::tree_count(plan, true), planner::tree_count(plan, false)),
          plan.throughput};
}

// Collective. The plans, ready to run with the segment sizes chosen for them. Throws InputError on
// all ranks. pull: null where found.pulls is not set. Precondition: there is a way.
std::unique_ptr<ReadyPlans> ready_from(const PlanMaker::Answer& found, const Members& members,
                                       const SharedSettings& shared, const runtime::OwnedComm& comm,
                                       runtime::PullAmongHosts* pull) {
  using Origin = PlanMaker::Origin;
  runtime::CollectiveOptions options;
  if (planner::combines(members.operation)) options = runtime::ReductionOptions();
  // MPI allows a rank to leave a collective before all ranks have entered it.
  options.check_sizes = false;
  options.timeout = shared.settings.timeout;
  std::vector<planner::Plan> plans;
  std::optional<planner::Among> decided;
  if (found.origin == Origin::kDecided) {
    runtime::DecidedPlan plan = decided_for(members, shared);
    follow(plan, options);
    plans = {std::move(plan.plan)};
    decided = members.placement->among();
  } else if (found.origin == Origin::kGiven) {
    const planner::Plan& given = shared.plans[static_cast<std::size_t>(found.given)];
    options.tuned = tuned_for(given, shared, comm.get());
    plans = {*fitted(given, members, shared.settings.mapping)};
  } else {
    for (const std::string& text : {found.for_throughput, found.made}) {
      if (text.empty()) continue;
      plans.push_back(planner::parse_plan(text, "the plan", planner::Roots::kAny));
    }
  }
  const bool is_tuned = found.origin == Origin::kGiven && !options.tuned.empty();
  const bool is_local = found.origin == Origin::kMade && members.is_local;
  const bool is_tried = found.origin == Origin::kMade || found.pulls;
  const std::size_t ways = plans.size() + (found.pulls ? 1 : 0);
  auto all =
      std::make_unique<ReadyPlans>(ReadyPlans{{},
                                              pull,
                                              found.reason == Reason::kNotLearnt && can_plan(),
                                              is_local ? kLocalCalls : Bytes{0},
                                              decided,
                                              is_tuned,
                                              comm,
                                              Trials(is_tried ? shared.settings.trials : 0, ways)});
  for (const planner::Plan& plan : plans) all->plans.push_back(ready(plan, comm, options));
  return all;
}

// Collective. For alltoalls, where the rules say so for the ranks' hosts.
Communicator::Entry by_leaders(MPI_Comm comm, const runtime::OwnedComm& own,
                               const SharedSettings& shared) {
  const std::vector<int> host_of_rank = runtime::hosts_of_ranks(comm);
  const std::set<int> hosts(host_of_rank.begin(), host_of_rank.end());
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  if (!runtime::tac_leaders_send(ranks, hosts.size())) return Reason::kByRules;
  auto ready = std::make_unique<ReadyPlans>(
      ReadyPlans{{}, nullptr, false, Bytes{0}, {}, false, own, Trials(shared.settings.trials, 1)});
  ready->leaders.emplace(comm, host_of_rank, runtime::Timeout(shared.settings.timeout));
  return ready;
}

}  // namespace

const planner::Among& Communicator::among(MPI_Comm comm) {
  if (!placement_) {
    placement_ = runtime::placement_of(PlainComm(comm).get());
    among_ = placement_->among();
  }
  return among_;
}

Communicator::Entry& Communicator::entry_for(const Call& call, std::uint64_t bytes,
                                             const SharedSettings& shared, PlanMaker& maker) {
  std::string decided;
  const planner::Decisions* const table = shared.decisions_for(call.operation);
  if (table != nullptr && (placement_ || !plain_reason(call.comm))) {
    decided = decision_for(*table, among(call.comm), bytes).algorithm;
  }
  Known to_be{call.operation, call.root, std::move(decided), call.shares(), {}, {}};
  const int size = size_class(bytes);
  std::size_t with_shares = 0;
  const auto find = [&]() -> Known* {
    for (Known& known : entries_) {
      if (known.operation != call.operation || known.root != call.root) continue;
      if (!known.serves.contains(size)) continue;
      with_shares += known.shares.empty() ? 0 : 1;
      if (known.shares != to_be.shares) continue;
      if (known.algorithm.empty() || known.algorithm == to_be.algorithm) return &known;
    }
    return nullptr;
  };
  Known* known = find();
  if (known == nullptr && !to_be.shares.empty() && with_shares >= kMostShares) {
    to_be.shares.clear();
    known = find();
  }
  if (known == nullptr) {
    complete(to_be, call, size, shared, maker);
    known = &entries_.emplace_back(std::move(to_be));
  } else if (known->looks_again()) {
    complete(*known, call, size, shared, maker);
  }
  return known->entry;
}

bool Communicator::Known::is_ignorant() const {
  if (const auto* const reason = std::get_if<Reason>(&entry)) return *reason == Reason::kNotLearnt;
  return std::get<std::unique_ptr<ReadyPlans>>(entry)->learns;
}

bool Communicator::Known::looks_again() {
  return std::holds_alternative<Reason>(entry) && is_ignorant() && std::has_single_bit(++calls);
}

bool Communicator::learn(const ReadyPlans& ready, planner::Operation operation, Bytes message,
                         Seconds time, Learner& learner, PlanMaker& maker) {
  const std::string platform =
      learner.learn(*ready.pull, ready.comm.get(), operation, message, time);
  if (platform.empty()) return false;
  maker.know(platform);
  std::erase_if(entries_, [](const Known& known) { return known.is_ignorant(); });
  return true;
}

void Communicator::complete(Known& to_be, const Call& call, int size, const SharedSettings& shared,
                            PlanMaker& maker) {
  const MPI_Comm of = call.comm;
  Members members;
  members.decided = std::exchange(to_be.algorithm, {});
  if (const auto reason = plain_reason(of)) {
    to_be.entry = *reason;
    return;
  }
  members.world_size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  members.world_ranks = world_ranks_of(of);
  members.root = call.root;
  members.operation = call.operation;
  members.shares = to_be.shares;
  if (placement_) members.placement = &*placement_;
  if (members.world_ranks.empty()) {
    to_be.entry = Reason::kOtherWorld;
    return;
  }
  members.is_local = are_local(members.world_ranks, shared);
  const PlainComm comm(of);
  if (shared.settings.mapping == runtime::RankMapping::kByHostName) {
    members.hosts = runtime::host_names(comm.get());
  }
  const int rank = runtime::rank_in(comm.get());
  const PlanMaker::Answer found =
      share(comm.get(), rank == 0 ? maker.answer(members, size) : PlanMaker::Answer{});
  to_be.serves = found.serves;
  if (found.origin == PlanMaker::Origin::kDecided || found.reason == Reason::kDecided) {
    to_be.algorithm = members.decided;
  }
  to_be.entry = found.reason;
  if (found.origin == PlanMaker::Origin::kNone && !found.pulls) return;
  if (found.origin == PlanMaker::Origin::kByLeaders) {
    to_be.entry = by_leaders(comm.get(), shared_comm(comm.get(), shared), shared);
    return;
  }
  try {
    const runtime::OwnedComm& own = shared_comm(comm.get(), shared);
    runtime::PullAmongHosts* const pull = found.pulls ? &pull_of(comm.get(), shared) : nullptr;
    to_be.entry = ready_from(found, members, shared, own, pull);
  } catch (const InputError& error) {  // on all ranks
    to_be.entry = Reason::kPlanningFailed;
    if (rank == 0)
      print_line(fmt::format("{}; {} runs unchanged", error.what(), functions_of(call.operation)));
  }
}

runtime::OwnedComm& Communicator::shared_comm(MPI_Comm of, const SharedSettings& shared) {
  const int works = comm_ && !comm_->is_abandoned() ? 1 : 0;
  int works_everywhere = 0;
  check(PMPI_Allreduce(&works, &works_everywhere, 1, MPI_INT, MPI_MIN, of), "MPI_Allreduce");
  if (works_everywhere == 0) comm_.emplace(of, runtime::Timeout(shared.settings.timeout));
  return *comm_;
}

runtime::PullAmongHosts& Communicator::pull_of(MPI_Comm of, const SharedSettings& shared) {
  if (!pull_) {
    pull_.emplace(of, shared.host_of_rank,
                  runtime::PullOptions{.timeout = shared.settings.timeout});
  }
  return *pull_;
}

void Communicator::forget() {
  entries_.clear();
  pull_.reset();
  comm_.reset();
}

}  // namespace espalier::preload
