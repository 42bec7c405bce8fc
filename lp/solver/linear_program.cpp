#include "lp/solver/linear_program.hpp"

#include <fmt/format.h>
#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <string>
#include <type_traits>
#include <utility>

#include "support/deadline.hpp"
#include "support/errors.hpp"
#include "support/pinned.hpp"

namespace espalier::lp {

namespace {

int bound_type(Bounds bounds) {
  const bool lower = std::isfinite(bounds.lower);
  const bool upper = std::isfinite(bounds.upper);
  if (lower && upper) return bounds.lower == bounds.upper ? GLP_FX : GLP_DB;
  if (lower) return GLP_LO;
  return upper ? GLP_UP : GLP_FR;
}

LpStatus status_of(glp_prob* problem) {
  // glp_get_status favours the primal side, so both sides are checked.
  const int primal = glp_get_prim_stat(problem);
  const int dual = glp_get_dual_stat(problem);
  if (primal == GLP_FEAS && dual == GLP_FEAS) return LpStatus::kOptimal;
  if (primal == GLP_NOFEAS) return LpStatus::kInfeasible;
  if (dual == GLP_NOFEAS) return primal == GLP_FEAS ? LpStatus::kUnbounded : LpStatus::kInfeasible;
  return LpStatus::kTrouble;
}

int to_glpk(std::uint32_t index) {
  return static_cast<int>(index) + 1;
}

// GLPK creates an environment per thread, and does not free it when the thread ends. An error
// inside GLPK leaves it beyond repair: it is freed, with all programs in it, and the next program
// gets a new one.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Environment : public Pinned {
 public:
  static Environment& of_this_thread() {
    static thread_local Environment environment;
    return environment;
  }
  ~Environment() { glp_free_env(); }

  // Increases with every failure.
  [[nodiscard]] std::size_t failures() const { return failures_; }

  // The result of `call`, which only calls GLPK and has nothing to destroy. Where GLPK would print
  // to stdout and abort the program, throws Error with its text.
  template <typename Call>
  auto run(const Call& call) {
    std::jmp_buf place;
    if (setjmp(place) != 0) fail();
    glp_error_hook(leap, &place);
    const auto result = call();
    glp_error_hook(nullptr, nullptr);
    return result;
  }

 private:
  Environment() { silence(); }

  void silence() {
    glp_term_out(GLP_OFF);  // an error turns it on again
    glp_term_hook(listen, this);
  }
  [[noreturn]] void fail() {
    glp_free_env();
    silence();
    ++failures_;
    std::string said;
    std::swap(said, said_);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    std::ranges::replace(said, '\n', ' ');
    throw Error(ExitStatus::kInternalFault, "GLPK failed: " + printable(said));
  }

  // GLPK's hooks. `leap` must not return; `listen` returns that the text needs no output.
  static void leap(void* place) { std::longjmp(*static_cast<std::jmp_buf*>(place), 1); }
  static int listen(void* environment, const char* text) {
    static_cast<Environment*>(environment)->said_ += text;
    return 1;
  }

  std::size_t failures_ = 0;
  std::string said_;
};

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
struct LinearProgram::Handle : public Pinned {
  std::size_t failures = Environment::of_this_thread().failures();  // at creation
  glp_prob* problem = Environment::of_this_thread().run([] { return glp_create_prob(); });
  bool scaled = false;
  std::size_t pivots = 0;  // of the last solve
  // 1-based, as GLPK requires; kept to save allocations.
  std::vector<int> indices;
  std::vector<double> values;

  ~Handle() {
    if (alive()) glp_delete_prob(problem);
  }

  void load_indices(std::span<const std::uint32_t> from_zero) {
    indices.assign(1, 0);
    for (const std::uint32_t index : from_zero) indices.push_back(to_glpk(index));
  }
  void load(std::span<const Entry> entries) {
    indices.assign(1, 0);
    values.assign(1, 0.0);
    for (const Entry& entry : entries) {
      indices.push_back(to_glpk(entry.index));
      values.push_back(entry.value);
    }
  }

  [[nodiscard]] bool alive() const { return failures == Environment::of_this_thread().failures(); }

  // call(problem), which only calls GLPK; throws Error where GLPK fails.
  template <typename Call>
  auto run(const Call& call) const {
    if (!alive()) {
      throw Error(ExitStatus::kInternalFault, "a linear program was lost when GLPK failed");
    }
    return Environment::of_this_thread().run([&] {
      if constexpr (std::is_void_v<decltype(call(problem))>) {
        call(problem);
        return 0;
      } else {
        return call(problem);
      }
    });
  }

  void scale() {
    if (std::exchange(scaled, true)) return;
    run([](glp_prob* in) { glp_scale_prob(in, GLP_SF_GM | GLP_SF_EQ | GLP_SF_2N); });
  }

  int simplex(const glp_smcp& parameters) {
    const int before = run(glp_get_it_cnt);
    const int code = run([&](glp_prob* in) { return glp_simplex(in, &parameters); });
    pivots += static_cast<std::size_t>(run(glp_get_it_cnt) - before);
    return code;
  }

