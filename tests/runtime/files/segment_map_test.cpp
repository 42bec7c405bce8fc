#include "runtime/files/segment_map.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace espalier::runtime::segment_map_test {
namespace {

namespace fs = std::filesystem;

constexpr SegmentGrid kGrid{1000, 100};

class SegmentMaps : public ::testing::Test {
 protected:
  SegmentMaps() {
    std::string pattern = ::testing::TempDir() + "espalier-map-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    SegmentMap map(file(), 7, kGrid, false);
    map.add(3, 33);
    map.add(4, 44);
    map.drop(4);
    map.add(9, 99);
  }
  ~SegmentMaps() override { fs::remove_all(folder_); }
  SegmentMaps(const SegmentMaps&) = delete;
  SegmentMaps& operator=(const SegmentMaps&) = delete;
  SegmentMaps(SegmentMaps&&) = delete;
  SegmentMaps& operator=(SegmentMaps&&) = delete;

  [[nodiscard]] std::string file() const { return folder_ / "map"; }
  // Of a map that is read again.
  [[nodiscard]] std::uint64_t sum(std::uint64_t identity, const SegmentGrid& grid,
                                  bool resumes = true) const {
    return SegmentMap(file(), identity, grid, resumes).sum();
  }

 private:
  fs::path folder_;
};

TEST_F(SegmentMaps, AreReadAsTheyWereWritten) {
  const SegmentMap map(file(), 7, kGrid, true);
  for (std::uint64_t i = 0; i < kGrid.count(); ++i) {
    EXPECT_EQ(map.contains(i), i == 3 || i == 9) << i;
  }
  EXPECT_EQ(map.checksum(3), 33U);
  EXPECT_EQ(map.sum(), 132U);
}

TEST_F(SegmentMaps, OfAnotherMessageCountForNothing) {
  EXPECT_EQ(sum(8, kGrid), 0U);
  EXPECT_EQ(sum(7, kGrid), 0U) << "it was begun again";
}

TEST_F(SegmentMaps, OfOtherSegmentsCountForNothing) {
  EXPECT_EQ(sum(7, {1000, 101}), 0U);
}

TEST_F(SegmentMaps, CountForNothingUnlessResumed) {
  EXPECT_EQ(sum(7, kGrid, false), 0U);
}

TEST_F(SegmentMaps, ThatAreCutOffCountForNothing) {
  fs::resize_file(file(), fs::file_size(file()) - 1);
  EXPECT_EQ(sum(7, kGrid), 0U);
}

TEST(SegmentChecksum, DependsOnThePlace) {
  const std::string text(100, 'x');
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  EXPECT_NE(checksum_of_segment(kGrid, 0, bytes), checksum_of_segment(kGrid, 1, bytes));
}

}  // namespace
}  // namespace espalier::runtime::segment_map_test
