// What a program finds in its environment.
#pragma once

#include <string>

namespace espalier {

// Empty if the variable is not set.
std::string environment_variable(const char* name);
// The folder for what is kept between runs, of the user's caches; empty if the environment names
// none.
std::string users_cache();
// By the system's clock, which may be set.
double seconds_since_1970();

}  // namespace espalier
