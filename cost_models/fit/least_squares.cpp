#include "cost_models/fit/least_squares.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace espalier::cost_models {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// All sets of positive parameters, as bits. Smaller sets come first; of sets of the same size,
// those without the overhead come first, because in most formulas it only occurs in a sum with the
// latency.
std::vector<unsigned> choices(Index parameters) {
  std::vector<unsigned> all;
  for (unsigned choice = 0; choice < (1U << static_cast<unsigned>(parameters)); ++choice) {
    all.push_back(choice);
  }
  const auto rank = [parameters](unsigned choice) {
    constexpr unsigned kOverhead = 2;
    return 2 * std::popcount(choice) + (parameters == 4 && (choice & kOverhead) != 0 ? 1 : 0);
  };
  std::ranges::stable_sort(all, {}, rank);
  return all;
}

std::vector<Index> columns_of(unsigned choice) {
  std::vector<Index> columns;
  for (Index j = 0; choice >> static_cast<unsigned>(j) != 0; ++j) {
    if ((choice >> static_cast<unsigned>(j) & 1U) != 0) columns.push_back(j);
  }
  return columns;
}

// Least squares with all unknowns but `columns` fixed at 0 and those of any sign.
VectorXd solve_with(const MatrixXd& rows, const VectorXd& wanted,
                    const std::vector<Index>& columns) {
  VectorXd solution = VectorXd::Zero(rows.cols());
  if (columns.empty()) return solution;
  const MatrixXd part = rows(Eigen::all, columns);
  const VectorXd solved = part.completeOrthogonalDecomposition().solve(wanted);
  solution(columns) = solved;
  return solution;
}

// C. L. Lawson, R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23 (NNLS): unknowns
// become positive one by one, the one with the steepest gradient first (of equal ones, the first).
VectorXd solve_many(const MatrixXd& rows, const VectorXd& wanted) {
  constexpr double kFlat = 1e-10;
  std::vector<Index> positive;
  VectorXd at = VectorXd::Zero(rows.cols());
  const double level = kFlat * (rows.transpose() * wanted).cwiseAbs().maxCoeff();
  for (Index turn = 0; turn < 3 * rows.cols(); ++turn) {
    VectorXd steep = rows.transpose() * (wanted - rows * at);
    for (const Index j : positive) steep(j) = 0;
    Index next = 0;
    if (steep.maxCoeff(&next) <= level) break;
    positive.push_back(next);
    for (VectorXd tried = solve_with(rows, wanted, positive);;
         tried = solve_with(rows, wanted, positive)) {
      double share = 1;
      Index first = -1;  // the first to reach 0
      for (const Index j : positive) {
        if (tried(j) > 0 || at(j) >= share * (at(j) - tried(j))) continue;
        share = at(j) / (at(j) - tried(j));
        first = j;
      }
      at += share * (tried - at);
      if (first < 0) break;
      std::erase_if(positive,
                    [&](Index j) { return j == first || (tried(j) <= 0 && at(j) <= kFlat); });
      for (Index j = 0; j < at.size(); ++j) {
        if (std::ranges::find(positive, j) == positive.end()) at(j) = 0;
      }
    }
  }
  return at;
}

}  // namespace

MatrixXd triangle_of(const MatrixXd& rows) {
  if (rows.rows() <= rows.cols()) return rows;
  const MatrixXd factors = rows.householderQr().matrixQR().topRows(rows.cols());
  return factors.triangularView<Eigen::Upper>();
}

VectorXd non_negative_least_squares(const MatrixXd& all_rows, const VectorXd& all_wanted) {
  MatrixXd both(all_rows.rows(), all_rows.cols() + 1);
  both << all_rows, all_wanted;
  const MatrixXd joined = triangle_of(both);
  const MatrixXd rows = joined.leftCols(all_rows.cols());
  const VectorXd wanted = joined.rightCols(1);
  constexpr Index kFew = 4;
  if (rows.cols() > kFew) return solve_many(rows, wanted);
  VectorXd best = VectorXd::Zero(rows.cols());
  double least = std::numeric_limits<double>::infinity();
  for (const unsigned choice : choices(rows.cols())) {
    const VectorXd tried = solve_with(rows, wanted, columns_of(choice));
    if ((tried.array() < 0).any()) continue;
    const double cost = (rows * tried - wanted).squaredNorm();
    // Of choices that are equal up to rounding, the one with the fewest parameters is kept.
    constexpr double kNegligible = 1e-16;
    if (cost < least * (1 - 1e-9) - kNegligible * wanted.squaredNorm()) {
      least = cost;
      best = tried;
    }
  }
  return best;
}

}  // namespace espalier::cost_models
