// Several files as one message, without ranks.
#include "runtime/files/file_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <span>

#include "tests/support/refusal.hpp"

namespace espalier::runtime::file_tree_test {
namespace {

namespace fs = std::filesystem;
using espalier::testing::refusal;
using ::testing::HasSubstr;

class FileTrees : public ::testing::Test {
 protected:
  FileTrees() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "in/sub");
    put("in/a", "first");
    put("in/sub/b", std::string(100000, 'b'));
    put("in/sub/empty", "");
    put("in/z", "last");
    fs::create_symlink("sub/b", folder_ / "in/link");
  }
  ~FileTrees() override { fs::remove_all(folder_); }
  FileTrees(const FileTrees&) = delete;
  FileTrees& operator=(const FileTrees&) = delete;
  FileTrees(FileTrees&&) = delete;
  FileTrees& operator=(FileTrees&&) = delete;

  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::string get(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

 private:
  fs::path folder_ =
      fs::path(::testing::TempDir()) / ("espalier-file-tree-" + std::to_string(::getpid()));
};

std::vector<std::string> paths_of(const FileTree& tree) {
  std::vector<std::string> paths;
  for (const auto& entry : tree.entries) paths.push_back(entry.path);
  return paths;
}

TEST_F(FileTrees, AFolderConsistsOfItsContents) {
  const FileTree tree = scan_files({path("in")});
  EXPECT_THAT(paths_of(tree),
              ::testing::ElementsAre("a", "link", "sub", "sub/b", "sub/empty", "z"));
  EXPECT_EQ(sequence_of(tree).bytes(), 5U + 100000U + 4U);
  EXPECT_EQ(tree.entries[1].target, "sub/b");
}

TEST_F(FileTrees, SeveralNamesBecomeSiblings) {
  EXPECT_THAT(paths_of(scan_files({path("in/z"), path("in/sub/"), path("in/link")})),
              ::testing::ElementsAre("z", "sub", "sub/b", "sub/empty", "link"));
  EXPECT_THAT(refusal([&] {
                scan_files({path("in/a"), path("in/../in/a")});
              }),
              HasSubstr("would be stored as 'a'"));
  EXPECT_THAT(refusal([&] {
                scan_files({path("in/a"), "/dev/null"});
              }),
              HasSubstr("/dev/null: is not a file, folder or symbolic link"));
  EXPECT_THAT(refusal([&] { scan_files({path("in/a"), "/"}); }), HasSubstr("no file name"));
}

TEST_F(FileTrees, SurviveSerialisation) {
  FileTree tree = scan_files({path("in")});
  tree.entries[0].path = "no UTF-8: \xff \\ \"";
  EXPECT_EQ(file_tree_from_text(to_text(tree)), tree);
  EXPECT_EQ(file_tree_from_text(to_text({})), FileTree{});
}

TEST_F(FileTrees, PathsThatLeadOutAreRefused) {
  for (const char* const bad : {"../x", "/etc/passwd", "a/../../x", "", ".", "a/"}) {
    FileTree tree;
    tree.entries.push_back({.path = bad});
    EXPECT_THAT(refusal([&] { file_tree_from_text(to_text(tree)); }),
                HasSubstr("is not a path below"))
        << bad;
  }
  const std::string text = to_text(scan_files({path("in")}));
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(refusal([&] { file_tree_from_text(text.substr(0, length)); }), "(not refused)");
  }
}

// Any range is divided into consecutive parts, in the files that contain those bytes.
TEST_F(FileTrees, RangesAreDividedAtTheEndsOfFiles) {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 200; ++turn) {
    FileTree tree;
    std::string all;
    std::vector<std::string> contents;
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) {
      contents.push_back(std::string(random() % 4 * (random() % 9), static_cast<char>('a' + i)));
      tree.entries.push_back({.path = "f", .bytes = contents.back().size()});
      all += contents.back();
    }
    const FileSequence sequence = sequence_of(tree);
    const std::size_t begin = random() % (all.size() + 1);
    const std::size_t bytes = random() % (all.size() - begin + 1);
    std::string got(bytes, '?');
    for (const auto& [entry, offset, at, here] : sequence.parts_of(begin, bytes)) {
      EXPECT_GT(here, 0U);
      got.replace(at, here, contents[entry].substr(offset, here));
    }
    EXPECT_EQ(got, all.substr(begin, bytes));
  }
}

TEST_F(FileTrees, AnOutputAppearsCompletelyOrNotAtAll) {
  const FileTree tree = scan_files({path("in")});
  InputTree in({path("in")}, tree);
  std::vector<std::byte> all(in.bytes());
  in.read_at(0, all.data(), all.size());
  {
    OutputTree out(path("out"), tree);
    out.write_at(0, all.data(), 50);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path("")), {}), 1) << "temporary files were left";
  {
    OutputTree out(path("out"), tree);
    out.write_at(50, all.data() + 50, all.size() - 50);
    out.write_at(0, all.data(), 50);
    out.sync();
    EXPECT_FALSE(fs::exists(path("out")));
    out.commit();
  }
  EXPECT_EQ(scan_files({path("out")}), tree);
  EXPECT_EQ(get("out/sub/b"), get("in/sub/b"));
  EXPECT_EQ(get("out/z"), "last");
  EXPECT_THAT(refusal([&] { const OutputTree again(path("out"), tree); }), HasSubstr("exists"));
}

TEST_F(FileTrees, AResumedOutputKnowsItsProgress) {
  const FileTree tree = scan_files({path("in")});
  {
    OutputTree out(path("out"), tree, 7);
    const std::string bytes = "first" + std::string(1000, 'b');
    out.write_at(0, std::as_bytes(std::span(bytes)).data(), bytes.size());
    out.keep(1005);
  }
  {
    OutputTree again(path("out"), tree, 7);
    EXPECT_EQ(again.kept(), 1005U);
    std::byte byte{};
    again.read_at(1004, &byte, 1);
    EXPECT_EQ(byte, std::byte{'b'});
  }
  EXPECT_EQ(OutputTree(path("out"), tree, 8).kept(), 0U) << "the source is another one";
}

}  // namespace
}  // namespace espalier::runtime::file_tree_test
