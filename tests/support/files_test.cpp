#include "support/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/refusal.hpp"

namespace espalier::files_test {
namespace {

namespace fs = std::filesystem;
using namespace espalier::testing;
using namespace ::testing;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = ::testing::TempDir() + "/espalier-files-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
};

TEST_F(Files, WriteThenReadGivesTheSameBytes) {
  std::string contents(3'000'000, 'x');
  contents[17] = '\0';
  contents.back() = '\n';
  write_text(path("a"), contents);
  EXPECT_EQ(read_text(path("a")), contents);
  EXPECT_THAT(listing(), ElementsAre("a"));
  write_text(path("a"), "");
  EXPECT_EQ(read_text(path("a")), "");
}

TEST_F(Files, ReplacingKeepsThePermissions) {
  write_text(path("a"), "old");
  ::chmod(path("a").c_str(), 0640);
  write_text(path("a"), "new");
  struct stat state {};
  ASSERT_EQ(::stat(path("a").c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777U, 0640U);
}

TEST_F(Files, ASymbolicLinkKeepsPointing) {
  write_text(path("target"), "old");
  fs::create_symlink("target", path("link"));
  write_text(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_text(path("target")), "new");
}

TEST_F(Files, ALongNameStillFitsATemporary) {
  const std::string name(255, 'n');
  write_text(path(name), "x");
  EXPECT_THAT(listing(), ElementsAre(name));
}

TEST_F(Files, ReadRefusalsNameFileAndReason) {
  EXPECT_EQ(refusal([&] { return read_text(path("none")); }),
            path("none") + ": cannot open: No such file or directory");
  EXPECT_EQ(refusal([&] { return read_text(folder_.string()); }),
            folder_.string() + ": cannot read: Is a directory");
  std::ofstream(path("huge")).close();
  fs::resize_file(path("huge"), kMaxInputBytes + 1);  // sparse
  EXPECT_EQ(refusal([&] { return read_text(path("huge")); }), path("huge") + ": larger than 1 GiB");
}

TEST_F(Files, WriteRefusalsNameFileAndReason) {
  const auto write = [](const std::string& file) {
    return refusal([&] {
      write_text(file, "text");
      return 0;
    });
  };
  EXPECT_EQ(write(path("no/such/folder")),
            path("no/such/folder") + ": cannot write: No such file or directory");
  EXPECT_EQ(write(folder_.string()), folder_.string() + ": cannot write: Is a directory");
  EXPECT_EQ(write("/dev/full"), "/dev/full: cannot write: No space left on device");
  EXPECT_EQ(write(""), "'': cannot write: No such file or directory");
  EXPECT_TRUE(listing().empty());
}

TEST_F(Files, PermissionsAreRespected) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not apply to root";
  write_text(path("a"), "old");
  ::chmod(path("a").c_str(), 0400);
  EXPECT_EQ(refusal([&] {
              write_text(path("a"), "new");
              return 0;
            }),
            path("a") + ": cannot write: Permission denied");
  ::chmod(path("a").c_str(), 0000);
  EXPECT_EQ(refusal([&] { return read_text(path("a")); }),
            path("a") + ": cannot open: Permission denied");
}

// A limit on file sizes stands in for a full disk: the write fails half-way.
TEST_F(Files, AFailedWriteLeavesTheOldStateAndNoTemporary) {
  write_text(path("a"), "old");
  struct rlimit old_limit {};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  struct rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  auto* const old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const std::string reason = refusal([&] {
    write_text(path("a"), std::string(5000, 'x'));
    return 0;
  });
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(reason, path("a") + ": cannot write: File too large");
  EXPECT_THAT(listing(), ElementsAre("a"));
  EXPECT_EQ(read_text(path("a")), "old");
}

TEST_F(Files, AFullStandardOutputIsNoticed) {
  const int saved = ::dup(STDOUT_FILENO);
  const int full = ::open("/dev/full", O_WRONLY);
  ::dup2(full, STDOUT_FILENO);
  const std::string reason = refusal([] {
    write_text("-", "text");
    return 0;
  });
  ::dup2(saved, STDOUT_FILENO);
  ::close(full);
  ::close(saved);
  EXPECT_EQ(reason, "<stdout>: cannot write: No space left on device");
}

TEST_F(Files, APipeIsWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_text(path("pipe")); });
  write_text(path("pipe"), "through the pipe");
  reader.join();
  EXPECT_EQ(got, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST(DisplayName, CallsADashStdin) {
  EXPECT_EQ(display_name("-"), "<stdin>");
  EXPECT_EQ(display_name("a.json"), "a.json");
}

}  // namespace
}  // namespace espalier::files_test
