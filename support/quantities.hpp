// Quantities with their unit in their type, and conversions from and to text.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

// NOLINTBEGIN(modernize-use-nullptr): clang-tidy 14 takes a defaulted <=> for a null pointer
// A rate of data in bytes per second.
struct BytesPerSecond {
  double value = 0;
  auto operator<=>(const BytesPerSecond&) const = default;
};

// A span of time in seconds.
struct Seconds {
  double value = 0;
  auto operator<=>(const Seconds&) const = default;
};

// An amount of data in bytes.
struct Bytes {
  std::uint64_t value = 0;
  auto operator<=>(const Bytes&) const = default;
};
// NOLINTEND(modernize-use-nullptr)

// Reads "10 Gbit/s", "1.25e9 B/s", "100MB/s", "25 GiB/s", "9 Gbps", "41.27MBps": a number, then an
// optional prefix (k M G T decimal, Ki Mi Gi Ti binary), then bit/s, b/s, bps, B/s or Bps. A
// missing unit is an error, because bits and bytes could be confused. Throws InputError (reason
// only; the caller adds file and place). The result is finite; it may be zero or negative, which
// the caller checks.
BytesPerSecond parse_rate(std::string_view text);

// Reads "20 us", "1.5ms", "3 s", "10 ns", "2 min". Throws InputError as parse_rate does.
Seconds parse_duration(std::string_view text);

// Reads "64MiB", "1 GB", "4096", "10kB": bytes; a bare number is bytes. Throws InputError when the
// amount is negative, not whole after scaling, or over 2^63 - 1.
Bytes parse_size(std::string_view text);

// For reports: "0.9877"; from 1e15 on "1.0000e+302", because nobody reads 300 digits; "-" for a
// missing figure (NaN).
std::string fixed(double value, int decimals);
// For reports: "1 rank", "3 ranks".
std::string counted(std::uint64_t count, std::string_view noun);
// "1 link has", "3 links have".
std::string counted(std::uint64_t count, std::string_view one, std::string_view several);
// For reports: always bit/s, with four decimals after scaling (k, M, G, T): "9.2143 Gbit/s".
std::string format_rate(BytesPerSecond rate);
// The same in three digits, for labels: "9.21 Gbit/s", "10 Mbit/s".
std::string short_rate(BytesPerSecond rate);
// For reports: "1.250 s", "20.0 us".
std::string format_duration(Seconds duration);
// For reports: "64 MiB", "1.5 KiB", "20 GB". In binary units if exact so, with no more decimals.
std::string format_size(Bytes size);

}  // namespace espalier
