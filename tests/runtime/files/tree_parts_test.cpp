// Folders divided among ranks, and brought together, without ranks.
#include "runtime/files/tree_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "runtime/files/mapped_files.hpp"
#include "tests/support/refusal.hpp"

namespace espalier::runtime::tree_parts_test {
namespace {

namespace fs = std::filesystem;
using espalier::testing::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = FileTree::Kind;

FileTree::Entry file(const std::string& path, std::uint64_t bytes) {
  return {.path = path, .bytes = bytes};
}
FileTree::Entry folder(const std::string& path) {
  return {.path = path, .kind = Kind::kFolder};
}
FileTree::Entry link(const std::string& path) {
  return {.path = path, .kind = Kind::kLink, .target = "x"};
}
std::vector<std::string> paths_of(const FileTree& tree) {
  std::vector<std::string> paths;
  for (const auto& entry : tree.entries) paths.push_back(entry.path);
  return paths;
}

TEST(AssignedToRanks, WholeFilesByShares) {
  const FileTree tree{{file("a", 10), file("b", 10), file("c", 10), file("d", 30)}};
  const std::vector<FileTree> halves = assigned_to_ranks(tree, std::vector{1.0, 1.0});
  EXPECT_THAT(paths_of(halves[0]), ElementsAre("a", "b", "c"));
  EXPECT_THAT(paths_of(halves[1]), ElementsAre("d"));
  const std::vector<FileTree> unlike = assigned_to_ranks(tree, std::vector{0.0, 0.5, 2.5});
  EXPECT_THAT(paths_of(unlike[0]), ElementsAre());
  EXPECT_THAT(paths_of(unlike[1]), ElementsAre("a"));
  EXPECT_THAT(paths_of(unlike[2]), ElementsAre("b", "c", "d"));
}

TEST(AssignedToRanks, OneFileEachWhereThereAreAsManyAsRanks) {
  const std::vector<FileTree> parts =
      assigned_to_ranks({{file("a", 1000), folder("b"), file("b/c", 0), link("b/l"), file("d", 1)}},
                        std::vector{0.1, 0.2, 0.7});
  EXPECT_THAT(paths_of(parts[0]), ElementsAre("a"));
  EXPECT_THAT(paths_of(parts[1]), ElementsAre("b", "b/c", "b/l"));
  EXPECT_THAT(paths_of(parts[2]), ElementsAre("d"));
}

TEST(AssignedToRanks, FoldersGoWithWhatTheyContain) {
  const std::vector<FileTree> parts =
      assigned_to_ranks({{folder("a"), folder("a/b"), file("a/b/1", 1), file("a/b/2", 1),
                          file("a/c", 1), folder("a/empty"), folder("d"), file("d/3", 1)}},
                        std::vector{1.0, 1.0});
  EXPECT_THAT(paths_of(parts[0]), ElementsAre("a", "a/b", "a/b/1", "a/b/2"));
  EXPECT_THAT(paths_of(parts[1]), ElementsAre("a", "a/c", "a/empty", "d", "d/3"));
}

// What is assigned comes together as it was, whatever the shares; and no part contains a folder
// twice, or a folder after something that is in it.
TEST(AssignedToRanks, JoinedAgainIsTheFolder) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    FileTree tree;
    std::vector<std::string> open{""};
    for (int i = 0; i < 30; ++i) {
      while (open.size() > 1 && random() % 3 == 0) open.pop_back();
      const std::string path = open.back() + "e" + std::to_string(i);
      switch (random() % 4) {
        case 0:
          tree.entries.push_back(folder(path));
          open.push_back(path + "/");
          break;
        case 1:
          tree.entries.push_back(link(path));
          break;
        default:
          tree.entries.push_back(file(path, random() % 1000));
      }
    }
    std::vector<double> shares(1 + random() % 6);
    for (double& share : shares) share = static_cast<double>(random() % 5);
    shares.back() += 1;
    std::vector<NamedFiles> parts;
    for (FileTree& part : assigned_to_ranks(tree, shares)) {
      std::set<std::string> seen;
      for (const auto& entry : part.entries) {
        EXPECT_TRUE(seen.insert(entry.path).second) << entry.path;
        const std::size_t slash = entry.path.rfind('/');
        EXPECT_TRUE(slash == std::string::npos || seen.contains(entry.path.substr(0, slash)))
            << entry.path;
      }
      parts.push_back({true, std::move(part)});
    }
    EXPECT_EQ(named_files_from_text(to_text(parts)), parts);
    FileTree again = joined(parts, std::vector<std::string>(parts.size()));
    // A folder that two ranks have stands where the first has it.
    std::ranges::sort(again.entries, {}, &FileTree::Entry::path);
    std::ranges::sort(tree.entries, {}, &FileTree::Entry::path);
    EXPECT_EQ(again, tree) << "run " << run;
  }
}

