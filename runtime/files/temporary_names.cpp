#include "runtime/files/temporary_names.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <utility>

namespace espalier::runtime {
namespace {

// A signal handler takes no arguments, so its data is global. A rank writes one file at a time.
//
// A thread that ends the process reads the names while others change them. So each name is a copy
// of its own, and belongs to the thread that takes it out of its place.
constexpr std::size_t kMost = 16;
constinit std::array<std::atomic<char*>, kMost> names{};

extern "C" void remove_and_end(int signal_number) {
  remove_temporaries();
  (void)std::signal(signal_number, SIG_DFL);
  (void)std::raise(signal_number);
}

}  // namespace

void TemporaryName::set(std::string name) {
  remove();
  name_ = std::move(name);
  auto copy = std::make_unique<char[]>(name_.size() + 1);
  std::ranges::copy(name_, copy.get());
  for (place_ = 0; place_ < kMost; ++place_) {
    char* none = nullptr;
    if (!names[place_].compare_exchange_strong(none, copy.get())) continue;
    static_cast<void>(copy.release());
    return;
  }
}

void TemporaryName::forget() {
  if (is_set() && place_ < kMost) delete[] names[place_].exchange(nullptr);
  name_.clear();
}

void TemporaryName::remove() {
  if (is_set()) ::unlink(name_.c_str());
  forget();
}

void remove_temporaries() noexcept {
  for (std::atomic<char*>& name : names) {
    // Never freed: a signal handler must not, and the process ends.
    if (const char* const file = name.exchange(nullptr)) ::unlink(file);
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
