// Results as dictionaries, from which espalier/results.py makes its dataclasses. Keys are those of
// the command line's JSON.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "planner/check/verify.hpp"
#include "planner/plan/plan.hpp"
#include "python/planning/problem.hpp"
#include "simulate/simulate.hpp"

namespace espalier::python {

pybind11::dict facts_of(const Made& made);
// All fields of a plan but its file.
pybind11::dict fields_of(const planner::Plan& plan);
pybind11::dict result_of(const Proof& proof, const platforms::Platform& platform);
pybind11::dict result_of(const Explained& explained, const platforms::Platform& platform);
pybind11::list result_of(const std::vector<planner::RankedSource>& ranking,
                         const platforms::Platform& platform);
pybind11::dict result_of(const planner::VerifyReport& report);
pybind11::dict result_of(const simulate::Simulation& simulation, const planner::Plan& plan,
                         const std::vector<std::string>& resources);

}  // namespace espalier::python
