// Datatypes with holes, out of order, larger than a segment, and different on the ranks.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <vector>

#include "runtime/api/broadcast.hpp"
#include "runtime/memory/element_shape.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::datatype_test {
namespace {

using runtime::Broadcast;

struct Type {
  std::string name;
  MPI_Datatype (*make)();
};

MPI_Datatype vector_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 2, 3, MPI_INT, &type);
  return type;
}
MPI_Datatype descending_type() {
  const int displacements[3] = {2, 1, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(3, 1, displacements, MPI_INT, &type);
  return type;
}
MPI_Datatype dense_struct_type() {
  const int lengths[2] = {1, 2};
  const MPI_Aint displacements[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  return type;
}
MPI_Datatype holey_struct_type() {
  const int lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {0, 12};
  const MPI_Datatype types[2] = {MPI_CHAR, MPI_SHORT};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  return type;
}
MPI_Datatype offset_type() {
  const MPI_Aint displacement = 40;
  const int length = 3;
  MPI_Datatype indexed = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &displacement, MPI_INT, &indexed);
  MPI_Type_create_resized(indexed, 0, 12, &type);
  MPI_Type_free(&indexed);
  return type;
}
MPI_Datatype overlapping_extent_type() {  // elements interleave
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(4, 1, 100, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4, &type);
  MPI_Type_free(&vector);
  return type;
}
MPI_Datatype large_contiguous_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1000, MPI_DOUBLE, &type);
  return type;
}
MPI_Datatype empty_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &type);
  return type;
}
MPI_Datatype column_type() {  // one element of many segments
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(300, 1, 7, MPI_DOUBLE, &type);
  return type;
}
MPI_Datatype nested_type() {
  MPI_Datatype vector = vector_type();
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(3, 2, 128, vector, &type);
  MPI_Type_free(&vector);
  return type;
}
MPI_Datatype pair_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_DOUBLE_INT, &type);
  return type;
}
MPI_Datatype short_pair_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_SHORT_INT, &type);
  return type;
}
// Only the whole type is committed, not its part.
MPI_Datatype row_of_uncommitted(MPI_Datatype part) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, part, &type);
  MPI_Type_free(&part);
  return type;
}
MPI_Datatype row_of_structs_type() {
  return row_of_uncommitted(dense_struct_type());
}
MPI_Datatype row_of_descending_type() {
  return row_of_uncommitted(descending_type());
}
MPI_Datatype copy_of_uncommitted_type() {
  MPI_Datatype part = dense_struct_type();
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(part, &type);
  MPI_Type_free(&part);
  return type;
}

class Datatypes : public ::testing::TestWithParam<Type> {};

// MPI's own broadcast of the same elements gives the expected buffer, including the holes.
TEST_P(Datatypes, MoveExactlyTheirBytes) {
  MPI_Datatype type = GetParam().make();
  MPI_Type_commit(&type);
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const bool is_source = rank_in(MPI_COMM_WORLD) == static_cast<int>(ranks) - 1;
  std::mt19937_64 random(9);
  std::vector<std::byte> filled(std::size_t{1} << 18);
  for (std::size_t i = 0; i < filled.size(); ++i) filled[i] = byte_of(i, is_source ? 1 : 2);
  for (const std::uint64_t segment : {1UL, 7UL, 64UL, 1000UL, 1UL << 20}) {
    std::vector<planner::PlanTree> trees;
    for (int i = 0; i < 3; ++i) trees.push_back(random_tree(ranks, ranks - 1, 1.0 + i, random));
    Broadcast broadcast(MPI_COMM_WORLD, plan_of(ranks, ranks - 1, trees, segment), as_planned());
    for (const std::size_t count : {0UL, 1UL, 2UL, 13UL}) {
      if (segment < 64 && count > 2) continue;  // tens of thousands of segments
      std::vector<std::byte> expected = filled;
      std::vector<std::byte> got = filled;
      MPI_Bcast(expected.data(), static_cast<int>(count), type, static_cast<int>(ranks) - 1,
                MPI_COMM_WORLD);
      broadcast.run(got.data(), count, type);
      EXPECT_TRUE(got == expected) << fmt::format("segment {}, count {}", segment, count);
    }
  }
  MPI_Type_free(&type);
}

