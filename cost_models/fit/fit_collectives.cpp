#include "cost_models/fit/fit_collectives.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "cost_models/fit/least_squares.hpp"
#include "support/errors.hpp"

namespace espalier::cost_models {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The fitted parameters ("figures"). Each is a sum of unknowns; no unknown is negative.
class Space {
 public:
  Space(std::string_view model, std::span<const TimedCase> measured) {
    if (model == "hockney") {
      add_plain({"alpha_s", "beta_s_per_byte"});
    } else if (model == "loggp") {
      add_plain({"latency_s", "overhead_s", "gap_s", "gap_per_byte_s"});
    } else if (model == "plogp") {
      add_tables(sizes_of(measured));
    } else {
      throw std::invalid_argument("no parameters of this model are fitted");
    }
  }

  // The number of unknowns. PLogP: L; for each size g, and os and or as far as they do not exceed
  // g.
  [[nodiscard]] Index unknowns() const {
    return sizes_.empty() ? static_cast<Index>(figures_.size()) : 1 + 3 * table();
  }
  // The least number of measurements.
  [[nodiscard]] std::size_t needed() const {
    return sizes_.empty() ? figures_.size() : 1 + sizes_.size();
  }
  // Whether the last unknown is a time per byte.
  [[nodiscard]] bool has_bytes() const { return sizes_.empty(); }
  // Names and sizes only, without values and errors.
  [[nodiscard]] const std::vector<FittedFigure>& figures() const { return figures_; }

  // The figures as sums of the unknowns, valid near these values: one figure per row.
  [[nodiscard]] MatrixXd sums(const VectorXd& unknowns) const {
    const Index count = static_cast<Index>(figures_.size());
    if (sizes_.empty()) return MatrixXd::Identity(count, count);
    MatrixXd rows = MatrixXd::Zero(count, unknowns.size());
    rows(0, 0) = 1;
    for (Index k = 0; k < table(); ++k) {
      const Index gap = 1 + k;
      rows(gap, gap) = 1;
      for (const Index overhead : {gap + table(), gap + 2 * table()}) {
        rows(overhead, unknowns(overhead) > unknowns(gap) ? gap : overhead) = 1;
      }
    }
    return rows;
  }

  // The starting point. Overheads start below the gap, because above it they have a slope of 0.
  [[nodiscard]] VectorXd start() const {
    constexpr double kBelowTheGap = 0.9;
    VectorXd unknown = VectorXd::Ones(unknowns());
    if (!sizes_.empty()) unknown.tail(2 * table()).setConstant(kBelowTheGap);
    return unknown;
  }

  [[nodiscard]] Parameters parameters(const VectorXd& unknowns) const {
    const VectorXd at = sums(unknowns) * unknowns;
    if (sizes_.empty() && at.size() == 2) return Hockney{at(0), at(1)};
    if (sizes_.empty()) return LogGP{{at(0)}, {at(1)}, {at(2)}, {at(3)}};
    return PLogP{{at(0)},
                 table_of(at.segment(1 + table(), table())),
                 table_of(at.segment(1 + 2 * table(), table())),
                 table_of(at.segment(1, table()))};
  }

 private:
  static std::vector<Bytes> sizes_of(std::span<const TimedCase> measured) {
    std::set<Bytes> all;
    for (const TimedCase& one : measured) {
      const bool has_message = one.entry->operation != "barrier";
      const Bytes message = has_message ? one.of.message : Bytes{0};
      const Bytes segment = one.entry->segments ? segment_of(one.of) : message;
      all.insert(std::max(segment, Bytes{1}));
      if (one.entry->has_shares()) {  // messages are of 1, 2, 4, ... shares
        for (std::uint64_t size = message.value / one.of.ranks; size > 0 && size < message.value;
             size *= 2) {
          all.insert(Bytes{size});
        }
      }
      if (one.entry->halves()) {
        all.insert(std::max(Bytes{message.value - message.value / 2}, Bytes{1}));
      }
    }
    std::vector<Bytes> sorted(all.begin(), all.end());
    if (sorted.size() <= kMostFittedSizes) return sorted;
    std::vector<Bytes> some;
    for (std::size_t k = 0; k < kMostFittedSizes; ++k) {
      some.push_back(sorted[k * (sorted.size() - 1) / (kMostFittedSizes - 1)]);
    }
    return some;
  }

  void add_plain(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) figures_.push_back({name, std::nullopt});
  }

  void add_tables(std::vector<Bytes> sizes) {
    sizes_ = std::move(sizes);
    figures_.push_back({"latency_s", std::nullopt});
    for (const std::string_view name : {"gap_s", "send_overhead_s", "receive_overhead_s"}) {
      for (const Bytes size : sizes_) figures_.push_back({name, size});
    }
  }

