#include "simulate/search/choose_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "planner/problem/collective.hpp"
#include "planner/problem/deadline.hpp"
#include "planner/check/plan_on_platform.hpp"
#include "simulate/search/contenders.hpp"
#include "simulate/search/slice_search.hpp"

namespace espalier::simulate {

namespace {

using planner::Collective;

constexpr std::uint64_t kMostSendsInFull = 2'000'000;  // a run of half a second or so
constexpr std::size_t kMostRounds = 3;

// Whether the matrix depends on the size of slices, and the best trees with it.
bool depends_on_slices(const platforms::Platform& platform, bool latency_occupies) {
  return std::ranges::any_of(platform.arcs(), [&](const platforms::Arc& arc) {
    return arc.overhead.value > 0 || (latency_occupies && arc.latency.value > 0);
  });
}

class Chooser {
 public:
  Chooser(const platforms::Platform& platform, platforms::NodeId source, platforms::Model model,
          bool latency_occupies, Bytes message, const ChoiceOptions& options)
      : platform_(platform),
        source_(source),
        model_(model),
        latency_occupies_(latency_occupies),
        message_(message),
        options_(options),
        deadline_(options.limits.time_limit),
        overhead_(options.overhead.value_or(overhead_for(platform))),
        simulated_(with_overhead(platform, overhead_)),
        sliced_(depends_on_slices(platform, latency_occupies)),
        search_(simulated_, model, latency_occupies, message, search_options(), deadline_) {}

  Choice choose() {
    for (const Bytes slice : first_slices()) add_contenders(slice);
    Trial best = search_.best_of(all());
    // Trees for the very slices that turned out best, until that brings nothing more.
    for (std::size_t round = 0; sliced_ && !options_.slice && round < kMostRounds; ++round) {
      if (deadline_.passed() || !add_contenders(search_.slice_of(best.slices))) break;
      const Trial better = search_.best_of(all());
      const bool is_better = better.makespan < best.makespan;
      best = better;
      if (!is_better) break;
    }
    return finish(best);
  }

