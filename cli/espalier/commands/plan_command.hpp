// The command `plan`: its options, what they exclude (plan_checks.cpp), and what it does
// (plan.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/espalier/console.hpp"
#include "cli/espalier/money.hpp"
#include "cli/espalier/options.hpp"
#include "planner/schedule/make_schedule.hpp"

namespace espalier::cli {

struct PlanCommand {
  Console console{};
  ProblemOptions problem{};
  std::optional<std::string> algorithm{};
  std::optional<Bytes> message{};
  std::optional<Budget> budget{};
  std::optional<Seconds> deadline{};  // for the message
  // Lists, of which one plan is made for each combination; {none} if not given.
  std::vector<std::size_t> tree_counts{0};
  std::vector<std::size_t> depths{0};
  std::vector<std::optional<Seconds>> latencies{std::nullopt};
  std::string output = "-";
  bool schedule = false;
  planner::ScheduleOptions scheduling{};
  std::optional<Seconds> overhead{};
  std::optional<BytesPerSecond> compute{};
  std::uint64_t jobs = 0;  // threads; 0: one per core
  bool json = false;

  void add_to(Arguments& app);
  void check() const;
  [[nodiscard]] ExitStatus run() const;
  // Whether all trees have one root and carry the whole message.
  [[nodiscard]] bool has_one_root() const {
    return !problem.source.empty() && !planner::has_parts(problem.operation);
  }
  void check_blocks(bool has_helpers) const;
  void check_money() const;
  void check_barrier() const;
  // Within the budget, or the cheapest that keeps the deadline.
  [[nodiscard]] ExitStatus plan_for_money(const planner::Algorithm& named,
                                          const platforms::Platform& platform) const;
  [[nodiscard]] ExitStatus plan_barrier(const platforms::Platform& platform) const;
  // With each combination of the limits. one: any of planner/problem/any_problem.hpp.
  template <class Problem>
  [[nodiscard]] ExitStatus plan_each(const planner::Algorithm& named, const Problem& one) const;
  // The named algorithm, otherwise the optimum.
  [[nodiscard]] planner::Algorithm chosen() const {
    return planner::find_algorithm(algorithm.value_or(std::string(planner::kOptimal)),
                                   problem.operation);
  }
};

}  // namespace espalier::cli
