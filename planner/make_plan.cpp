#include "planner/make_plan.hpp"