INSTANTIATE_TEST_SUITE_P(
    All, Datatypes,
    ::testing::Values(Type{"Vector", vector_type}, Type{"Descending", descending_type},
                      Type{"DenseStruct", dense_struct_type},
                      Type{"HoleyStruct", holey_struct_type}, Type{"Offset", offset_type},
                      Type{"Overlapping", overlapping_extent_type},
                      Type{"LargeContiguous", large_contiguous_type}, Type{"Empty", empty_type},
                      Type{"Column", column_type}, Type{"Nested", nested_type},
                      Type{"Pair", pair_type}, Type{"ShortPair", short_pair_type},
                      Type{"RowOfStructs", row_of_structs_type},
                      Type{"RowOfDescending", row_of_descending_type},
                      Type{"CopyOfUncommitted", copy_of_uncommitted_type}),
    [](const auto& type) { return type.param.name; });

TEST(Datatype, OnlyTypesThatNeedPackingArePacked) {
  const auto is_plain = [](MPI_Datatype type) {
    const bool plain = runtime::is_plain(MPI_COMM_SELF, type);
    if (type != MPI_DOUBLE && type != MPI_BYTE) MPI_Type_free(&type);
    return plain;
  };
  const auto committed = [](MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
  };
  EXPECT_TRUE(is_plain(MPI_DOUBLE));
  EXPECT_TRUE(is_plain(MPI_BYTE));
  EXPECT_TRUE(is_plain(committed(large_contiguous_type())));
  EXPECT_TRUE(is_plain(committed(dense_struct_type())));
  EXPECT_TRUE(is_plain(committed(offset_type())));
  EXPECT_TRUE(is_plain(committed(row_of_structs_type())));
  EXPECT_FALSE(is_plain(committed(row_of_descending_type())));
  EXPECT_FALSE(is_plain(committed(descending_type())));
  EXPECT_FALSE(is_plain(committed(vector_type())));
  EXPECT_FALSE(is_plain(committed(pair_type())));
}

// As MPI_Bcast allows: the same integers, contiguous on even ranks and with a stride of 3 on odd
// ones.
TEST(Datatype, MayDifferAmongRanks) {
  constexpr int kIntegers = 300;
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Datatype every_third = MPI_DATATYPE_NULL;
  MPI_Type_vector(kIntegers, 1, 3, MPI_INT, &every_third);
  MPI_Type_commit(&every_third);
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 50), as_planned());
  if (rank % 2 == 0) {
    std::vector<int> row(kIntegers, -1);
    if (rank == 0) std::iota(row.begin(), row.end(), 7);
    broadcast.run(row.data(), kIntegers, MPI_INT);
    for (int i = 0; i < kIntegers; ++i) EXPECT_EQ(row[static_cast<std::size_t>(i)], i + 7);
  } else {
    std::vector<int> spread(3 * kIntegers, -1);
    broadcast.run(spread.data(), 1, every_third);
    for (int i = 0; i < 3 * kIntegers; ++i) {
      EXPECT_EQ(spread[static_cast<std::size_t>(i)], i % 3 == 0 ? i / 3 + 7 : -1);
    }
  }
  MPI_Type_free(&every_third);
}

TEST(Datatype, AbsoluteAddresses) {
  const std::uint32_t ranks = size_of(MPI_COMM_WORLD);
  std::vector<int> here(20, -1);
  if (rank_in(MPI_COMM_WORLD) == 0) std::iota(here.begin(), here.end(), 0);
  MPI_Aint address = 0;
  MPI_Get_address(here.data(), &address);
  const int length = 20;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
  MPI_Type_commit(&type);
  Broadcast broadcast(MPI_COMM_WORLD, plan_shaped(Shape::kChain, ranks, 0, 16), as_planned());
  broadcast.run(MPI_BOTTOM, 1, type);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(here[static_cast<std::size_t>(i)], i);
  MPI_Type_free(&type);
}

}  // namespace
}  // namespace espalier::testing::datatype_test
