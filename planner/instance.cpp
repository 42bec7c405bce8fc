#include "planner/instance.hpp"
