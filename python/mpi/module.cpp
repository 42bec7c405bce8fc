// The extension module espalier._espalier_mpi: plans on the communicators of mpi4py, for
// espalier/mpi.py. Needs no solver, and no headers of mpi4py: it gives its handles as numbers.
#include <fmt/format.h>
#include <mpi.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/common/errors.hpp"
#include "runtime/api/collective.hpp"
#include "runtime/api/reduction.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/pinned.hpp"

namespace espalier::python {

namespace {

// A handle of this process's MPI library, as MPI._handleof gives it.
template <class Handle>
Handle handle_of(std::uintptr_t number) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(number);  // NOLINT(performance-no-int-to-ptr)
  } else {
    return static_cast<Handle>(number);
  }
}

struct Elements {
  std::size_t count;
  MPI_Datatype type;

  [[nodiscard]] std::size_t bytes() const {
    int size = 0;
    runtime::check(MPI_Type_size(type, &size), "MPI_Type_size");
    return count * static_cast<std::size_t>(size);
  }
};

// The memory of an array of bytes, which its Python object owns.
class Memory {
 public:
  // none: what stands for no array. Throws InputError where the array has fewer bytes.
  Memory(const py::object& array, bool is_written, std::size_t bytes, void* none) : at_(none) {
    if (array.is_none()) return;
    view_.emplace(py::cast<py::buffer>(array).request(is_written));
    const auto size = static_cast<std::size_t>(view_->size * view_->itemsize);
    if (size < bytes) {
      throw InputError(fmt::format("the array has {} bytes; this call needs {}", size, bytes));
    }
    at_ = view_->ptr;
  }
  [[nodiscard]] void* at() const { return at_; }

 private:
  std::optional<py::buffer_info> view_;
  void* at_;
};

std::size_t sum_of(const std::vector<std::size_t>& counts) {
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  return sum;
}

struct CallOptions {
  std::uint64_t segment_bytes = 0;
  std::size_t ports = 0;
  bool by_host_name = false;
  bool rounds = false;
  bool schedule = false;
  bool direct_copies = true;
  std::optional<double> timeout_s{};
};

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class PlannedCollective : public Pinned {
 public:
  PlannedCollective(std::uintptr_t comm, const std::string& plan, const std::string& file,
                    const CallOptions& given)
      : collective_(make(handle_of<MPI_Comm>(comm),
                         runtime::checked_plan(plan, file, planner::Roots::kAny), given)) {}
  ~PlannedCollective() {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) static_cast<void>(collective_.release());  // MPI frees nothing any more
  }

  void close() { collective_.reset(); }
  [[nodiscard]] runtime::Collective& get() {
    if (!collective_) throw InputError("this collective is closed");
    return *collective_;
  }
  [[nodiscard]] std::size_t rank_count() { return get().ranks(); }

  // call(collective, addresses of the memories...): without Python's lock. A call that is only
  // begun keeps the memories until it is complete.
  template <class Call, class... Memories>
  void run(const Call& call, Memories... memories) {
    runtime::Collective& collective = get();
    const std::array<void*, sizeof...(memories)> at{memories.at()...};
    if (is_starting_) (kept_.push_back(std::move(memories)), ...);
    const py::gil_scoped_release released;
    std::apply([&](auto... addresses) { call(collective, addresses...); }, at);
  }
  // Begins the call that `call` makes of this object; returns what it returns.
  py::object start(const py::function& call) {
    py::object result;
    is_starting_ = true;
    try {
      get().start([&](auto&) { result = call(); });
    } catch (...) {
      is_starting_ = false;
      throw;
    }
    is_starting_ = false;
    return result;
  }
  [[nodiscard]] bool test() {
    runtime::Collective& collective = get();
    bool is_complete = false;
    {
      const py::gil_scoped_release released;
      is_complete = collective.test();
    }
    if (is_complete) kept_.clear();
    return is_complete;
  }
  void wait() {
    runtime::Collective& collective = get();
    {
      const py::gil_scoped_release released;
      collective.wait();
    }
    kept_.clear();
  }

 private:
  static std::unique_ptr<runtime::Collective> make(MPI_Comm comm, const planner::Plan& plan,
                                                   const CallOptions& given) {
    runtime::CollectiveOptions options;
    if (plan.operation != planner::Operation::kBroadcast) options = runtime::ReductionOptions();
    options.segment_bytes = given.segment_bytes;
    options.ports = given.ports;
    options.mapping =
        given.by_host_name ? runtime::RankMapping::kByHostName : runtime::RankMapping::kByOrder;
    options.rounds = given.rounds;
    options.schedule = given.schedule;
    options.direct_copies = given.direct_copies;
    if (given.timeout_s) options.timeout = Seconds{*given.timeout_s};
    const py::gil_scoped_release released;
    return std::make_unique<runtime::Collective>(comm, plan, options);
  }

  std::unique_ptr<runtime::Collective> collective_;
  bool is_starting_ = false;
  std::vector<Memory> kept_{};  // of the call in progress
};