  [[nodiscard]] Index table() const { return static_cast<Index>(sizes_.size()); }

  // The same table as parse_parameters makes from it.
  [[nodiscard]] PiecewiseLinear table_of(const VectorXd& values) const {
    std::vector<PiecewiseLinear::Point> points;
    for (Index k = 0; k < table(); ++k) {
      points.push_back({sizes_[static_cast<std::size_t>(k)], values(k)});
    }
    return PiecewiseLinear(std::move(points), PiecewiseLinear::Beyond::kLastSlope);
  }

  std::vector<Bytes> sizes_;  // of PLogP's tables; empty: another model
  std::vector<FittedFigure> figures_;
};

void check_measured(std::span<const TimedCase> measured, const Space& space) {
  for (std::size_t i = 0; i < measured.size(); ++i) require_time(i, measured[i].time);
  if (measured.size() < space.needed()) {
    throw InputError(fmt::format("{} measured times are too few for {} parameters", measured.size(),
                                 space.needed()));
  }
  const auto unknowns = static_cast<std::size_t>(space.unknowns());
  if (measured.size() > kMostFitted / unknowns) {
    throw InputError(
        fmt::format("{} measured times are too many for {} parameters; give at most {}",
                    measured.size(), unknowns, kMostFitted / unknowns));
  }
}

double median(VectorXd values) {
  const Index middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  return values(middle);
}

// The problem in scaled units, so that all columns have the same order of magnitude: times are
// divided by the median time, times per byte by the median time over the largest message.
class Problem {
 public:
  Problem(const Space& space, std::span<const TimedCase> measured)
      : space_(space), measured_(measured) {
    const auto rows = static_cast<Index>(measured.size());
    VectorXd times(rows);
    double largest = 1;
    for (Index i = 0; i < rows; ++i) {
      times(i) = measured[static_cast<std::size_t>(i)].time.value;
      largest = std::max(
          largest, static_cast<double>(measured[static_cast<std::size_t>(i)].of.message.value));
    }
    units_ = VectorXd::Constant(space.unknowns(), median(times));
    if (space.has_bytes()) units_(space.unknowns() - 1) /= largest;
  }

  [[nodiscard]] Index rows() const { return static_cast<Index>(measured_.size()); }
  [[nodiscard]] Index columns() const { return units_.size(); }
  [[nodiscard]] VectorXd unknowns(const VectorXd& scaled) const {
    return scaled.cwiseProduct(units_);
  }
  [[nodiscard]] const VectorXd& units() const { return units_; }
  [[nodiscard]] VectorXd start() const { return space_.start(); }

  // Predicted over measured.
  [[nodiscard]] VectorXd ratios(const VectorXd& scaled) const {
    const Parameters parameters = space_.parameters(unknowns(scaled));
    VectorXd result(rows());
    for (Index i = 0; i < rows(); ++i) {
      const TimedCase& one = measured_[static_cast<std::size_t>(i)];
      result(i) = predict(*one.entry, parameters, one.of).value / one.time.value;
    }
    return result;
  }

  // The derivative of the ratios by each parameter. The formulas are sums and maxima of multiples
  // of the parameters, so a small finite difference is exact up to rounding.
  [[nodiscard]] MatrixXd slopes(const VectorXd& scaled) const {
    const VectorXd here = ratios(scaled);
    MatrixXd result(rows(), columns());
    constexpr double kStep = 1e-6;
    for (Index j = 0; j < columns(); ++j) {
      VectorXd stepped = scaled;
      stepped(j) += kStep;
      result.col(j) = (ratios(stepped) - here) / kStep;
    }
    return result;
  }

 private:
  const Space& space_;
  std::span<const TimedCase> measured_;
  VectorXd units_;
};

// Weights of the measurements by their error in robust standard deviations.
VectorXd weights_of(const VectorXd& errors, bool reject) {
  constexpr double kNormal = 1.4826;  // standard deviation / median absolute deviation if normal
  constexpr double kLeast = 1e-9;     // so that exact measurements are not rejected
  constexpr double kHuber = 1.345;
  constexpr double kTukey = 4.685;
  const double deviation = std::max(kNormal * median(errors.cwiseAbs()), kLeast);
  return errors.unaryExpr([&](double error) {
    const double distance = std::abs(error) / deviation;
    if (!reject) return distance <= kHuber ? 1.0 : kHuber / distance;
    const double share = distance / kTukey;
    return share < 1 ? (1 - share * share) * (1 - share * share) : 0.0;
  });
}

struct Solution {
  VectorXd scaled;
  VectorXd weights;
};