  // Where a basis is degenerate GLPK perturbs the bounds, but once a call: afterwards it may pivot
  // for minutes without progress. So calls end after as many pivots as most solves need, and go on
  // from one another.
  int simplex_in_turns(glp_smcp parameters) {
    constexpr int kMostTurns = 20;
    constexpr int kLeastPivots = 1000;
    const Stopwatch watch;
    const int time_limit = parameters.tm_lim;
    parameters.it_lim = kLeastPivots + run(glp_get_num_rows) + run(glp_get_num_cols);
    int code = simplex(parameters);
    for (int turn = 1; code == GLP_EITLIM && turn < kMostTurns; ++turn) {
      if (run(glp_get_prim_stat) == GLP_FEAS) parameters.meth = GLP_PRIMAL;
      const auto so_far = static_cast<int>(std::min(watch.elapsed().value * 1e3, 1e9));
      if (so_far >= time_limit) return GLP_ETMLIM;
      parameters.tm_lim = time_limit - so_far;
      code = simplex(parameters);
    }
    return code == GLP_EITLIM ? GLP_EFAIL : code;
  }
};

LinearProgram::LinearProgram(Sense sense) : handle_(std::make_unique<Handle>()) {
  const int direction = sense == Sense::kMaximise ? GLP_MAX : GLP_MIN;
  handle_->run([&](glp_prob* problem) { glp_set_obj_dir(problem, direction); });
}
LinearProgram::~LinearProgram() = default;

std::uint32_t LinearProgram::add_row(Bounds bounds, std::span<const Entry> entries) {
  handle_->load(entries);
  const int row = handle_->run([&](glp_prob* problem) {
    const int added = glp_add_rows(problem, 1);
    glp_set_row_bnds(problem, added, bound_type(bounds), bounds.lower, bounds.upper);
    glp_set_mat_row(problem, added, static_cast<int>(entries.size()), handle_->indices.data(),
                    handle_->values.data());
    return added;
  });
  return static_cast<std::uint32_t>(row - 1);
}

std::uint32_t LinearProgram::add_column(Bounds bounds, double objective,
                                        std::span<const Entry> entries) {
  handle_->load(entries);
  const int column = handle_->run([&](glp_prob* problem) {
    const int added = glp_add_cols(problem, 1);
    glp_set_col_bnds(problem, added, bound_type(bounds), bounds.lower, bounds.upper);
    glp_set_obj_coef(problem, added, objective);
    glp_set_mat_col(problem, added, static_cast<int>(entries.size()), handle_->indices.data(),
                    handle_->values.data());
    return added;
  });
  return static_cast<std::uint32_t>(column - 1);
}

void LinearProgram::set_column_bounds(std::uint32_t column, Bounds bounds) {
  handle_->run([&](glp_prob* problem) {
    glp_set_col_bnds(problem, to_glpk(column), bound_type(bounds), bounds.lower, bounds.upper);
  });
}

void LinearProgram::remove_columns(std::span<const std::uint32_t> columns) {
  if (columns.empty()) return;
  handle_->load_indices(columns);
  handle_->run([&](glp_prob* problem) {
    glp_del_cols(problem, static_cast<int>(columns.size()), handle_->indices.data());
  });
}

void LinearProgram::remove_rows(std::span<const std::uint32_t> rows) {
  if (rows.empty()) return;
  handle_->load_indices(rows);
  handle_->run([&](glp_prob* problem) {
    glp_del_rows(problem, static_cast<int>(rows.size()), handle_->indices.data());
  });
}

std::uint32_t LinearProgram::row_count() const {
  return static_cast<std::uint32_t>(handle_->run(glp_get_num_rows));
}

LpStatus LinearProgram::solve(const SimplexOptions& options) {
  if (options.scale) handle_->scale();
  glp_smcp parameters;
  glp_init_smcp(&parameters);
  parameters.msg_lev = GLP_MSG_OFF;
  // With the default 1e-7 a value just below 0 would free capacity in a row where its entry is 1e7.
  parameters.tol_bnd = 1e-9;
  parameters.meth = options.method == SimplexOptions::Method::kDual ? GLP_DUALP : GLP_PRIMAL;
  if (options.time_limit) {
    const double milliseconds = std::clamp(options.time_limit->value * 1e3, 1.0, 1e9);
    parameters.tm_lim = static_cast<int>(milliseconds);
  }
  if (options.iteration_limit) parameters.it_lim = *options.iteration_limit;

  handle_->pivots = 0;
  const int code = options.iteration_limit ? handle_->simplex(parameters)
                                           : handle_->simplex_in_turns(parameters);
  if (code == GLP_ETMLIM || code == GLP_EITLIM) return LpStatus::kLimit;
  if (code == 0) {
    const LpStatus status = handle_->run(status_of);
    if (status == LpStatus::kOptimal || !options.has_optimum) return status;
    handle_->scale();
  }
  // A singular or ill-conditioned basis, a failure during the solve, or a wrong result: retry from
  // the slack basis.
  handle_->run(glp_std_basis);
  parameters.meth = GLP_PRIMAL;
  const int second = handle_->simplex(parameters);
  if (second == 0) return handle_->run(status_of);
  return second == GLP_ETMLIM || second == GLP_EITLIM ? LpStatus::kLimit : LpStatus::kTrouble;
}

double LinearProgram::objective() const {
  return handle_->run(glp_get_obj_val);
}
double LinearProgram::value(std::uint32_t column) const {
  return handle_->run([&](glp_prob* in) { return glp_get_col_prim(in, to_glpk(column)); });
}
double LinearProgram::row_dual(std::uint32_t row) const {
  return handle_->run([&](glp_prob* in) { return glp_get_row_dual(in, to_glpk(row)); });
}
bool LinearProgram::is_basic(std::uint32_t column) const {
  return handle_->run([&](glp_prob* in) { return glp_get_col_stat(in, to_glpk(column)); }) ==
         GLP_BS;
}
bool LinearProgram::is_row_basic(std::uint32_t row) const {
  return handle_->run([&](glp_prob* in) { return glp_get_row_stat(in, to_glpk(row)); }) == GLP_BS;
}
std::size_t LinearProgram::pivots() const {
  return handle_->pivots;
}

}  // namespace espalier::lp
