#include "planner/verify.hpp"
