#include "lp/solver/linear_program.hpp"

#include <fmt/format.h>
#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <string>

#include "support/errors.hpp"

namespace espalier::lp {

namespace {

// GLPK calls this hook where it would abort the program. It must not return.
struct Rescue {
  std::jmp_buf place;
};
void leap(void* rescue) {
  std::longjmp(static_cast<Rescue*>(rescue)->place, 1);
}

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

// GLPK creates an environment per thread, and does not free it when the thread ends.
struct ThreadEnvironment {
  ThreadEnvironment() = default;
  ~ThreadEnvironment() { glp_free_env(); }
  ThreadEnvironment(const ThreadEnvironment&) = delete;
  ThreadEnvironment& operator=(const ThreadEnvironment&) = delete;
  ThreadEnvironment(ThreadEnvironment&&) = delete;
  ThreadEnvironment& operator=(ThreadEnvironment&&) = delete;
};

}  // namespace

struct LinearProgram::Handle {
  glp_prob* problem = nullptr;
  bool scaled = false;
  std::size_t pivots = 0;  // of the last solve
  // 1-based, as GLPK requires; kept to save allocations.
  std::vector<int> indices;
  std::vector<double> values;

  Handle() {
    static thread_local const ThreadEnvironment environment;
    glp_term_out(GLP_OFF);  // per thread, as GLPK's environment is
    problem = glp_create_prob();
  }
  ~Handle() {
    if (problem != nullptr) glp_delete_prob(problem);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;

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

  // glp_simplex, with GLPK's internal errors converted to exceptions instead of abort.
  int simplex(const glp_smcp& parameters) {
    Rescue rescue;
    if (setjmp(rescue.place) != 0) {
      // The environment cannot be repaired: leave the problem in it and start a new one next time.
      glp_error_hook(nullptr, nullptr);
      problem = nullptr;
      glp_free_env();
      throw Error(ExitStatus::kInternalFault, "GLPK failed inside the simplex method");
    }
    glp_error_hook(leap, &rescue);
    const int before = glp_get_it_cnt(problem);
    const int code = glp_simplex(problem, &parameters);
    glp_error_hook(nullptr, nullptr);
    pivots += static_cast<std::size_t>(glp_get_it_cnt(problem) - before);
    return code;
  }
};

LinearProgram::LinearProgram(Sense sense) : handle_(std::make_unique<Handle>()) {
  glp_set_obj_dir(handle_->problem, sense == Sense::kMaximise ? GLP_MAX : GLP_MIN);
}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

std::uint32_t LinearProgram::add_row(Bounds bounds, std::span<const Entry> entries) {
  const int row = glp_add_rows(handle_->problem, 1);
  glp_set_row_bnds(handle_->problem, row, bound_type(bounds), bounds.lower, bounds.upper);
  handle_->load(entries);
  glp_set_mat_row(handle_->problem, row, static_cast<int>(entries.size()), handle_->indices.data(),
                  handle_->values.data());
  return static_cast<std::uint32_t>(row - 1);
}

std::uint32_t LinearProgram::add_column(Bounds bounds, double objective,
                                        std::span<const Entry> entries) {
  const int column = glp_add_cols(handle_->problem, 1);
  glp_set_col_bnds(handle_->problem, column, bound_type(bounds), bounds.lower, bounds.upper);
  glp_set_obj_coef(handle_->problem, column, objective);
  handle_->load(entries);
  glp_set_mat_col(handle_->problem, column, static_cast<int>(entries.size()),
                  handle_->indices.data(), handle_->values.data());
  return static_cast<std::uint32_t>(column - 1);
}

void LinearProgram::set_column_bounds(std::uint32_t column, Bounds bounds) {
  glp_set_col_bnds(handle_->problem, to_glpk(column), bound_type(bounds), bounds.lower,
                   bounds.upper);
}

void LinearProgram::set_row_bounds(std::uint32_t row, Bounds bounds) {
  glp_set_row_bnds(handle_->problem, to_glpk(row), bound_type(bounds), bounds.lower, bounds.upper);
}

void LinearProgram::set_objective(std::uint32_t column, double objective) {
  glp_set_obj_coef(handle_->problem, to_glpk(column), objective);
}

void LinearProgram::remove_columns(std::span<const std::uint32_t> columns) {
  if (columns.empty()) return;
  handle_->load_indices(columns);
  glp_del_cols(handle_->problem, static_cast<int>(columns.size()), handle_->indices.data());
}

void LinearProgram::remove_rows(std::span<const std::uint32_t> rows) {
  if (rows.empty()) return;
  handle_->load_indices(rows);
  glp_del_rows(handle_->problem, static_cast<int>(rows.size()), handle_->indices.data());
}

std::uint32_t LinearProgram::row_count() const {
  return static_cast<std::uint32_t>(glp_get_num_rows(handle_->problem));
}
std::uint32_t LinearProgram::column_count() const {
  return static_cast<std::uint32_t>(glp_get_num_cols(handle_->problem));
}

LpStatus LinearProgram::solve(const SimplexOptions& options) {
  glp_prob* problem = handle_->problem;
  if (options.scale && !handle_->scaled) {
    glp_scale_prob(problem, GLP_SF_GM | GLP_SF_EQ | GLP_SF_2N);
    handle_->scaled = true;
  }
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
  const int code = handle_->simplex(parameters);
  if (code == 0) return status_of(problem);
  if (code == GLP_ETMLIM || code == GLP_EITLIM) return LpStatus::kLimit;
  // A singular or ill-conditioned basis, or a failure during the solve: retry from the slack basis.
  glp_std_basis(problem);
  parameters.meth = GLP_PRIMAL;
  const int second = handle_->simplex(parameters);
  if (second == 0) return status_of(problem);
  return second == GLP_ETMLIM || second == GLP_EITLIM ? LpStatus::kLimit : LpStatus::kTrouble;
}

double LinearProgram::objective() const {
  return glp_get_obj_val(handle_->problem);
}
double LinearProgram::value(std::uint32_t column) const {
  return glp_get_col_prim(handle_->problem, to_glpk(column));
}
double LinearProgram::row_dual(std::uint32_t row) const {
  return glp_get_row_dual(handle_->problem, to_glpk(row));
}
double LinearProgram::reduced_cost(std::uint32_t column) const {
  return glp_get_col_dual(handle_->problem, to_glpk(column));
}
bool LinearProgram::is_basic(std::uint32_t column) const {
  return glp_get_col_stat(handle_->problem, to_glpk(column)) == GLP_BS;
}
bool LinearProgram::is_row_basic(std::uint32_t row) const {
  return glp_get_row_stat(handle_->problem, to_glpk(row)) == GLP_BS;
}
std::size_t LinearProgram::pivots() const {
  return handle_->pivots;
}

}  // namespace espalier::lp
