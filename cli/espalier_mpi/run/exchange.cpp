#include "cli/espalier_mpi/run/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>

#include "runtime/transport/agreement.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "support/pinned.hpp"

namespace espalier::cli {
namespace {

// A value has less than MPI_MAX_PORT_NAME bytes; the first says whether more follow.
constexpr std::size_t kPieceBytes = MPI_MAX_PORT_NAME - 2;
constexpr char kMoreFollow = '+';
constexpr char kLast = '.';

std::string name_of(std::size_t round, int rank, std::size_t piece) {
  return fmt::format("espalier.{}.{}.{}", round, rank, piece);
}

// Launchers keep texts without blanks, and take some signs for their own: those as "%3D".
bool is_kept(char letter) {
  constexpr std::string_view kTheirs = "%=;";
  return letter > ' ' && letter <= '~' && kTheirs.find(letter) == std::string_view::npos;
}

std::string encoded(std::string_view text) {
  std::string all;
  for (const char letter : text) {
    all += is_kept(letter) ? std::string(1, letter)
                           : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return all;
}

std::string decoded(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char code = 0;
    const char* const digits = text.data() + at + 1;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(digits, digits + 2, code, 16).ec == std::errc{}) {
      all += static_cast<char>(code);
      at += 2;
    } else {
      all += text[at];
    }
  }
  return all;
}

// With the range of names, which Open MPI's lookups leave undefined by default.
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class SessionInfo : public Pinned {
 public:
  SessionInfo() {
    runtime::check(MPI_Info_create(&info_), "MPI_Info_create");
    runtime::check(MPI_Info_set(info_, "range", "session"), "MPI_Info_set");
  }
  ~SessionInfo() { MPI_Info_free(&info_); }
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

std::string wait_for(std::string name) {
  constexpr auto kLongestNap = std::chrono::milliseconds(50);
  auto nap = std::chrono::milliseconds(1);
  const SessionInfo info;
  std::array<char, MPI_MAX_PORT_NAME> value{};
  // Until it is there: a watchdog limits the time.
  while (MPI_Lookup_name(name.data(), info.get(), value.data()) != MPI_SUCCESS) {
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, kLongestNap);
  }
  return value.data();
}

}  // namespace

TextExchange::TextExchange(MPI_Comm comm) : comm_(comm), rank_(runtime::rank_in(comm)) {
#ifdef SMPI_H  // which has no names
  by_names_ = false;
#else
  by_names_ = runtime::size_of(comm) > 1 && publish("");
#endif
}

bool TextExchange::publish(const std::string& plain) const {
  const SessionInfo info;
  const std::string text = encoded(plain);
  for (std::size_t at = 0, piece = 0; piece == 0 || at < text.size(); ++piece) {
    const std::size_t end = std::min(at + kPieceBytes, text.size());
    std::string name = name_of(round_, rank_, piece);
    std::string value = (end < text.size() ? kMoreFollow : kLast) + text.substr(at, end - at);
    if (MPI_Publish_name(name.data(), info.get(), value.data()) != MPI_SUCCESS) return false;
    at = end;
  }
  return true;
}

std::string TextExchange::look_up(int rank) const {
  std::string text;
  for (std::size_t piece = 0;; ++piece) {
    const std::string value = wait_for(name_of(round_, rank, piece));
    text += value.substr(std::min<std::size_t>(1, value.size()));
    if (value.empty() || value.front() == kLast) return decoded(text);
  }
}

std::vector<std::string> TextExchange::gather(const std::string& mine) {
  if (!by_names_) return runtime::gather_texts(comm_, mine);
  ++round_;
  runtime::check(publish(mine) ? MPI_SUCCESS : MPI_ERR_SERVICE, "MPI_Publish_name");
  std::vector<std::string> texts;
  for (int rank = 0; rank_ == 0 && rank < runtime::size_of(comm_); ++rank) {
    texts.push_back(look_up(rank));
  }
  return texts;
}

std::string TextExchange::share(const std::string& of_first) {
  std::string text = of_first;
  if (!by_names_) {
    runtime::share_text(comm_, 0, text);
    return text;
  }
  ++round_;
  if (rank_ != 0) return look_up(0);
  runtime::check(publish(text) ? MPI_SUCCESS : MPI_ERR_SERVICE, "MPI_Publish_name");
  return text;
}

}  // namespace espalier::cli
