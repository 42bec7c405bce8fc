// Non-negative least squares; for the .cpp files of this folder.
#pragma once

#include <Eigen/Dense>

namespace espalier::cost_models {

// The triangular factor of `rows` (QR): every least-squares problem has the same solution with it,
// and it has no more rows than columns. Unchanged if `rows` has no more rows than columns already.
Eigen::MatrixXd triangle_of(const Eigen::MatrixXd& rows);

// The x >= 0 that minimises |rows * x - wanted|. For up to four unknowns every set of positive ones
// is tried; of equally good sets the smallest is taken. For more unknowns: NNLS (Lawson and
// Hanson).
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& rows,
                                           const Eigen::VectorXd& wanted);

}  // namespace espalier::cost_models
