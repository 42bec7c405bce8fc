#include "cli/espalier_mpi/commands/tune_algorithms.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include "cli/espalier_mpi/commands/probe.hpp"
#include "cli/espalier_mpi/reports/output.hpp"
#include "cost_models/decide/refinement.hpp"
#include "cost_models/formulas/predict.hpp"
#include "cost_models/parameters_json.hpp"
#include "runtime/api/decisions.hpp"
#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/nearest_name.hpp"
#include "support/statistics.hpp"

namespace espalier::cli {
namespace {

using planner::Operation;

constexpr const char* kAlgorithms = "--algorithms";

// What a cell of the table can name.
struct Method {
  std::string algorithm;
  Bytes segment;
  const planner::ExecutedFormula* formula = nullptr;  // null: MPI's own function
};

bool wants(const AlgorithmOptions& options, std::string_view name) {
  return std::ranges::count(options.algorithms, "all") != 0 ||
         std::ranges::count(options.algorithms, name) != 0;
}

// Of the operation, in the order of the formulas.
std::vector<const planner::ExecutedFormula*> wanted_formulas(const AlgorithmOptions& options) {
  std::vector<const planner::ExecutedFormula*> wanted;
  std::vector<std::string_view> names = {"all", planner::kLibrary};
  for (const planner::ExecutedFormula& one : planner::executed_formulas()) {
    if (one.operation != options.operation) continue;
    if (wants(options, one.algorithm)) wanted.push_back(&one);
    names.push_back(one.algorithm);
  }
  for (const std::string& name : options.algorithms) {
    if (std::ranges::count(names, name) != 0) continue;
    throw InputError(
        {}, kAlgorithms,
        unknown_name(fmt::format("algorithm of {}", name_of(options.operation)), name, names));
  }
  if (wanted.empty()) {
    throw InputError({}, kAlgorithms, "name others than MPI's own function, too");
  }
  return wanted;
}

// Each algorithm with each segment size, in one level and, where hosts have several ranks, in two;
// then MPI's own function.
std::vector<Method> methods_of(const AlgorithmOptions& options, const planner::Among& among) {
  const bool has_levels = among.ranks_per_host > 1 && among.ranks > among.ranks_per_host;
  std::vector<Method> methods;
  for (const planner::ExecutedFormula* const formula : wanted_formulas(options)) {
    const std::string flat(formula->algorithm);
    const std::string levels = std::string(planner::kHierarchical) + flat;
    for (const std::string& name : {flat, levels}) {
      if (name == levels && !(has_levels && decided_shape(options.operation, name))) continue;
      for (const Bytes segment : options.segments) methods.push_back({name, segment, formula});
    }
  }
  if (wants(options, planner::kLibrary)) methods.push_back({std::string(planner::kLibrary), {}});
  return methods;
}

// The time by the formula of an operation; unset: the model has none.
std::optional<Seconds> time_by(const cost_models::Parameters& parameters, Operation operation,
                               std::string_view algorithm, const cost_models::Case& of) {
  const cost_models::FormulaEntry* const entry = cost_models::find_formula(
      planner::name_of(operation), algorithm, cost_models::kModelNames[parameters.index()]);
  if (entry == nullptr) return std::nullopt;
  return predict(*entry, parameters, of);
}

// An allreduce without a formula counts as a reduction and a broadcast. Levels count as none: no
// formula knows hosts.
std::optional<Seconds> time_by(const cost_models::Parameters& parameters,
                               const planner::ExecutedFormula& formula,
                               const cost_models::Case& of) {
  if (formula.operation != Operation::kAllreduce || formula.algorithm == "two-tree") {
    return time_by(parameters, formula.operation, formula.algorithm, of);
  }
  const auto up = time_by(parameters, Operation::kReduce, formula.algorithm, of);
  const auto down = time_by(parameters, Operation::kBroadcast, formula.algorithm, of);
  if (!up || !down) return std::nullopt;
  return Seconds{up->value + down->value};
}

constexpr cost_models::SecondsPerByte kInstantly{0};

using Predicted = std::vector<std::optional<Seconds>>;

constexpr Seconds kNoFormula{std::numeric_limits<double>::infinity()};

// By method; unset for segments that do not make it differ from an earlier one.
Predicted predicted_times(std::span<const Method> methods,
                          const cost_models::NetworkParameters& network, std::uint32_t ranks,
                          Bytes message) {
  Predicted times(methods.size());
  std::vector<std::pair<std::string_view, Bytes>> seen;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const Method& method = methods[i];
    if (method.formula == nullptr) {
      times[i] = kNoFormula;
      continue;
    }
    const Bytes cut = method.segment < message ? method.segment : Bytes{0};
    const std::pair<std::string_view, Bytes> as{method.algorithm, cut};
    if (std::ranges::count(seen, as) != 0) continue;
    seen.push_back(as);
    times[i] = time_by(network.parameters, *method.formula,
                       {ranks, message, cut, network.computation.value_or(kInstantly)})
                   .value_or(kNoFormula);
  }
  return times;
}

// Collective: rank 0's times on all ranks, which must time the same.
void share(MPI_Comm comm, std::vector<Predicted>& times) {
  constexpr double kUnset = -1;
  for (Predicted& row : times) {
    std::vector<double> plain;
    for (const auto& time : row) plain.push_back(time ? time->value : kUnset);
    runtime::check(MPI_Bcast(plain.data(), static_cast<int>(plain.size()), MPI_DOUBLE, 0, comm),
                   "MPI_Bcast");
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = plain[i] < 0 ? std::nullopt : std::optional(Seconds{plain[i]});
    }
  }
}

