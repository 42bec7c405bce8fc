// Two ends of a connection, and someone between them who sees all bytes.
#include "runtime/tcp/encryption.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/descriptor.hpp"

namespace espalier::runtime::tcp::encryption_test {
namespace {

std::pair<Descriptor, Descriptor> connected() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Moves what there is, and returns it.
std::string carry(const Descriptor& from, const Descriptor& to) {
  std::array<char, 4096> some{};
  std::string all;
  ssize_t got = 0;
  while ((got = ::read(from.get(), some.data(), some.size())) > 0) {
    EXPECT_EQ(::write(to.get(), some.data(), static_cast<std::size_t>(got)), got);
    all.append(some.data(), static_cast<std::size_t>(got));
  }
  return all;
}

struct Course {
  std::string seen{};      // by who is between
  std::string received{};  // at the other end
  bool is_broken = false;
};

// Until all of `text` has been received, or an end gives up.
Course send(const std::string& text, const Encryption& mine, const Encryption& theirs) {
  auto [near, near_middle] = connected();
  auto [far_middle, far] = connected();
  const auto sender = mine.of(near.get(), true);
  const auto receiver = theirs.of(far.get(), false);
  Course course;
  std::size_t sent = 0;
  for (int turns = 0; turns < 1000 && course.received.size() < text.size(); ++turns) {
    // No more than fits between.
    const auto put = sender->write(std::as_bytes(
        std::span(text).subspan(sent).first(std::min(text.size() - sent, std::size_t{900}))));
    course.seen += carry(near_middle, far_middle);
    std::array<char, 1000> some{};
    const auto got = receiver->read(std::as_writable_bytes(std::span(some)));
    course.seen += carry(far_middle, near_middle);
    course.is_broken = !put || !got;
    if (course.is_broken) break;
    sent += *put;
    course.received.append(some.data(), *got);
  }
  return course;
}

Encryption with(std::string_view secret) {
  return Encryption(std::as_bytes(std::span(secret)));
}

TEST(Encryption, HidesWhatIsSent) {
  std::string text(100'000, 'x');
  text += "the end";
  const Course course = send(text, with("0123456789abcdef"), with("0123456789abcdef"));
  EXPECT_FALSE(course.is_broken);
  EXPECT_EQ(course.received, text);
  EXPECT_GT(course.seen.size(), text.size());
  EXPECT_EQ(course.seen.find("xxxxxxxx"), std::string::npos);
  EXPECT_EQ(course.seen.find("0123456789abcdef"), std::string::npos);
}

TEST(Encryption, EndsWhereTheSecretsDiffer) {
  const Course course = send("text", with("0123456789abcdef"), with("0123456789abcdeF"));
  EXPECT_TRUE(course.is_broken);
  EXPECT_EQ(course.received, "");
}

}  // namespace
}  // namespace espalier::runtime::tcp::encryption_test
