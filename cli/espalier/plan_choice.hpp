// The fastest plan for one message (`plan --message`): chosen while showing progress, and reported
// as text and as JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/espalier/console.hpp"
#include "simulate/search/choose_blocks.hpp"
#include "simulate/search/choose_plan.hpp"
#include "support/json.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

using Choosing = std::function<simulate::Choice(const simulate::ChoiceOptions&)>;
// What `choose` returns, while progress is shown; with --verbose all candidates are named.
simulate::Choice choose_in_sight(simulate::ChoiceOptions options, const Console& console,
                                 const Choosing& choose);
// As simulate::choose_plan for the problem.
template <class Problem>
simulate::Choice choose_for(const Problem& problem, Bytes message, simulate::ChoiceOptions options,
                            const Console& console) {
  return choose_in_sight(std::move(options), console, [&](const auto& how) {
    return simulate::choose_plan(problem, message, how);
  });
}

// What was chosen and why; complete lines. compute: the assumed rate of combining.
std::string choice_text(const simulate::Choice& choice, Bytes message,
                        std::optional<BytesPerSecond> compute);
Json choice_json(const simulate::Choice& choice, Bytes message,
                 std::optional<BytesPerSecond> compute);

}  // namespace espalier::cli
