#include "planner/registry.hpp"
