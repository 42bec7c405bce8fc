#include "runtime/preload/plan_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include "engine/pull/pulled_message.hpp"
#include "planner/plan/segment_choice.hpp"
#include "runtime/preload/plan_choice.hpp"
#include "runtime/pull/network_memory.hpp"
#include "runtime/topology/tac_rules.hpp"
#include "support/deadline.hpp"
#include "support/errors.hpp"

namespace espalier::preload {
namespace {

constexpr std::size_t kMostAnswers = 1024;
constexpr int kLeastLong = size_class(runtime::kTacLong.value);

Seconds predicted(const planner::Pipeline& pipeline, Bytes message) {
  const planner::SegmentCosts costs;
  const Bytes segment{pipeline.fitted_segment(message, costs)};
  return pipeline.time(message, segment, costs.overhead);
}

// From which size on the plan's predicted rate is about its throughput.
int least_long(const planner::Plan& plan) {
  constexpr double kAbout = 0.9;
  const planner::Pipeline pipeline(plan);
  int size = 0;
  for (; size < SizeClasses().most; ++size) {
    const Bytes message = middle_of(size);
    const double rate = static_cast<double>(message.value) / predicted(pipeline, message).value;
    if (rate >= kAbout * plan.throughput.value) break;
  }
  return size;
}

}  // namespace

PlanMaker::Answer PlanMaker::answer(const Members& members, int size) {
  const std::lock_guard lock(mutex_);
  const Answer& of_any_size = known(members, kAnySize);
  Answer answer = of_any_size.serves.contains(size) ? of_any_size : known(members, size);
  if (!may_be_pulled(members)) return answer;
  // Without trials a plan always runs.
  if (answer.origin != Origin::kNone && shared_->settings.trials == 0) return answer;
  constexpr int kLeastPulled = size_class(runtime::kLeastLearnt.value);
  answer.pulls = size >= kLeastPulled;
  if (answer.pulls) {
    answer.serves.least = std::max(answer.serves.least, kLeastPulled);
  } else {
    answer.serves.most = std::min(answer.serves.most, kLeastPulled - 1);
  }
  return answer;
}

void PlanMaker::know(std::string platform) {
  const std::lock_guard lock(mutex_);
  platform_ = std::move(platform);
  answers_.clear();
}

bool PlanMaker::follows_rules() const {
  return shared_->settings.algorithm == runtime::kTacRules;
}

bool PlanMaker::may_be_pulled(const Members& members) const {
  constexpr auto kPulled = engine::pull::kPulledOperations;
  const bool is_pulled = std::ranges::find(kPulled, members.operation) != kPulled.end();
  if (!shared_->learns || !is_pulled) return false;
  std::vector<int> all(members.world_size);
  std::iota(all.begin(), all.end(), 0);
  return members.world_ranks == all;
}

const PlanMaker::Answer& PlanMaker::known(const Members& members, int size) {
  const std::tuple key{members.world_ranks, members.root,   members.operation,
                       members.decided,     members.shares, size};
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  if (answers_.size() >= kMostAnswers) answers_.clear();
  Answer found;
  try {
    const std::vector<int> given = fitting(members);
    found = !given.empty()     ? fastest_of(given, size)
            : size == kAnySize ? make(members)
                               : make(members, size);
  } catch (const std::exception& error) {
    report_failure(members, error.what());
    found.reason = Reason::kPlanningFailed;
    if (size != kAnySize) found.serves = {size, size};
  }
  return answers_.emplace(key, std::move(found)).first->second;
}

void PlanMaker::report_failure(const Members& members, const std::string& reason) {
  if (reported_.size() >= kMostAnswers) reported_.clear();
  if (!reported_.emplace(members.operation, reason).second) return;
  print_line(fmt::format("no plan {}: {}; {} runs unchanged",
                         ranks_text(members.operation, members.root, members.world_ranks.size()),
                         printable(reason), functions_of(members.operation)));
}

std::vector<int> PlanMaker::fitting(const Members& members) const {
  std::vector<int> indices;
  for (std::size_t i = 0; i < shared_->plans.size(); ++i) {
    if (fitted(shared_->plans[i], members, shared_->settings.mapping)) {
      indices.push_back(static_cast<int>(i));
    }
  }
  return indices;
}

PlanMaker::Answer PlanMaker::fastest_of(const std::vector<int>& given, int size) const {
  constexpr SizeClasses kNone{0, -1};
  if (given.size() == 1) return {{}, Origin::kGiven, given.front()};
  if (size == kAnySize) return {{}, Origin::kGiven, given.front(), {}, {}, kNone};
  const int fastest = *std::ranges::min_element(given, {}, [&](int i) {
    const planner::Pipeline pipeline(shared_->plans[static_cast<std::size_t>(i)]);
    return predicted(pipeline, middle_of(size)).value;
  });
  return {{}, Origin::kGiven, fastest, {}, {}, {size, size}};
}

PlanMaker::Answer PlanMaker::make(const Members& members) const {
  if (members.decided == planner::kLibrary) return {Reason::kDecided};
  if (!members.decided.empty()) return {{}, Origin::kDecided};
  if (follows_rules() && members.operation == planner::Operation::kAlltoall) {
    return {{}, Origin::kByLeaders};
  }
  if (platform_.empty()) return {shared_->learns ? Reason::kNotLearnt : Reason::kNoPlanFits};
  const planner::Plan plan =
      make_plan_for(platform_, shared_->settings, members, runtime::kTacLong, limits_.plan);
  Answer answer{{}, Origin::kMade, -1, planner::to_json(plan)};
  const bool depends_on_size = !shared_->settings.algorithm && !members.is_local;
  if (depends_on_size) answer.serves.least = least_long(plan);
  if (follows_rules()) answer.serves.least = kLeastLong;
  return answer;
}

PlanMaker::Answer PlanMaker::make(const Members& members, int size) {
  const Bytes message = middle_of(size);
  if (follows_rules()) {
    const planner::Plan plan =
        make_plan_for(platform_, shared_->settings, members, message, limits_.plan);
    return {{}, Origin::kMade, -1, planner::to_json(plan), {}, {0, kLeastLong - 1}};
  }
  Answer answer = known(members, kAnySize);
  answer.serves = {size, size};
  if (spent_on_sizes_ >= limits_.sizes) return answer;
  const Stopwatch clock;
  try {
    answer.for_throughput = std::exchange(
        answer.made, planner::to_json(make_plan_for_message(platform_, shared_->settings, members,
                                                            message, limits_.size)));
  } catch (const Error&) {  // none in time, so the one for throughput serves
  }
  spent_on_sizes_.value += clock.elapsed().value;
  return answer;
}

}  // namespace espalier::preload
