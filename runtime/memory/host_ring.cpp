#include "runtime/memory/host_ring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {
namespace {

[[noreturn]] void throw_errno(const char* doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

constexpr char kName[] = "espalier";
constexpr std::size_t kPageBytes = 4096;

constexpr std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

SharedMemory::SharedMemory(int descriptor, const char* doing) : descriptor_(descriptor) {
  if (descriptor < 0) throw_errno(doing);
}

void SharedMemory::map(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (at == MAP_FAILED) throw_errno("mmap");
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      bytes_(other.bytes_),
      data_(std::exchange(other.data_, nullptr)) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

SharedMemory SharedMemory::create(std::size_t bytes) {
  SharedMemory memory(::memfd_create(kName, MFD_CLOEXEC), "memfd_create");
  if (::ftruncate(memory.descriptor_.get(), static_cast<off_t>(bytes)) != 0)
    throw_errno("ftruncate");
  memory.map(bytes);
  return memory;
}

SharedMemory SharedMemory::attach(pid_t process, int descriptor, std::size_t bytes) {
  constexpr const char* kWrongMemory = "not the memory of another rank";
  const std::string name = fmt::format("/proc/{}/fd/{}", process, descriptor);
  // In another PID namespace this may be an unrelated process's file, which must not be accessed.
  if (!std::filesystem::read_symlink(name).native().starts_with(fmt::format("/memfd:{}", kName))) {
    throw std::system_error(EINVAL, std::generic_category(), kWrongMemory);
  }
  SharedMemory memory(::open(name.c_str(), O_RDWR | O_CLOEXEC), "open");
  struct stat found {};
  if (::fstat(memory.descriptor_.get(), &found) != 0) throw_errno("fstat");
  if (found.st_size != static_cast<off_t>(bytes)) {
    throw std::system_error(EINVAL, std::generic_category(), kWrongMemory);
  }
  memory.map(bytes);
  return memory;
}

std::size_t HostRing::memory_for(const RingPlan& plan) {
  return whole_pages((1 + plan.readers.size()) * sizeof(Line) + plan.cells * sizeof(Head)) +
         plan.cells * kCellBytes;
}

HostRing::HostRing(std::byte* memory, const RingPlan& plan, int rank)
    : cells_(plan.cells),
      written_(std::launder(reinterpret_cast<Line*>(memory))),
      read_(written_ + 1, plan.readers.size()),
      heads_(std::launder(reinterpret_cast<Head*>(memory + (1 + read_.size()) * sizeof(Line)))),
      bytes_(memory + memory_for(plan) - plan.cells * kCellBytes),
      reader_(static_cast<std::size_t>(std::ranges::lower_bound(plan.readers, rank) -
                                       plan.readers.begin())) {}

bool HostRing::has_free_cell() {
  if (passed_ - oldest_ < cells_) return true;
  oldest_ = passed_;
  for (const Line& line : read_) {
    oldest_ = std::min(oldest_, line.cells.load(std::memory_order_acquire));
  }
  return passed_ - oldest_ < cells_;
}

void HostRing::write(const Head& head) {
  heads_[passed_ % cells_] = head;
  written_->cells.store(++passed_, std::memory_order_release);
}

std::size_t HostRing::slowest_reader() const {
  const auto slowest = std::ranges::min_element(
      read_, {}, [](const Line& line) { return line.cells.load(std::memory_order_relaxed); });
  return static_cast<std::size_t>(slowest - read_.begin());
}

std::optional<HostRing::Cell> HostRing::next() const {
  if (written_->cells.load(std::memory_order_acquire) == passed_) return {};
  return Cell{heads_[passed_ % cells_], cell(passed_)};
}

void HostRing::pass() {
  read_[reader_].cells.store(++passed_, std::memory_order_release);
}

namespace {

// SMPI's ranks are threads of one process, and their time passes only in MPI calls.
#ifdef SMPI_H
constexpr bool kHaveProcesses = false;
#else
constexpr bool kHaveProcesses = true;
#endif

// A rank's announcement of its rings to the other ranks of its host.
struct Offer {
  int rank = -1;
  int descriptor = -1;  // -1: no rings
  pid_t process = 0;
  // A number at the beginning of the memory, by which two processes verify that they use the same.
  std::uint64_t token = 0;
};

// The offers of all ranks of this host, in the order of the host's communicator.
std::vector<Offer> exchange(MPI_Comm host, const Offer& own) {
  std::vector<Offer> offers(static_cast<std::size_t>(size_of(host)));
  check(MPI_Allgather(&own, sizeof own, MPI_BYTE, offers.data(), sizeof own, MPI_BYTE, host),
        "MPI_Allgather");
  return offers;
}

// The memory of all rings that a rank writes; 0: it writes none.
std::size_t memory_of(std::span<const RingPlan> plans, int writer) {
  std::size_t bytes = 0;
  for (const RingPlan& plan : plans) {
    if (plan.writer == writer) bytes += HostRing::memory_for(plan);
  }
  return bytes == 0 ? 0 : kPageBytes + bytes;
}

// Those of the writer's rings that this rank writes or reads.
void place_rings(HostRings& rings, std::byte* memory, int writer, int rank) {
  std::byte* at = memory + kPageBytes;
  for (std::size_t i = 0; i < rings.plans.size(); ++i) {
    const RingPlan& plan = rings.plans[i];
    if (plan.writer != writer) continue;
    if (writer == rank || std::ranges::binary_search(plan.readers, rank)) {
      rings.rings[i].emplace(at, plan, rank);
    }
    at += HostRing::memory_for(plan);
  }
}

Offer offer_rings(HostRings& rings, int rank) {
  Offer offer{rank, -1, ::getpid(), 0};
  const std::size_t bytes = memory_of(rings.plans, rank);
  if (bytes == 0) return offer;
  const SharedMemory& memory = rings.memories.emplace_back(SharedMemory::create(bytes));
  offer.descriptor = memory.descriptor();
  offer.token = static_cast<std::uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch().count() + offer.process);
  std::memcpy(memory.data(), &offer.token, sizeof offer.token);
  place_rings(rings, memory.data(), rank, rank);
  return offer;
}

// Throws std::system_error if the memory cannot be attached, or is not the one offered: in another
// PID namespace the same number may belong to another process.
void accept(HostRings& rings, const Offer& offer, int rank) {
  if (std::ranges::none_of(rings.plans, [&](const RingPlan& plan) {
        return plan.writer == offer.rank && std::ranges::binary_search(plan.readers, rank);
      })) {
    return;
  }
  if (offer.descriptor < 0) throw std::system_error(ENOMEM, std::generic_category());
  SharedMemory& memory = rings.memories.emplace_back(
      SharedMemory::attach(offer.process, offer.descriptor, memory_of(rings.plans, offer.rank)));
  memory.close_descriptor();
  if (std::memcmp(memory.data(), &offer.token, sizeof offer.token) != 0) {
    throw std::system_error(EINVAL, std::generic_category());
  }
  place_rings(rings, memory.data(), offer.rank, rank);
}

// Returns false if it fails on this rank.
bool try_sharing(MPI_Comm host, int rank, HostRings& rings) {
  bool works = true;
  Offer own{rank, -1, 0, 0};
  try {
    own = offer_rings(rings, rank);
  } catch (const std::exception&) {  // such as a std::system_error
    works = false;
  }
  const std::vector<Offer> offers = exchange(host, own);
  try {
    for (const Offer& offer : offers) accept(rings, offer, rank);
  } catch (const std::exception&) {
    works = false;
  }
  return works;
}

}  // namespace

std::unique_ptr<HostRings> share_rings(MPI_Comm comm, std::vector<RingPlan> plans) {
  if (!kHaveProcesses || plans.empty()) return nullptr;
  const int rank = rank_in(comm);
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  const std::unique_ptr<MPI_Comm, void (*)(MPI_Comm*)> freed(&host,
                                                             [](MPI_Comm* c) { MPI_Comm_free(c); });
  auto rings = std::make_unique<HostRings>();
  rings->rings.resize(plans.size());
  rings->plans = std::move(plans);
  const int here = try_sharing(host, rank, *rings) ? 1 : 0;
  int everywhere = 0;
  check(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, host), "MPI_Allreduce");
  if (everywhere == 0) return nullptr;
  for (SharedMemory& memory : rings->memories) memory.close_descriptor();
  return rings;
}

}  // namespace espalier::runtime