class AlgorithmTuner {
 public:
  // Collective.
  AlgorithmTuner(const Job& job, const AlgorithmOptions& options, const TimingOptions& timing)
      : job_(job),
        options_(options),
        timing_(timing),
        watched_(timing_.watched_by(*job.watchdog)),
        placement_(runtime::placement_of(job.comm)),
        methods_(methods_of(options, placement_.among())),
        figures_(empty_figures(job.comm, options.operation, timing)) {
    const cost_models::NetworkParameters network =
        options.parameters.empty()
            ? measured_loggp(job)
            : cost_models::parse_parameters(runtime::share_file(job.comm, options.parameters),
                                            display_name(options.parameters));
    predict(network);
    find_unmodelled();
    case_.within = options.within;
    case_.every = options.every;
    mpi_medians_.resize(timing_.sizes.size());
  }

  // Collective: the decisions of all messages.
  std::vector<planner::Decision> run() {
    const cost_models::TimeMethods time = [this](std::size_t cell,
                                                 std::span<const std::size_t> methods) {
      return time_methods(cell, methods);
    };
    const std::vector<cost_models::RefinedCell> cells = refine(case_, time);
    std::vector<planner::Decision> decisions;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      decisions.push_back(decision_of(cell, cells[cell]));
      figures_.decided.push_back(described(cell, cells[cell]));
    }
    std::ranges::stable_sort(figures_.rows, {}, &BenchRow::message_bytes);
    return decisions;
  }

  [[nodiscard]] const BenchFigures& figures() const { return figures_; }

 private:
  // Collective. network: on rank 0.
  void predict(const cost_models::NetworkParameters& network) {
    case_.predicted.resize(timing_.sizes.size(), Predicted(methods_.size()));
    runtime::collective_try(job_.comm, [&] {
      if (runtime::rank_in(job_.comm) != 0) return;
      for (std::size_t cell = 0; cell < timing_.sizes.size(); ++cell) {
        case_.predicted[cell] =
            predicted_times(methods_, network, placement_.ranks(), timing_.sizes[cell]);
      }
    });
    share(job_.comm, case_.predicted);
  }

  // Methods without a formula, which are not predicted anywhere.
  void find_unmodelled() {
    bool is_any_modelled = false;
    for (std::size_t method = 0; method < methods_.size(); ++method) {
      bool is_modelled = true;
      for (Predicted& row : case_.predicted) {
        is_any_modelled |= row[method] && *row[method] < kNoFormula;
        if (row[method] != kNoFormula) continue;
        row[method].reset();
        is_modelled = false;
      }
      if (!is_modelled) case_.unmodelled.push_back(method);
    }
    if (!is_any_modelled) {
      throw InputError({}, kAlgorithms,
                       "the parameters' model has no formula for these; name others, or give those "
                       "of loggp");
    }
  }

  [[nodiscard]] std::string name_of_method(std::size_t method) const {
    return planner::method_name(methods_[method].algorithm, methods_[method].segment);
  }

  [[nodiscard]] planner::Decision cell_of(std::size_t cell, std::size_t method) const {
    const planner::Among among = placement_.among();
    const std::optional<Seconds> predicted = case_.predicted[cell][method];
    return {among.ranks_per_host,           among.ranks,
            timing_.sizes[cell].value,      methods_[method].algorithm,
            methods_[method].segment.value, predicted.value_or(Seconds{0})};
  }

  [[nodiscard]] NamedPlan plan_of(std::size_t cell, std::size_t method) const {
    const planner::Decisions table{options_.operation, {cell_of(cell, method)}};
    runtime::DecidedPlan decided =
        plan_for(table, methods_[method].algorithm, placement_, /*root=*/0);
    return {name_of_method(method), std::move(decided.plan), 0, std::move(decided.segments)};
  }

  // Collective.
  std::vector<Seconds> time_methods(std::size_t cell, std::span<const std::size_t> methods) {
    std::vector<NamedPlan> plans;
    for (const std::size_t method : methods) {
      if (methods_[method].formula != nullptr) plans.push_back(plan_of(cell, method));
    }
    job_.watchdog->expect("waiting for all ranks to have the plans", kOwnTimeoutFirst);
    const TimedOperation operation =
        timed_operation(job_.comm, plans, options_.operation, watched_);
    const std::size_t first = figures_.rows.size();
    measure(job_.comm, operation, {&timing_.sizes[cell], 1}, timing_, *job_.watchdog, figures_);
    // MPI's own function is the first candidate, and the others are in the order of the plans.
    mpi_medians_[cell] = Seconds{median_of(figures_.rows[first].seconds)};
    std::vector<Seconds> times;
    std::size_t row = first;
    for (const std::size_t method : methods) {
      const bool is_own = methods_[method].formula == nullptr;
      times.push_back(is_own ? *mpi_medians_[cell]
                             : Seconds{median_of(figures_.rows[++row].seconds)});
    }
    return times;
  }

  static std::optional<Seconds> time_of(const cost_models::RefinedCell& cell, std::size_t method) {
    for (const auto& [timed, seconds] : cell.timed) {
      if (timed == method) return seconds;
    }
    return std::nullopt;
  }

  [[nodiscard]] planner::Decision decision_of(std::size_t cell,
                                              const cost_models::RefinedCell& refined) const {
    planner::Decision decision = cell_of(cell, refined.chosen);
    decision.measured = time_of(refined, refined.chosen);
    return decision;
  }

  [[nodiscard]] DecidedMessage described(std::size_t cell,
                                         const cost_models::RefinedCell& refined) const {
    return {timing_.sizes[cell],
            name_of_method(refined.chosen),
            time_of(refined, refined.chosen),
            name_of_method(refined.modelled),
            time_of(refined, refined.modelled),
            mpi_medians_[cell]};
  }

  const Job& job_;
  const AlgorithmOptions& options_;
  const TimingOptions& timing_;
  TimingOptions watched_;
  runtime::Placement placement_;
  std::vector<Method> methods_;
  cost_models::RefinementCase case_;
  std::vector<std::optional<Seconds>> mpi_medians_;  // by cell; unset: not timed
  BenchFigures figures_;
};

