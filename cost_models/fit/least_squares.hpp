// Least squares with unknowns that are not negative; for the .cpp files of this folder.
#pragma once

#include <Eigen/Dense>

namespace espalier::cost_models {

// Rows with which every least squares comes out as with these, as few as there are columns.
Eigen::MatrixXd triangle_of(const Eigen::MatrixXd& rows);

// The x, nowhere below 0, with the least squares of rows * x - wanted. Of up to four unknowns every
// choice of those above 0 is tried, and of choices that are as good the one with the fewest taken;
// more become positive one by one (Lawson and Hanson), the steepest first.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& rows,
                                           const Eigen::VectorXd& wanted);

}  // namespace espalier::cost_models
