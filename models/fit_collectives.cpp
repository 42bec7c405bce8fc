#include "models/fit_collectives.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "support/errors.hpp"

namespace espalier::models {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array<std::string_view, 2> kHockneyNames{"alpha_s", "beta_s_per_byte"};
constexpr std::array<std::string_view, 4> kLogGPNames{"latency_s", "overhead_s", "gap_s",
                                                      "gap_per_byte_s"};

std::span<const std::string_view> names_of(std::string_view model) {
  if (model == "hockney") return kHockneyNames;
  if (model == "loggp") return kLogGPNames;
  throw std::invalid_argument("only Hockney's and LogGP's parameters are fitted");
}

Parameters parameters_of(const VectorXd& figures) {
  if (figures.size() == 2) return Hockney{figures(0), figures(1)};
  return LogGP{{figures(0)}, {figures(1)}, {figures(2)}, {figures(3)}};
}

void check_measured(std::span<const TimedCase> measured, std::size_t parameters) {
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!std::isfinite(measured[i].time.value) || measured[i].time.value <= 0) {
      throw InputError({}, fmt::format("/{}", i),
                       fmt::format("{} seconds is not finite and above 0", measured[i].time.value));
    }
  }
  if (measured.size() >= parameters) return;
  throw InputError(
      fmt::format("{} measured times are too few for {} parameters", measured.size(), parameters));
}

double median(VectorXd values) {
  const Index middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  return values(middle);
}

// The problem in units of its own, so that its columns are alike: times in the median time, a
// byte's in that over the largest message.
class Problem {
 public:
  Problem(std::string_view model, std::span<const TimedCase> measured) : measured_(measured) {
    const auto parameters = static_cast<Index>(names_of(model).size());
    const auto rows = static_cast<Index>(measured.size());
    VectorXd times(rows);
    double largest = 1;
    for (Index i = 0; i < rows; ++i) {
      times(i) = measured[static_cast<std::size_t>(i)].time.value;
      largest = std::max(
          largest, static_cast<double>(measured[static_cast<std::size_t>(i)].of.message.value));
    }
    units_ = VectorXd::Constant(parameters, median(times));
    units_(parameters - 1) /= largest;
  }

  [[nodiscard]] Index rows() const { return static_cast<Index>(measured_.size()); }
  [[nodiscard]] Index columns() const { return units_.size(); }
  [[nodiscard]] VectorXd figures(const VectorXd& scaled) const {
    return scaled.cwiseProduct(units_);
  }

  // Predicted over measured.
  [[nodiscard]] VectorXd ratios(const VectorXd& scaled) const {
    const Parameters parameters = parameters_of(figures(scaled));
    VectorXd result(rows());
    for (Index i = 0; i < rows(); ++i) {
      const TimedCase& one = measured_[static_cast<std::size_t>(i)];
      result(i) = predict(*one.entry, parameters, one.of).value / one.time.value;
    }
    return result;
  }

  // How the ratios grow with each parameter. The formulas are sums and maxima of multiples of the
  // parameters, so that a small step tells it but for rounding.
  [[nodiscard]] MatrixXd slopes(const VectorXd& scaled) const {
    const VectorXd here = ratios(scaled);
    MatrixXd result(rows(), columns());
    constexpr double kStep = 1e-6;
    for (Index j = 0; j < columns(); ++j) {
      VectorXd beside = scaled;
      beside(j) += kStep;
      result.col(j) = (ratios(beside) - here) / kStep;
    }
    return result;
  }

 private:
  std::span<const TimedCase> measured_;
  VectorXd units_;
};

// Which parameters are more than 0, as bits. Fewer come first, and of as many those without the
// overhead, which most formulas have in a sum with the latency only.
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

// The same least squares in as few rows as there are columns, the last of which is what is wanted.
MatrixXd reduced(const MatrixXd& rows, const VectorXd& wanted) {
  MatrixXd joined(rows.rows(), rows.cols() + 1);
  joined << rows, wanted;
  if (joined.rows() <= joined.cols()) return joined;
  const MatrixXd factors = joined.householderQr().matrixQR().topRows(joined.cols());
  return factors.triangularView<Eigen::Upper>();
}

// The least squares of rows * x - wanted with no x below 0. With so few unknowns every choice of
// those above 0 is tried.
VectorXd solve(const MatrixXd& all_rows, const VectorXd& all_wanted) {
  const MatrixXd joined = reduced(all_rows, all_wanted);
  const MatrixXd rows = joined.leftCols(all_rows.cols());
  const VectorXd wanted = joined.rightCols(1);
  VectorXd best = VectorXd::Zero(rows.cols());
  double least = std::numeric_limits<double>::infinity();
  for (const unsigned choice : choices(rows.cols())) {
    const std::vector<Index> columns = columns_of(choice);
    VectorXd tried = VectorXd::Zero(rows.cols());
    if (!columns.empty()) {
      const MatrixXd part = rows(Eigen::all, columns);
      const VectorXd solved = part.completeOrthogonalDecomposition().solve(wanted);
      tried(columns) = solved;
    }
    if ((tried.array() < 0).any()) continue;
    const double cost = (rows * tried - wanted).squaredNorm();
    // Not for rounding alone: of equal ones that with the fewest parameters stays.
    constexpr double kRounding = 1e-16;
    if (cost < least * (1 - 1e-9) - kRounding * wanted.squaredNorm()) {
      least = cost;
      best = tried;
    }
  }
  return best;
}