// Iteratively reweighted least squares: the weights, and the slopes of formulas with maxima, depend
// on the solution and are recomputed in each round.
Solution iterate(const Problem& problem) {
  Solution at{problem.start(), VectorXd::Ones(problem.rows())};
  constexpr int kRounds = 100;
  constexpr double kConverged = 1e-10;
  bool reject = false;  // Tukey's weights are used once the fit with Huber's has converged
  for (int round = 0; round < kRounds; ++round) {
    const MatrixXd slopes = problem.slopes(at.scaled);
    const VectorXd constant = problem.ratios(at.scaled) - slopes * at.scaled;
    const VectorXd roots = at.weights.cwiseSqrt();
    const VectorXd former = at.scaled;
    at.scaled = non_negative_least_squares(
        roots.asDiagonal() * slopes, roots.cwiseProduct(VectorXd::Ones(problem.rows()) - constant));
    const VectorXd errors = problem.ratios(at.scaled) - VectorXd::Ones(problem.rows());
    const bool converged = (at.scaled - former).norm() <= kConverged * former.norm();
    if (converged && reject) break;
    reject = reject || converged || round >= kRounds / 2;
    at.weights = weights_of(errors, reject);
  }
  return at;
}

// Which figures (sums of the unknowns) the measurements determine: those that do not change along
// any direction of the unknowns that leaves all predictions unchanged.
std::vector<bool> determined_by(const MatrixXd& rows, const MatrixXd& figures) {
  const Eigen::JacobiSVD<MatrixXd> parts(rows, Eigen::ComputeFullV);
  constexpr double kSmall = 1e-6;  // slopes are accurate to about 1e-9
  std::vector<bool> determined(static_cast<std::size_t>(figures.rows()), true);
  for (Index k = 0; k < rows.cols(); ++k) {
    const bool free = k >= parts.singularValues().size() ||
                      parts.singularValues()(k) <= kSmall * parts.singularValues()(0);
    if (!free) continue;
    const VectorXd change = figures * parts.matrixV().col(k);
    for (Index j = 0; j < figures.rows(); ++j) {
      if (std::abs(change(j)) > kSmall) determined[static_cast<std::size_t>(j)] = false;
    }
  }
  return determined;
}

// Standard errors of the figures; unknowns that are 0 are held at 0.
VectorXd standard_errors(const MatrixXd& rows, const VectorXd& errors, const VectorXd& scaled,
                         const MatrixXd& figures) {
  std::vector<Index> columns;
  for (Index j = 0; j < scaled.size(); ++j) {
    if (scaled(j) > 0) columns.push_back(j);
  }
  const auto freedom = rows.rows() - static_cast<Index>(columns.size());
  if (columns.empty() || freedom <= 0) return VectorXd::Zero(figures.rows());
  const MatrixXd part = rows(Eigen::all, columns);
  const MatrixXd covariance =
      (part.transpose() * part).completeOrthogonalDecomposition().pseudoInverse() *
      (errors.squaredNorm() / static_cast<double>(freedom));
  const MatrixXd sums = figures(Eigen::all, columns);
  return (sums * covariance * sums.transpose()).diagonal().cwiseMax(0).cwiseSqrt();
}

}  // namespace

CollectiveFit fit_collectives(std::string_view model, std::span<const TimedCase> measured) {
  const Space space(model, measured);
  check_measured(measured, space);
  const Problem problem(space, measured);
  const Solution solution = iterate(problem);

  const VectorXd roots = solution.weights.cwiseSqrt();
  const MatrixXd rows = roots.asDiagonal() * problem.slopes(solution.scaled);
  const VectorXd ratios = problem.ratios(solution.scaled);
  const VectorXd off = roots.cwiseProduct(ratios - VectorXd::Ones(problem.rows()));
  const VectorXd unknowns = problem.unknowns(solution.scaled);
  const MatrixXd sums = space.sums(unknowns);
  const MatrixXd scaled_sums = sums * problem.units().asDiagonal();
  // In scaled units, so that the singular values are comparable.
  const std::vector<bool> determined = determined_by(triangle_of(rows), sums);
  const VectorXd values = sums * unknowns;
  const VectorXd errors = standard_errors(rows, off, solution.scaled, scaled_sums);

  CollectiveFit fit{space.parameters(unknowns), space.figures(), {}, {}};
  for (std::size_t j = 0; j < fit.figures.size(); ++j) {
    const auto at = static_cast<Index>(j);
    FittedFigure& figure = fit.figures[j];
    figure.value = values(at);
    figure.determined = determined[j];
    if (determined[j] && values(at) > 0) figure.error = errors(at);
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto at = static_cast<Index>(i);
    fit.predicted.push_back({ratios(at) * measured[i].time.value});
    fit.weights.push_back(solution.weights(at));
  }
  return fit;
}

}  // namespace espalier::cost_models
