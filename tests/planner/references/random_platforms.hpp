// Random platforms of every kind that is difficult for planners. The same seed gives the same
// platform on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/plan/plan.hpp"
#include "planner/problem/collective.hpp"
#include "planner/problem/instance.hpp"
#include "platforms/core/contention.hpp"
#include "platforms/core/platform.hpp"

namespace espalier::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  std::size_t from_to(std::size_t least, std::size_t most) {
    return least + below(most - least + 1);
  }
  double between(double low, double high) { return low + share() * (high - low); }
  bool chance(double probability) { return share() < probability; }

 private:
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::mt19937_64 engine_;
};

// A platform, and the other parts of a planning problem except for the model. Every host can be
// reached from the source.
struct DrawnPlatform {
  platforms::Platform platform;
  platforms::NodeId source{};
  platforms::OccupationOptions options;

  [[nodiscard]] planner::Instance under(platforms::Model model) const {
    return {platform, source, model, options};
  }
  [[nodiscard]] planner::Collective under(platforms::Model model,
                                          planner::Operation operation) const {
    return {operation, platform, source, model, options};
  }
};
// For a reduce the reversed platform; for an allreduce unset where some host cannot reach the
// source.
std::optional<DrawnPlatform> fit_for(planner::Operation operation, DrawnPlatform drawn);

struct PlatformFamily {
  std::string_view name;
  // 2 to `most_hosts` hosts, and the relays of the family.
  DrawnPlatform (*draw)(std::uint64_t seed, std::size_t most_hosts);
};
std::span<const PlatformFamily> platform_families();

// "family segmented, seed 3, model one-port": what is needed to run a failing test again.
std::string trace_of(const PlatformFamily& family, std::uint64_t seed, platforms::Model model);

// "one-port" in the form for GoogleTest's case names: "one_port".
std::string case_name(std::string_view name);
// "reduce_one_port" of an operation and "one-port".
std::string case_name(planner::Operation operation, std::string_view name);
std::vector<std::string> model_names();
// Of the algorithms that serve the operation.
std::vector<std::string> algorithm_names(
    planner::Operation operation = planner::Operation::kBroadcast);

// Calls check(drawn, trace) for every family and every seed from 1 to `seeds`.
template <class Check>
void for_each_platform(std::uint64_t seeds, std::size_t most_hosts, platforms::Model model,
                       Check check) {
  for (const PlatformFamily& family : platform_families()) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      check(family.draw(seed, most_hosts), trace_of(family, seed, model));
    }
  }
}

// The same for every platform that fits the operation.
template <class Check>
void for_each_platform(planner::Operation operation, std::uint64_t seeds, std::size_t most_hosts,
                       platforms::Model model, Check check) {
  for_each_platform(seeds, most_hosts, model, [&](DrawnPlatform drawn, const std::string& trace) {
    const auto fit = fit_for(operation, std::move(drawn));
    if (fit) check(*fit, trace + ", " + std::string(planner::name_of(operation)));
  });
}

}  // namespace espalier::testing
