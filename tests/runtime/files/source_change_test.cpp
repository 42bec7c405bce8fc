// Whether a source notices that it changes between its first and its last read.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "runtime/files/file_tree.hpp"
#include "runtime/files/files.hpp"

namespace espalier::runtime::source_change_test {
namespace {

namespace fs = std::filesystem;

class SourceChanges : public ::testing::Test {
 protected:
  SourceChanges() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "in/sub");
    put("in/a", "first");
    put("in/sub/b", "second");
    fs::create_symlink("a", folder_ / "in/link");
  }
  ~SourceChanges() override { fs::remove_all(folder_); }
  SourceChanges(const SourceChanges&) = delete;
  SourceChanges& operator=(const SourceChanges&) = delete;
  SourceChanges(SourceChanges&&) = delete;
  SourceChanges& operator=(SourceChanges&&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  // In place.
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::in | std::ios::out) << text;
    if (!fs::exists(folder_ / name)) std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::unique_ptr<ByteSource> open(const std::vector<std::string>& names) const {
    if (names.size() == 1 && !fs::is_directory(names[0])) {
      return std::make_unique<InputFile>(names[0]);
    }
    return std::make_unique<InputTree>(names, scan_files(names));
  }
  // The change that `act` makes to a source, without the folder's name.
  [[nodiscard]] std::string after(const std::vector<std::string>& names,
                                  const std::function<void()>& act) const {
    const std::unique_ptr<ByteSource> source = open(names);
    act();
    const auto change = source->change();
    return change ? describe({fs::relative(change->file, fs::canonical(folder_)).string(),
                              change->what, change->others})
                  : "";
  }

 private:
  fs::path folder_ =
      fs::path(::testing::TempDir()) / ("espalier-source-change-" + std::to_string(::getpid()));
};

TEST_F(SourceChanges, AFileThatStaysIsUnchanged) {
  std::byte byte{};
  const std::unique_ptr<ByteSource> source = open({path("in/a")});
  source->read_at(4, &byte, 1);
  EXPECT_FALSE(source->change());
  EXPECT_EQ(after({path("in")}, [] {}), "");
}

// At once after the file was written: the system's clock for files has ticks of milliseconds, so
// the file could get the same times again.
TEST_F(SourceChanges, ARewriteInTheTickOfAnEarlierWriteIsNoticed) {
  for (int turn = 0; turn < 100; ++turn) {
    put("in/a", "FIRST");
    EXPECT_EQ(after({path("in/a")}, [&] { put("in/a", "other"); }),
              "in/a: changed while it was sent (modification time)");
    put("in/sub/b", "SECOND");
    EXPECT_EQ(after({path("in")}, [&] { put("in/sub/b", "other!"); }),
              "in/sub/b: changed while it was sent (modification time)");
  }
}

TEST_F(SourceChanges, SayWhatDiffers) {
  const std::vector<std::string> file{path("in/a")};
  EXPECT_EQ(after(file, [&] { std::ofstream(path("in/a"), std::ios::app) << "more"; }),
            "in/a: changed while it was sent (size and modification time)");
  EXPECT_EQ(after(file,
                  [&] {
                    put("in/new", "FIRST");
                    fs::rename(path("in/new"), path("in/a"));
                  }),
            "in/a: changed while it was sent (another file has its name)");
  EXPECT_EQ(after(file,
                  [&] {
                    struct stat state {};
                    ::stat(path("in/a").c_str(), &state);
                    put("in/a", "third");
                    const std::array<timespec, 2> times = {state.st_atim, state.st_mtim};
                    ::utimensat(AT_FDCWD, path("in/a").c_str(), times.data(), 0);
                  }),
            "in/a: changed while it was sent (time of the last status change)");
  EXPECT_EQ(after(file, [&] { fs::remove(path("in/a")); }),
            "in/a: changed while it was sent (No such file or directory)");
}

TEST_F(SourceChanges, CountTheFilesOfAFolder) {
  EXPECT_EQ(after({path("in")},
                  [&] {
                    put("in/a", "third");
                    put("in/sub/b", "4th");
                    fs::remove(path("in/link"));
                  }),
            "in/a: changed while it was sent (modification time); so did 2 other files");
  fs::create_symlink("a", path("in/link"));
  EXPECT_EQ(after({path("in")}, [&] { put("in/sub/new", "new"); }), "") << "it is not sent";
  EXPECT_EQ(after({path("in/sub"), path("in/link")}, [&] { put("in/a", "5th"); }),
            "in/a: changed while it was sent (modification time)")
      << "the target of a link that is named is the source";
}

// Between the list of the files, which the other ranks get, and the first read.
TEST_F(SourceChanges, SinceTheListOfFilesCount) {
  const FileTree tree = scan_files({path("in")});
  std::ofstream(path("in/a"), std::ios::app) << "more";
  const InputTree in({path("in")}, tree);
  EXPECT_TRUE(in.change());
}

}  // namespace
}  // namespace espalier::runtime::source_change_test
