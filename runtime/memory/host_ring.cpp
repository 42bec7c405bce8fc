#include "runtime/memory/host_ring.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
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
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED) throw_errno("mmap");
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      data_(std::exchange(other.data_, nullptr)) {}

SharedMemory::~SharedMemory() {
  close_descriptor();
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

void SharedMemory::close_descriptor() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

SharedMemory SharedMemory::create(std::size_t bytes) {
  SharedMemory memory(::memfd_create(kName, MFD_CLOEXEC), "memfd_create");
  if (::ftruncate(memory.descriptor_, static_cast<off_t>(bytes)) != 0) throw_errno("ftruncate");
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
  if (::fstat(memory.descriptor_, &found) != 0) throw_errno("fstat");
  if (found.st_size != static_cast<off_t>(bytes)) {
    throw std::system_error(EINVAL, std::generic_category(), kWrongMemory);
  }
  memory.map(bytes);
  return memory;
}

std::size_t HostRing::memory_for(std::size_t readers) {
  return whole_pages(sizeof(Control) + readers * sizeof(Line) + kCells * sizeof(Head)) +
         kCells * kCellBytes;
}

HostRing::HostRing(SharedMemory memory, std::size_t readers, std::optional<std::size_t> reader)
    : memory_(std::move(memory)),
      control_(std::launder(reinterpret_cast<Control*>(memory_.data()))),
      read_(std::launder(reinterpret_cast<Line*>(memory_.data() + sizeof(Control))), readers),
      heads_(std::launder(
          reinterpret_cast<Head*>(memory_.data() + sizeof(Control) + readers * sizeof(Line)))),
      cells_(memory_.data() + memory_for(readers) - kCells * kCellBytes),
      reader_(reader) {}

bool HostRing::has_free_cell() {
  if (passed_ - oldest_ < kCells) return true;
  oldest_ = passed_;
  for (const Line& line : read_) {
    oldest_ = std::min(oldest_, line.cells.load(std::memory_order_acquire));
  }
  return passed_ - oldest_ < kCells;
}

void HostRing::write(const Head& head) {
  heads_[passed_ % kCells] = head;
  control_->written.cells.store(++passed_, std::memory_order_release);
}

std::size_t HostRing::slowest_reader() const {
  const auto slowest = std::ranges::min_element(
      read_, {}, [](const Line& line) { return line.cells.load(std::memory_order_relaxed); });
  return static_cast<std::size_t>(slowest - read_.begin());
}

std::optional<HostRing::Cell> HostRing::next() const {
  if (control_->written.cells.load(std::memory_order_acquire) == passed_) return {};
  return Cell{heads_[passed_ % kCells], cell(passed_)};
}

void HostRing::pass() {
  read_[*reader_].cells.store(++passed_, std::memory_order_release);
}

namespace {

// SMPI's ranks are threads of one process, and their time passes only in MPI calls.
#ifdef SMPI_H
constexpr bool kHaveProcesses = false;
#else
constexpr bool kHaveProcesses = true;
#endif

// A rank's announcement of its ring to the other ranks of its host.
struct Offer {
  int rank = -1;
  int descriptor = -1;  // -1: no ring
  pid_t process = 0;
  std::uint64_t token = 0;
};

// The offers of all ranks of this host, in the order of the host's communicator.
std::vector<Offer> exchange(MPI_Comm host, const Offer& own) {
  std::vector<Offer> offers(static_cast<std::size_t>(size_of(host)));
  check(MPI_Allgather(&own, sizeof own, MPI_BYTE, offers.data(), sizeof own, MPI_BYTE, host),
        "MPI_Allgather");
  return offers;
}

Offer offer_ring(HostRings& rings, int rank) {
  Offer offer{rank, -1, ::getpid(), 0};
  if (rings.readers.empty()) return offer;
  SharedMemory memory = SharedMemory::create(HostRing::memory_for(rings.readers.size()));
  offer.descriptor = memory.descriptor();
  offer.token = static_cast<std::uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch().count() + offer.process);
  rings.written.emplace(std::move(memory), rings.readers.size(), std::nullopt);
  rings.written->token() = offer.token;
  return offer;
}

// Throws std::system_error if the memory cannot be attached, or is not the one offered: in another
// PID namespace the same number may belong to another process.
void accept(HostRings& rings, const Offer& offer, const std::vector<int>& readers, int rank) {
  const auto mine = std::ranges::find(readers, rank);
  if (mine == readers.end()) return;
  if (offer.descriptor < 0) throw std::system_error(ENOMEM, std::generic_category());
  SharedMemory memory =
      SharedMemory::attach(offer.process, offer.descriptor, HostRing::memory_for(readers.size()));
  memory.close_descriptor();
  HostRing ring(std::move(memory), readers.size(),
                static_cast<std::size_t>(mine - readers.begin()));
  if (ring.token() != offer.token) throw std::system_error(EINVAL, std::generic_category());
  rings.read.push_back({offer.rank, std::move(ring)});
}

// Returns false if it fails on this rank.
bool try_sharing(MPI_Comm host, int rank, std::span<const std::vector<int>> readers_of,
                 HostRings& rings) {
  bool works = true;
  Offer own{rank, -1, 0, 0};
  rings.readers = readers_of[static_cast<std::size_t>(rank)];
  try {
    own = offer_ring(rings, rank);
  } catch (const std::exception&) {  // such as a std::system_error
    works = false;
  }
  const std::vector<Offer> offers = exchange(host, own);
  try {
    for (const Offer& offer : offers) {
      accept(rings, offer, readers_of[static_cast<std::size_t>(offer.rank)], rank);
    }
  } catch (const std::exception&) {
    works = false;
  }
  return works;
}

}  // namespace

std::unique_ptr<HostRings> share_rings(MPI_Comm comm,
                                       std::span<const std::vector<int>> readers_of) {
  if (!kHaveProcesses || std::ranges::all_of(readers_of, &std::vector<int>::empty)) return nullptr;
  const int rank = rank_in(comm);
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  const std::unique_ptr<MPI_Comm, void (*)(MPI_Comm*)> freed(&host,
                                                             [](MPI_Comm* c) { MPI_Comm_free(c); });
  auto rings = std::make_unique<HostRings>();
  const int here = try_sharing(host, rank, readers_of, *rings) ? 1 : 0;
  int everywhere = 0;
  check(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, host), "MPI_Allreduce");
  if (everywhere == 0) return nullptr;
  if (rings->written) rings->written->close_descriptor();
  return rings;
}

}  // namespace espalier::runtime