// The table that the file has. On rank 0.
planner::Decisions table_in(const std::string& file, Operation operation) {
  require_writable(file);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return {operation, {}};
  planner::Decisions table = planner::parse_decisions(read_text(file), file);
  if (table.operation != operation) {
    throw InputError(
        file, "/operation",
        fmt::format("has decisions for {}; name another file with -o", name_of(table.operation)));
  }
  if (table.cells.front().ranks_per_host == 0) {
    throw InputError(file, "/rows/0",
                     "has no ranks_per_host, as a model's table; name another file with -o");
  }
  return table;
}

}  // namespace

void AlgorithmOptions::add_to(Arguments& app) {
  app.add(
      kAlgorithms, algorithms, [](const std::string& name) { return name; },
      "without PLAN: find the best algorithm and segment size for each message; 'all', or names "
      "as in `espalier predict` and 'library' for MPI's own, separated by commas",
      {.type = "NAME"});
  static const std::vector<std::string_view> names = names_of(planner::kOperations);
  app.add("--operation", operation, one_named<Operation>("operation", names),
          "with --algorithms: " + one_of(names));
  app.add("--parameters", parameters,
          "with --algorithms: the network's parameters, as `probe --model` writes them, by which "
          "methods are chosen to be timed (default: measure those of loggp first)",
          {.type = "FILE"});
  app.add("--segments", segments, parse_sizes,
          "with --algorithms: segment sizes to choose from; 0: not segmented", {.type = "LIST"});
  app.add("--within", within,
          "with --algorithms: time what is predicted to take at most so many times the least time");
  app.add("--every", every, "with --algorithms: time every method and every message instead");
}

void AlgorithmOptions::check() const {
  if (!(within >= 1)) throw InputError("--within: the least time itself is 1; give 1 or more");
  static_cast<void>(wanted_formulas(*this));
}

ExitStatus tune_algorithms(const Job& job, const AlgorithmOptions& options,
                           const TimingOptions& timing, const std::string& out) {
  const bool leads = runtime::rank_in(job.comm) == 0;
  planner::Decisions table;
  runtime::collective_try(job.comm, [&] {
    if (leads) table = table_in(out, options.operation);
  });
  AlgorithmTuner tuner(job, options, timing);
  const std::vector<planner::Decision> decisions = tuner.run();
  runtime::collective_try(job.comm, [&] {
    if (!leads) return;
    planner::merge(table, decisions);
    write_text(out, planner::decisions_json(table));
  });
  print_figures(job.comm, tuner.figures(), timing.json);
  return ExitStatus::kDone;
}

}  // namespace espalier::cli
