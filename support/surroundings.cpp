#include "support/surroundings.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace espalier {

namespace fs = std::filesystem;

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);  // nothing sets the environment meanwhile
  return value == nullptr ? std::string() : value;
}

std::string users_cache() {
  const std::string cache = environment_variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return (fs::path(cache) / "espalier").string();
  const std::string home = environment_variable("HOME");
  return home.starts_with('/') ? (fs::path(home) / ".cache" / "espalier").string() : std::string();
}

double seconds_since_1970() {
  using std::chrono::system_clock;
  return std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
}

}  // namespace espalier
