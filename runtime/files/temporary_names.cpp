#include "runtime/files/temporary_names.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <utility>

namespace espalier::runtime {
namespace {

// A signal handler takes no arguments, so its data is global. A rank writes one file at a time.
constexpr std::size_t kMost = 16;
constinit std::array<std::atomic<const char*>, kMost> names{};

extern "C" void remove_and_end(int signal_number) {
  remove_temporaries();
  (void)std::signal(signal_number, SIG_DFL);
  (void)std::raise(signal_number);
}

}  // namespace

void TemporaryName::set(std::string name) {
  remove();
  name_ = std::move(name);
  for (place_ = 0; place_ < kMost; ++place_) {
    const char* none = nullptr;
    if (names[place_].compare_exchange_strong(none, name_.c_str())) return;
  }
}

void TemporaryName::forget() {
  if (is_set() && place_ < kMost) names[place_] = nullptr;
  name_.clear();
}

void TemporaryName::remove() {
  if (is_set()) ::unlink(name_.c_str());
  forget();
}

void remove_temporaries() noexcept {
  for (const std::atomic<const char*>& name : names) {
    if (const char* file = name.load()) ::unlink(file);
  }
}

void remove_temporaries_on_signals() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction action {};
    // A signal that is ignored (nohup) stays ignored.
    if (::sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = remove_and_end;
    (void)::sigaction(number, &action, nullptr);
  }
}

}  // namespace espalier::runtime
