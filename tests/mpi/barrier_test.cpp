// Barriers along plans: nobody leaves before everybody has come.
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "runtime/api/collective.hpp"
#include "support/errors.hpp"
#include "tests/mpi/plans.hpp"

namespace espalier::testing::barrier_test {
namespace {

using planner::Operation;
using runtime::Collective;

// How often ranks have come, in memory that all ranks share: the tests' ranks are on one host.
class Arrivals {
 public:
  Arrivals() {
    const MPI_Aint own = rank_in(MPI_COMM_WORLD) == 0 ? sizeof(int) : 0;
    void* ignored = nullptr;
    MPI_Win_allocate_shared(own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &ignored, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    void* at = nullptr;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &at);
    count_ = static_cast<int*>(at);
    if (rank_in(MPI_COMM_WORLD) == 0) *count_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Arrivals() { MPI_Win_free(&window_); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  void add() { ++std::atomic_ref(*count_); }
  [[nodiscard]] int count() const { return std::atomic_ref(*count_).load(); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  int* count_ = nullptr;
};

planner::Plan barrier_plan(Shape shape, std::uint32_t root) {
  const planner::Plan trees = plan_shaped(shape, size_of(MPI_COMM_WORLD), root, 1);
  planner::Plan plan = allreduce_plan(trees, trees);
  plan.operation = Operation::kBarrier;
  return plan;
}

// Some ranks come late, others at once.
void come(Arrivals& arrivals, std::mt19937_64& random) {
  if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 5));
  arrivals.add();
}

TEST(Barrier, HoldsAllRanksUntilTheLastHasCome) {
  const auto ranks = static_cast<int>(size_of(MPI_COMM_WORLD));
  Arrivals arrivals;
  std::mt19937_64 random(static_cast<unsigned>(rank_in(MPI_COMM_WORLD)));
  int before = 0;
  for (const Shape shape : {Shape::kChain, Shape::kBinary}) {
    for (int root = 0; root < ranks; ++root) {
      Collective collective(MPI_COMM_WORLD, barrier_plan(shape, static_cast<std::uint32_t>(root)));
      for (int turn = 0; turn < 3; ++turn) {
        come(arrivals, random);
        collective.barrier();
        before += ranks;
        EXPECT_GE(arrivals.count(), before) << "root " << root << ", turn " << turn;
        MPI_Barrier(MPI_COMM_WORLD);  // nobody comes again before all have looked
        EXPECT_EQ(arrivals.count(), before);
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  }
}

TEST(Barrier, MayBeginWithoutWaiting) {
  Arrivals arrivals;
  Collective collective(MPI_COMM_WORLD, barrier_plan(Shape::kChain, 0));
  arrivals.add();
  collective.start([](Collective& one) { one.barrier(); });
  while (!collective.test()) std::this_thread::yield();
  EXPECT_EQ(arrivals.count(), static_cast<int>(size_of(MPI_COMM_WORLD)));
}

TEST(Barrier, IsNoOtherOperation) {
  Collective collective(MPI_COMM_WORLD, barrier_plan(Shape::kChain, 0));
  int value = 0;
  EXPECT_THROW(collective.run(&value, 1, MPI_INT), InputError);
  Collective allreduce(MPI_COMM_WORLD, [] {
    const planner::Plan chain = plan_shaped(Shape::kChain, size_of(MPI_COMM_WORLD), 0, 1);
    return allreduce_plan(chain, chain);
  }());
  EXPECT_THROW(allreduce.barrier(), InputError);
}

}  // namespace
}  // namespace espalier::testing::barrier_test