 private:
  [[nodiscard]] SliceSearchOptions search_options() const {
    return {options_.slice,
            options_.least_slice,
            options_.window.value_or(window_for(options_.operation)),
            options_.receives,
            options_.compute,
            [this](std::string_view text) { tell(text); }};
  }
  void tell(std::string_view text) const {
    if (options_.on_progress) options_.on_progress(deadline_.elapsed(), text);
  }
  [[nodiscard]] Collective collective_for(Bytes slice) const {
    return {options_.operation, platform_, source_, model_, {slice, latency_occupies_}};
  }
  [[nodiscard]] std::vector<std::size_t> all() const {
    std::vector<std::size_t> indices(search_.contenders().size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    return indices;
  }

  // In slices of which the trees are made at first: where their size counts, from small to large.
  [[nodiscard]] std::vector<Bytes> first_slices() const {
    if (options_.slice) return {*options_.slice};
    if (!sliced_) return {planner::kDefaultSlice};
    constexpr std::uint64_t kSmall = 4096;
    constexpr std::uint64_t kLarge = 16U << 20U;
    constexpr std::uint64_t kStep = 16;
    std::vector<Bytes> slices;
    for (std::uint64_t slice = kSmall; slice < std::min(message_.value, kLarge); slice *= kStep) {
      slices.push_back({slice});
    }
    slices.push_back({std::min(message_.value, kLarge)});
    return slices;
  }

  // Whether any are new.
  bool add_contenders(Bytes slice) {
    if (!search_.contenders().empty() && deadline_.passed()) {
      complete_ = false;
      return false;
    }
    const Collective collective = collective_for(slice);
    ContenderOptions how{options_.algorithms, options_.limits,
                         [this](std::string_view text) { tell(text); }};
    how.limits.message = message_;
    how.limits.on_progress = [this](const planner::Progress& progress) {
      tell(fmt::format("round {}, {}", progress.iterations, format_rate(progress.throughput)));
    };
    Contenders made = make_contenders(collective, how, deadline_);
    complete_ = complete_ && made.complete;
    bound_ = made.bound;
    bound_slice_ = slice;
    bool any_new = false;
    for (Contender& contender : made.all) {
      const bool known = std::ranges::any_of(search_.contenders(), [&](const Contender& other) {
        return same_trees(other.plan, contender.plan);
      });
      if (known) continue;
      any_new = true;
      search_.add(std::move(contender));
    }
    return any_new;
  }

  // best: so far, some told from shorter messages.
  Choice finish(Trial best) {
    // Where the packing does not win, it is worth some simulations all the same: it says why.
    for (const std::size_t i : all()) {
      if (search_.contenders()[i].label == "optimal") (void)search_.best_of({i}, false);
    }
    Choice choice;
    const Forecast forecast = options_.slice || !hosts_handle_aside()
                                  ? search_.run_in_full(best, kMostSendsInFull)
                                  : search_.surest(best, least_overhead(), kMostSendsInFull);
    choice.extrapolated = forecast.extrapolated;
    choice.makespan = best.makespan;
    const Contender& winner = search_.contenders()[best.contender];
    const Trial by_formula = search_.best_by_formula(best.contender);
    choice.overhead = overhead_;
    choice.formula_slice = search_.slice_of(by_formula.slices);
    choice.formula_makespan = by_formula.makespan;
    add_rivals(choice, best);
    fit_rates(choice, winner, search_.slice_of(best.slices));
    choice.simulations = search_.simulations();
    choice.complete = complete_ && search_.complete();
    return choice;
  }

  // Under the multi-port models overheads are on wires, of which a host has many at once, and too
  // short slices cost it nothing. A real one handles slices one after the other.
  [[nodiscard]] bool hosts_handle_aside() const {
    return !simulated_.arcs().empty() && !platforms::is_one_port(model_);
  }

  [[nodiscard]] Seconds least_overhead() const {
    return std::ranges::min_element(simulated_.arcs(), {}, &platforms::Arc::overhead)->overhead;
  }

  void add_rivals(Choice& choice, const Trial& best) const {
    for (const std::size_t i : all()) {
      const Contender& contender = search_.contenders()[i];
      const Trial own = i == best.contender ? best : search_.best_to_tell(i);
      choice.rivals.push_back({contender.label, contender.plan.reduce_trees.size(),
                               contender.plan.broadcast_trees.size(), contender.depth,
                               search_.slice_of(own.slices), own.makespan, own.simulated});
    }
    const auto own = choice.rivals.begin() + static_cast<std::ptrdiff_t>(best.contender);
    std::rotate(choice.rivals.begin(), own, own + 1);
    std::stable_sort(choice.rivals.begin() + 1, choice.rivals.end(),
                     [](const Rival& a, const Rival& b) { return a.makespan < b.makespan; });
  }

  // Trees made for other slices carry other rates in these.
  void fit_rates(Choice& choice, const Contender& winner, Bytes slice) const {
    const Collective collective = collective_for(slice);
    choice.outcome = winner.outcome;
    std::optional<BytesPerSecond> bound = bound_;
    if (sliced_) {
      double most = 0;
      for (const planner::ResourceLoad& full :
           planner::loads_of(winner.plan, platform_, collective.occupation())) {
        most = std::max(most, full.load);
      }
      for (auto* trees : {&choice.outcome.reduce_trees, &choice.outcome.trees}) {
        for (planner::WeightedTree& tree : *trees) {
          if (most > 0) tree.rate.value /= most;
        }
      }
      if (bound && bound_slice_ != slice) {
        planner::AlgorithmOptions limits = options_.limits;
        limits.time_limit = deadline_.left();
        bound = planner::prove_optimum(collective, limits).bound;
      }
    }
    if (bound && !(bound->value < lp::Packing::kUnbounded)) bound.reset();
    choice.outcome.bound = bound;
    choice.plan = planner::make_plan(collective, winner.algorithm, choice.outcome, slice);
  }

  const platforms::Platform& platform_;
  platforms::NodeId source_;
  platforms::Model model_;
  bool latency_occupies_;
  Bytes message_;
  const ChoiceOptions& options_;
  planner::Deadline deadline_;
  Seconds overhead_;
  platforms::Platform simulated_;  // with the overhead
  bool sliced_;
  SliceSearch search_;
  std::optional<BytesPerSecond> bound_;
  Bytes bound_slice_;
  bool complete_ = true;
};

}  // namespace

Choice choose_plan(const platforms::Platform& platform, platforms::NodeId source,
                   platforms::Model model, bool latency_occupies, Bytes message,
                   const ChoiceOptions& options) {
  if (message.value == 0) throw std::invalid_argument("a message has at least one byte");
  if (options.least_slice.value == 0 || (options.slice && options.slice->value == 0)) {
    throw std::invalid_argument("a slice has at least one byte");
  }
  require_windows(options.window, options.receives);
  require_compute(options.compute, options.operation);
  return Chooser(platform, source, model, latency_occupies, message, options).choose();
}

}  // namespace espalier::simulate