// Weights by how far off a measurement is, in robust standard deviations.
VectorXd weights_of(const VectorXd& errors, bool reject) {
  constexpr double kNormal = 1.4826;  // of a normal distribution's median absolute deviation
  constexpr double kLeast = 1e-9;     // exact measurements are all good
  constexpr double kHuber = 1.345;
  constexpr double kTukey = 4.685;
  const double deviation = std::max(kNormal * median(errors.cwiseAbs()), kLeast);
  return errors.unaryExpr([&](double error) {
    const double far = std::abs(error) / deviation;
    if (!reject) return far <= kHuber ? 1.0 : kHuber / far;
    const double share = far / kTukey;
    return share < 1 ? (1 - share * share) * (1 - share * share) : 0.0;
  });
}

struct Solution {
  VectorXd scaled;
  VectorXd weights;
};

// Weights and, where formulas have maxima, slopes follow the solution, which follows them.
Solution iterate(const Problem& problem) {
  Solution at{VectorXd::Ones(problem.columns()), VectorXd::Ones(problem.rows())};
  constexpr int kRounds = 100;
  constexpr double kSettled = 1e-10;
  bool reject = false;  // Tukey's weights start from what Huber's give
  for (int round = 0; round < kRounds; ++round) {
    const MatrixXd slopes = problem.slopes(at.scaled);
    const VectorXd constant = problem.ratios(at.scaled) - slopes * at.scaled;
    const VectorXd roots = at.weights.cwiseSqrt();
    const VectorXd former = at.scaled;
    at.scaled = solve(roots.asDiagonal() * slopes,
                      roots.cwiseProduct(VectorXd::Ones(problem.rows()) - constant));
    const VectorXd errors = problem.ratios(at.scaled) - VectorXd::Ones(problem.rows());
    const bool settled = (at.scaled - former).norm() <= kSettled * former.norm();
    if (settled && reject) break;
    reject = reject || settled || round >= kRounds / 2;
    at.weights = weights_of(errors, reject);
  }
  return at;
}

// Parameters that some others can make up for, whatever the measurements say.
std::vector<bool> told_by(const MatrixXd& rows) {
  const Eigen::JacobiSVD<MatrixXd> parts(rows, Eigen::ComputeThinU | Eigen::ComputeFullV);
  constexpr double kSmall = 1e-6;  // slopes are told to about 1e-9
  std::vector<bool> told(static_cast<std::size_t>(rows.cols()), true);
  for (Index k = 0; k < rows.cols(); ++k) {
    const bool free = k >= parts.singularValues().size() ||
                      parts.singularValues()(k) <= kSmall * parts.singularValues()(0);
    for (Index j = 0; free && j < rows.cols(); ++j) {
      if (std::abs(parts.matrixV()(j, k)) > kSmall) told[static_cast<std::size_t>(j)] = false;
    }
  }
  return told;
}

// Of the parameters above 0, in the units of `rows`.
VectorXd standard_errors(const MatrixXd& rows, const VectorXd& errors, const VectorXd& scaled) {
  std::vector<Index> columns;
  for (Index j = 0; j < scaled.size(); ++j) {
    if (scaled(j) > 0) columns.push_back(j);
  }
  VectorXd result = VectorXd::Zero(scaled.size());
  const auto freedom = rows.rows() - static_cast<Index>(columns.size());
  if (columns.empty() || freedom <= 0) return result;
  const MatrixXd part = rows(Eigen::all, columns);
  const MatrixXd covariance =
      (part.transpose() * part).completeOrthogonalDecomposition().pseudoInverse() *
      (errors.squaredNorm() / static_cast<double>(freedom));
  result(columns) = covariance.diagonal().cwiseMax(0).cwiseSqrt();
  return result;
}

}  // namespace

CollectiveFit fit_collectives(std::string_view model, std::span<const TimedCase> measured) {
  const std::span<const std::string_view> names = names_of(model);
  check_measured(measured, names.size());
  const Problem problem(model, measured);
  const Solution solution = iterate(problem);

  const VectorXd roots = solution.weights.cwiseSqrt();
  const MatrixXd rows = roots.asDiagonal() * problem.slopes(solution.scaled);
  const VectorXd ratios = problem.ratios(solution.scaled);
  const VectorXd off = roots.cwiseProduct(ratios - VectorXd::Ones(problem.rows()));
  const std::vector<bool> told = told_by(rows);
  const VectorXd values = problem.figures(solution.scaled);
  const VectorXd errors = problem.figures(standard_errors(rows, off, solution.scaled));

  CollectiveFit fit{parameters_of(values), {}, {}, {}};
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto at = static_cast<Index>(j);
    FittedFigure figure{names[j], values(at), std::nullopt, told[j]};
    if (told[j] && values(at) > 0) figure.error = errors(at);
    fit.figures.push_back(figure);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto at = static_cast<Index>(i);
    fit.predicted.push_back({ratios(at) * measured[i].time.value});
    fit.weights.push_back(solution.weights(at));
  }
  return fit;
}

}  // namespace espalier::models
