// A linear program in GLPK: maximise or minimise c x, with row bounds on A x and column bounds on
// x. Rows and columns are numbered from 0 in the order in which they were added. A program belongs
// to the thread that created it. An outcome (infeasible, a limit) is a return value; an exception
// is an internal error, which every function may throw, and after which the thread's programs are
// lost.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "support/pinned.hpp"
#include "support/quantities.hpp"

namespace espalier::lp {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Bounds {
  double lower = -kInfinity;
  double upper = kInfinity;
};

struct Entry {
  std::uint32_t index;  // of a row or a column, depending on the context
  double value;
};

enum class Sense : std::uint8_t { kMaximise, kMinimise };

enum class LpStatus : std::uint8_t {
  kOptimal,     // primal and dual feasible: values and duals are valid
  kInfeasible,  // no x satisfies the rows
  kUnbounded,
  kLimit,    // time or iteration limit reached
  kTrouble,  // numerical failure in GLPK, also from a fresh basis
};

struct SimplexOptions {
  enum class Method : std::uint8_t { kPrimal, kDual };
  Method method = Method::kPrimal;  // dual: after rows were added to an optimal basis
  std::optional<Seconds> time_limit = std::nullopt;
  std::optional<int> iteration_limit = std::nullopt;
  // Known to have an optimum: another result is wrong, and the program is scaled and solved again.
  bool has_optimum = false;
  bool scale = false;  // geometric and equilibration scaling before the first solve
};

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class LinearProgram : public Pinned {
 public:
  explicit LinearProgram(Sense sense);
  ~LinearProgram();

  // entries: of existing columns (add_row) or rows (add_column), no index twice. Returns the new
  // index.
  std::uint32_t add_row(Bounds bounds, std::span<const Entry> entries = {});
  std::uint32_t add_column(Bounds bounds, double objective, std::span<const Entry> entries = {});
  void set_column_bounds(std::uint32_t column, Bounds bounds);
  // Removes columns; the rest keep their order and are renumbered without holes.
  void remove_columns(std::span<const std::uint32_t> columns);
  // The same for rows. The basis stays valid when all of them are basic (is_row_basic).
  void remove_rows(std::span<const std::uint32_t> rows);

  [[nodiscard]] std::uint32_t row_count() const;

  // Simplex from the current basis: that of the last solve, with new rows and columns at their
  // slack or bound.
  LpStatus solve(const SimplexOptions& options = {});

  // Of the last solve; valid for kOptimal.
  [[nodiscard]] double objective() const;
  [[nodiscard]] double value(std::uint32_t column) const;
  [[nodiscard]] double row_dual(std::uint32_t row) const;  // d objective / d row bound
  [[nodiscard]] bool is_basic(std::uint32_t column) const;
  [[nodiscard]] bool is_row_basic(std::uint32_t row) const;  // the row does not limit the optimum
  // Simplex iterations of the last solve, whatever its status.
  [[nodiscard]] std::size_t pivots() const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace espalier::lp
