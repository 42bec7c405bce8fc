// Files with holes: only their data are sent, and the copies have the same holes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "runtime/files/file_tree.hpp"
#include "runtime/files/files.hpp"
#include "support/errors.hpp"

namespace espalier::runtime::sparse_files_test {
namespace {

namespace fs = std::filesystem;
using namespace ::testing;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class SparseFiles : public ::testing::Test {
 protected:
  SparseFiles() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "in");
  }
  ~SparseFiles() override { fs::remove_all(folder_); }
  SparseFiles(const SparseFiles&) = delete;
  SparseFiles& operator=(const SparseFiles&) = delete;
  SparseFiles(SparseFiles&&) = delete;
  SparseFiles& operator=(SparseFiles&&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  // A file of `bytes` bytes with data only in these ranges.
  void make(const std::string& name, std::uint64_t bytes,
            const std::vector<ByteRange>& data) const {
    const int file = ::open(path(name).c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    ASSERT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
    for (const ByteRange& range : data) {
      const std::string text(range.bytes, 'x');
      ASSERT_EQ(::pwrite(file, text.data(), text.size(), static_cast<off_t>(range.offset)),
                static_cast<ssize_t>(text.size()));
    }
    ::close(file);
  }
  [[nodiscard]] FileLayout layout(const std::string& name, std::size_t most = kMostHoles) const {
    const int file = ::open(path(name).c_str(), O_RDONLY);
    FileLayout found = layout_of(file, fs::file_size(path(name)), most);
    ::close(file);
    return found;
  }
  [[nodiscard]] bool has_holes_here() const {
    make("probe", kMiB, {});
    return !layout("probe").holes.empty();
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::uint64_t disk_bytes(const std::string& name) const {
    struct stat state {};
    ::stat(path(name).c_str(), &state);
    return static_cast<std::uint64_t>(state.st_blocks) * 512;
  }

 private:
  fs::path folder_ =
      fs::path(::testing::TempDir()) / ("espalier-sparse-files-" + std::to_string(::getpid()));
};

void copy(ByteSource& from, ByteTarget& to) {
  std::vector<std::byte> bytes(from.bytes());
  constexpr std::size_t kAtOnce = 100000;
  for (std::size_t at = 0; at < bytes.size(); at += kAtOnce) {
    const std::size_t here = std::min(kAtOnce, bytes.size() - at);
    from.read_at(at, bytes.data() + at, here);
    to.write_at(at, bytes.data() + at, here);
  }
  std::vector<std::byte> again(bytes.size());
  to.read_at(0, again.data(), again.size());
  EXPECT_EQ(again, bytes);
  to.sync();
  to.commit();
}

TEST_F(SparseFiles, TheLayoutHasTheHoles) {
  if (!has_holes_here()) GTEST_SKIP() << "this file system has no holes";
  make("dense", 3 * kMiB, {{0, 3 * kMiB}});
  EXPECT_THAT(layout("dense").holes, IsEmpty());
  make("empty", 3 * kMiB, {});
  EXPECT_THAT(layout("empty").holes, ElementsAre(ByteRange{0, 3 * kMiB}));
  make("ends", 3 * kMiB + 5, {{kMiB, kMiB}});
  EXPECT_THAT(layout("ends").holes, ElementsAre(ByteRange{0, kMiB}, ByteRange{2 * kMiB, kMiB + 5}));
  make("between", 3 * kMiB, {{0, kMiB}, {2 * kMiB, kMiB}});
  EXPECT_THAT(layout("between").holes, ElementsAre(ByteRange{kMiB, kMiB}));
  make("short", 2 * kMiB, {{0, kMiB}, {kMiB + kLeastHole / 2, kMiB - kLeastHole / 2}});
  EXPECT_THAT(layout("short").holes, IsEmpty()) << "not worth an entry";
  EXPECT_THAT(layout("ends", 1).holes, ElementsAre(ByteRange{0, kMiB})) << "the rest is sent";
}

TEST_F(SparseFiles, ACopyHasTheSameHoles) {
  if (!has_holes_here()) GTEST_SKIP() << "this file system has no holes";
  make("in/file", 8 * kMiB + 1, {{kMiB, 5}, {5 * kMiB, 300000}, {8 * kMiB, 1}});
  make("in/void", 4 * kMiB, {});
  InputFile file(path("in/file"));
  EXPECT_LT(file.bytes(), kMiB);
  OutputFile out(path("out"), file.layout());
  copy(file, out);
  EXPECT_EQ(get("out"), get("in/file"));
  EXPECT_LE(disk_bytes("out"), disk_bytes("in/file") + 65536);

  const FileTree tree = file_tree_from_text(to_text(scan_files({path("in")})));
  EXPECT_EQ(tree.entries[0].holes, file.layout().holes);
  InputTree in({path("in")}, tree);
  EXPECT_EQ(in.bytes(), file.bytes());
  OutputTree outs(path("outs"), tree);
  copy(in, outs);
  EXPECT_EQ(get("outs/file"), get("in/file"));
  EXPECT_EQ(get("outs/void"), get("in/void"));
  EXPECT_LT(disk_bytes("outs/file") + disk_bytes("outs/void"), kMiB);
}

// A message with other holes has other bytes at a place, even if sizes and times are the same.
TEST_F(SparseFiles, HolesAreAPartOfTheIdentity) {
  if (!has_holes_here()) GTEST_SKIP() << "this file system has no holes";
  const auto identity = [&](std::uint64_t data) {
    make("in/file", 4 * kMiB, {{data, kMiB}});
    fs::last_write_time(path("in/file"), fs::file_time_type{});
    return InputFile(path("in/file")).identity();
  };
  EXPECT_EQ(identity(kMiB), identity(kMiB));
  EXPECT_NE(identity(kMiB), identity(2 * kMiB));
}

TEST_F(SparseFiles, HolesOfADeviceAreFilled) {
  make("device", 3 * kMiB, {{0, 3 * kMiB}});
  const int file = ::open(path("device").c_str(), O_RDWR);
  fill_holes(file, "device", {3 * kMiB, {{10, 20}, {kMiB, 3 * kMiB / 2}}});
  ::close(file);
  std::string wanted(3 * kMiB, 'x');
  std::memset(wanted.data() + 10, 0, 20);
  std::memset(wanted.data() + kMiB, 0, 3 * kMiB / 2);
  EXPECT_EQ(get("device"), wanted);
}

TEST_F(SparseFiles, HolesOutsideTheirFileAreRefused) {
  for (const std::vector<ByteRange>& holes :
       {std::vector<ByteRange>{{90, 20}}, {{UINT64_MAX, 2}}, {{10, 10}, {15, 10}}, {{101, 0}}}) {
    FileTree tree;
    tree.entries.push_back({.path = "f", .bytes = 100, .holes = holes});
    EXPECT_THAT([&] { file_tree_from_text(to_text(tree)); },
                ::testing::ThrowsMessage<InputError>(HasSubstr("a hole is not within its file")));
  }
}

// Any range is divided into consecutive parts of data.
TEST(FileSequences, LeaveOutTheHoles) {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 300; ++turn) {
    FileSequence sequence;
    std::vector<std::pair<std::size_t, std::uint64_t>> sent;  // file and offset of each byte
    for (std::size_t file = 0; file < random() % 4; ++file) {
      FileLayout layout;
      for (std::size_t range = 0; range < random() % 5; ++range) {
        const std::uint64_t bytes = random() % 20;
        if (random() % 2 == 0 && bytes > 0) {
          layout.holes.push_back({layout.bytes, bytes});
        } else {
          for (std::uint64_t i = 0; i < bytes; ++i) sent.emplace_back(file, layout.bytes + i);
        }
        layout.bytes += bytes;
      }
      sequence.add(file, layout);
    }
    ASSERT_EQ(sequence.bytes(), sent.size()) << "turn " << turn;
    const std::size_t begin = random() % (sent.size() + 1);
    const std::size_t bytes = random() % (sent.size() - begin + 1);
    std::size_t at = 0;
    for (const FileSequence::Part& part : sequence.parts_of(begin, bytes)) {
      ASSERT_EQ(part.at, at);
      for (std::size_t i = 0; i < part.bytes; ++i, ++at) {
        ASSERT_EQ(sent[begin + at], std::pair(part.file, part.offset + i)) << "turn " << turn;
      }
    }
    EXPECT_EQ(at, bytes);
  }
}

}  // namespace
}  // namespace espalier::runtime::sparse_files_test