TEST(Joined, EachInAPlaceOfItsOwn) {
  const std::vector<NamedFiles> parts{{true, {{file("x", 1)}}}, {false, {{file("x", 2)}}}};
  const FileTree tree = joined(parts, std::vector<std::string>{"to/h0", "to/h1"});
  EXPECT_THAT(paths_of(tree), ElementsAre("to", "to/h0", "to/h0/x", "to/h1"));
  EXPECT_EQ(tree.entries[3].bytes, 2U);
  EXPECT_THAT(paths_of(joined(parts, std::vector<std::string>{"to//h0/", "./to/h1/"})),
              ElementsAre("to", "to/h0", "to/h0/x", "to/h1", "to/h1/x"));
  EXPECT_THAT(refusal([&] {
                joined(parts, std::vector<std::string>{"", "../x"});
              }),
              HasSubstr("../x: is not a path below"));
  EXPECT_THAT(refusal([&] { joined(parts, std::vector<std::string>(2)); }),
              HasSubstr("rank 0 and rank 1 both have 'x'"));
  EXPECT_THAT(refusal([&] {
                joined(parts, std::vector<std::string>{"", "x"});
              }),
              HasSubstr("rank 0 and rank 1 both have 'x'"));
}

TEST(Joined, NoTextBringsAnotherFolder) {
  EXPECT_THAT(refusal([] { named_files_from_text("garbage"); }), HasSubstr("is damaged"));
  const std::vector<NamedFiles> parts{{true, {{file("../x", 1)}}}};
  EXPECT_THAT(refusal([&] { named_files_from_text(to_text(parts)); }),
              HasSubstr("not a path below the output's folder"));
}

TEST(MappedTrees, FilesBeginAtMultiplesOfTheAlignment) {
  const fs::path work =
      fs::path(::testing::TempDir()) / ("espalier-tree-parts-" + std::to_string(::getpid()));
  fs::remove_all(work);
  fs::create_directories(work / "in/sub");
  std::ofstream(work / "in/part.10") << std::string(5000, 'x');
  std::ofstream(work / "in/part.9") << "nine";
  std::ofstream(work / "in/sub/empty") << "";
  std::ofstream(work / "in/sub/last") << "last";
  const FileTree tree = scan_name(work / "in").tree;
  EXPECT_THAT(paths_of(tree), ElementsAre("part.9", "part.10", "sub", "sub/empty", "sub/last"));
  const std::uint64_t alignment = 4 * page_bytes();  // as another rank may need it
  ASSERT_EQ(aligned_bytes(tree, alignment), 3 * alignment);
  const MappedInputTrees in(std::vector<MappedInputTrees::Named>{{work / "in", tree}}, alignment);
  ASSERT_EQ(in.bytes().size(), 3 * alignment);
  EXPECT_EQ(in.bytes()[0], std::byte{'n'});
  EXPECT_EQ(in.bytes()[4], std::byte{0});
  EXPECT_EQ(in.bytes()[alignment - 1], std::byte{0});
  EXPECT_EQ(in.bytes()[alignment + 4999], std::byte{'x'});
  EXPECT_EQ(in.bytes()[2 * alignment], std::byte{'l'});
  {
    MappedOutputTree out(work / "out", tree, alignment);
    ASSERT_EQ(out.bytes().size(), in.bytes().size());
    std::ranges::copy(in.bytes(), out.bytes().begin());
    out.sync();
    out.commit();
  }
  EXPECT_EQ(scan_name(work / "out").tree, tree) << "sizes, times and permissions";
  EXPECT_FALSE(in.change());
  std::ofstream(work / "in/sub/last") << "more";
  EXPECT_TRUE(in.change());
  MappedOutput one(work / "one", 5, alignment);
  EXPECT_EQ(one.bytes().size(), alignment);
  one.bytes().back() = std::byte{1};  // which is not part of the file
  one.sync();
  one.commit();
  EXPECT_EQ(fs::file_size(work / "one"), 5U);
  fs::remove_all(work);
}

}  // namespace
}  // namespace espalier::runtime::tree_parts_test