using Ours = PlannedCollective;
using Counts = std::vector<std::size_t>;

// Every rank's part has its place in an array of all parts.
std::size_t own_part(Ours& self, const Counts& counts, int rank) {
  if (counts.size() != self.rank_count()) {
    throw InputError(fmt::format("{} counts for {} ranks", counts.size(), self.rank_count()));
  }
  return counts.at(static_cast<std::size_t>(rank));
}

void broadcast(Ours& self, const py::object& array, std::size_t count, std::uintptr_t type) {
  const Elements elements{count, handle_of<MPI_Datatype>(type)};
  Memory memory(array, true, elements.bytes(), nullptr);
  self.run([&](auto& call, void* at) { call.run(at, count, elements.type); }, std::move(memory));
}

void combine(Ours& self, const py::object& send, const py::object& receive, std::size_t count,
             std::uintptr_t type, std::uintptr_t op) {
  const Elements elements{count, handle_of<MPI_Datatype>(type)};
  Memory from(send, false, elements.bytes(), MPI_IN_PLACE);
  Memory into(receive, true, elements.bytes(), nullptr);
  self.run([&](auto& call, void* in,
               void* out) { call.run(in, out, count, elements.type, handle_of<MPI_Op>(op)); },
           std::move(from), std::move(into));
}

void allgather(Ours& self, int rank, const py::object& send, const py::object& receive,
               const Counts& counts, std::uintptr_t type) {
  const auto of = handle_of<MPI_Datatype>(type);
  Memory from(send, false, Elements{own_part(self, counts, rank), of}.bytes(), MPI_IN_PLACE);
  Memory into(receive, true, Elements{sum_of(counts), of}.bytes(), nullptr);
  self.run([&](auto& call, void* in, void* out) { call.allgather(in, out, counts, {}, of); },
           std::move(from), std::move(into));
}

void reduce_scatter(Ours& self, int rank, const py::object& send, const py::object& receive,
                    const Counts& counts, std::uintptr_t type, std::uintptr_t op) {
  const auto of = handle_of<MPI_Datatype>(type);
  Memory from(send, false, Elements{sum_of(counts), of}.bytes(), MPI_IN_PLACE);
  Memory into(receive, true, Elements{own_part(self, counts, rank), of}.bytes(), nullptr);
  self.run([&](auto& call, void* in,
               void* out) { call.reduce_scatter(in, out, counts, of, handle_of<MPI_Op>(op)); },
           std::move(from), std::move(into));
}

void scatter(Ours& self, int rank, const py::object& send, const py::object& receive,
             const Counts& counts, std::uintptr_t type) {
  const auto of = handle_of<MPI_Datatype>(type);
  Memory from(send, false, Elements{sum_of(counts), of}.bytes(), nullptr);
  Memory into(receive, true, Elements{own_part(self, counts, rank), of}.bytes(), nullptr);
  self.run([&](auto& call, void* in, void* out) { call.scatter(in, out, counts, {}, of); },
           std::move(from), std::move(into));
}

