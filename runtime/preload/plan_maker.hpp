// Which plan serves the calls of a communicator's ranks.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/plan/plan.hpp"
#include "runtime/preload/planning.hpp"
#include "runtime/preload/shared_settings.hpp"
#include "runtime/preload/size_classes.hpp"
#include "runtime/preload/tally.hpp"
#include "support/quantities.hpp"

namespace espalier::preload {

// Plans that this process has found, by the members' world ranks, the root, the operation, the
// decided algorithm, the shares and, where one plan does not serve all sizes, the size class; so
// that a communicator that is created repeatedly is planned for only once. Threads may use it at
// the same time.
//
// Of several given plans, each message gets the one with the least predicted time
// (planner::pipelined_time). Of plans that are made without a named algorithm, long messages get
// the one with the highest throughput. Messages for which its predicted rate is less than 0.9 of
// that get the plan that is predicted to be the fastest for their size.
class PlanMaker {
 public:
  // How long the program waits.
  struct Limits {
    Seconds plan{10};  // for a plan
    Seconds size{2};   // for a choice of a plan by size
    // For all of these, and one more. A program whose calls have many roots or communicators then
    // goes on with plans for throughput.
    Seconds sizes{10};
  };
  explicit PlanMaker(const SharedSettings& shared) : PlanMaker(shared, Limits()) {}
  PlanMaker(const SharedSettings& shared, const Limits& limits)
      : shared_(&shared), limits_(limits), platform_(shared.platform) {}

  // kByLeaders: no plan, but AlltoallByLeaders if the rules say so for the ranks' hosts.
  enum class Origin : std::uint8_t { kNone, kGiven, kDecided, kMade, kByLeaders };
  struct Answer {
    Reason reason = Reason::kNoPlanFits;  // why there is no plan
    Origin origin = Origin::kNone;
    int given = -1;      // index of the given plan
    std::string made{};  // JSON of the plan that was made, in rank order
    // Likewise, of the plan for throughput, if `made` is one for these sizes: a prediction may be
    // wrong, so both are tried.
    std::string for_throughput{};
    SizeClasses serves{};  // the classes for which this is the answer
    // Messages may also be pulled: long broadcasts and allgathers of all ranks, where the network
    // is learnt.
    bool pulls = false;
  };
  // size: the message's class. A failure to plan is reported on stderr, once for each operation and
  // reason.
  Answer answer(const Members& members, int size);
  // From now on plans are made from this platform, in Espalier's JSON.
  void know(std::string platform);

 private:
  static constexpr int kAnySize = -1;
  // size: kAnySize for the answer that does not depend on it; where there is none, its `serves`
  // contains only the sizes for which it is right nevertheless.
  const Answer& known(const Members& members, int size);
  // Where no given plan fits: the same with a plan to be made.
  [[nodiscard]] Answer make(const Members& members) const;
  [[nodiscard]] Answer make(const Members& members, int size);
  // Of given plans, at least one.
  [[nodiscard]] Answer fastest_of(const std::vector<int>& given, int size) const;
  // Indices of the given plans that serve the members.
  [[nodiscard]] std::vector<int> fitting(const Members& members) const;
  void report_failure(const Members& members, const std::string& reason);
  // Whether rules choose the algorithm, so that one plan does not serve all sizes.
  [[nodiscard]] bool follows_rules() const;
  [[nodiscard]] bool may_be_pulled(const Members& members) const;

  const SharedSettings* shared_;
  Limits limits_;
  std::mutex mutex_;  // of the following; no call of MPI is made meanwhile
  std::map<
      std::tuple<std::vector<int>, int, planner::Operation, std::string, std::vector<double>, int>,
      Answer>
      answers_;
  std::set<std::pair<planner::Operation, std::string>> reported_;
  std::string platform_;  // empty: none is known
  Seconds spent_on_sizes_{};
};

}  // namespace espalier::preload