void gather(Ours& self, int rank, const py::object& send, const py::object& receive,
            const Counts& counts, std::uintptr_t type) {
  const auto of = handle_of<MPI_Datatype>(type);
  Memory from(send, false, Elements{own_part(self, counts, rank), of}.bytes(), nullptr);
  Memory into(receive, true, Elements{sum_of(counts), of}.bytes(), nullptr);
  self.run([&](auto& call, void* in, void* out) { call.gather(in, out, counts, {}, of); },
           std::move(from), std::move(into));
}

void alltoall(Ours& self, const py::object& send, const py::object& receive, std::size_t count,
              std::uintptr_t type) {
  const Elements all{count * self.rank_count(), handle_of<MPI_Datatype>(type)};
  Memory from(send, false, all.bytes(), MPI_IN_PLACE);
  Memory into(receive, true, all.bytes(), nullptr);
  self.run([&](auto& call, void* in, void* out) { call.alltoall(in, out, count, all.type); },
           std::move(from), std::move(into));
}

void barrier(Ours& self) {
  self.run([](auto& call) { call.barrier(); });
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  runtime::check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  return text.data();
}

void add_collective(py::module_& module) {
  py::class_<Ours>(module, "Collective")
      .def(py::init([](std::uintptr_t comm, const std::string& plan, const std::string& file,
                       std::uint64_t segment_bytes, std::size_t ports, bool by_host_name,
                       bool rounds, bool schedule, bool direct_copies,
                       std::optional<double> timeout_s) {
             return std::make_unique<Ours>(comm, plan, file,
                                           CallOptions{segment_bytes, ports, by_host_name, rounds,
                                                       schedule, direct_copies, timeout_s});
           }),
           py::arg("comm"), py::arg("plan"), py::arg("file"), py::arg("segment_bytes"),
           py::arg("ports"), py::arg("by_host_name"), py::arg("rounds"), py::arg("schedule"),
           py::arg("direct_copies"), py::arg("timeout_s"))
      .def("close", &Ours::close)
      .def_property_readonly("operation",
                             [](Ours& self) { return planner::name_of(self.get().operation()); })
      .def_property_readonly("root", [](Ours& self) { return self.get().root(); })
      .def_property_readonly("ranks", &Ours::rank_count)
      .def_property_readonly("node", [](Ours& self) { return self.get().node(); })
      .def_property_readonly("shares", [](Ours& self) { return self.get().shares(); })
      .def_property_readonly("receives_all", [](Ours& self) { return self.get().receives_all(); })
      .def("bcast", &broadcast, py::arg("array"), py::arg("count"), py::arg("type"))
      .def("combine", &combine, py::arg("send"), py::arg("receive"), py::arg("count"),
           py::arg("type"), py::arg("op"))
      .def("allgather", &allgather, py::arg("rank"), py::arg("send"), py::arg("receive"),
           py::arg("counts"), py::arg("type"))
      .def("reduce_scatter", &reduce_scatter, py::arg("rank"), py::arg("send"), py::arg("receive"),
           py::arg("counts"), py::arg("type"), py::arg("op"))
      .def("scatter", &scatter, py::arg("rank"), py::arg("send"), py::arg("receive"),
           py::arg("counts"), py::arg("type"))
      .def("gather", &gather, py::arg("rank"), py::arg("send"), py::arg("receive"),
           py::arg("counts"), py::arg("type"))
      .def("barrier", &barrier)
      .def("start", &Ours::start, py::arg("call"))
      .def("test", &Ours::test)
      .def("wait", &Ours::wait)
      .def("alltoall", &alltoall, py::arg("send"), py::arg("receive"), py::arg("count"),
           py::arg("type"));
}

}  // namespace

}  // namespace espalier::python

PYBIND11_MODULE(_espalier_mpi, module) {
  espalier::python::translate_errors();
  espalier::python::add_collective(module);
  module.def("library_version", &espalier::python::library_version);
}
