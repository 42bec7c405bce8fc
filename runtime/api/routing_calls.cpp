// The calls of a collective whose blocks route parts from one rank to one other.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <utility>

#include "runtime/api/collective_state.hpp"
#include "runtime/api/engines.hpp"
#include "runtime/memory/routing_store.hpp"
#include "runtime/memory/stores.hpp"
#include "runtime/transport/mpi_error.hpp"

namespace espalier::runtime {

struct Collective::State::RoutedCall {
  void* sendbuf;  // without a meaning where nothing is sent
  void* recvbuf;
  Parts sent;      // for each rank, in sendbuf
  Parts received;  // from each rank, in recvbuf
  MPI_Datatype type;
  ElementShape shape;
  std::uint64_t message;      // bytes, as the plan counts them
  bool own_is_there = false;  // what this rank sends to itself is where it belongs
  bool same_memory = false;   // the parts that it sends are in recvbuf, and must be copied
  // Of any part, whichever ranks it is between. Not called after the call has begun.
  std::function<std::uint64_t(const Route&)> bytes_of;
  std::shared_ptr<const void> lists;  // what `sent` and `received` refer to
};

namespace {

// A part for or from one rank only.
struct OnlyPart {
  OnlyPart(std::size_t ranks, std::size_t rank, std::size_t count)
      : counts(ranks, 0), first(ranks, 0) {
    counts[rank] = count;
  }
  [[nodiscard]] Parts parts() const { return {counts, first}; }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> first;
};

std::string no_path(const Route& route, std::uint64_t bytes) {
  return fmt::format("rank {} has {} for rank {}, but no path to it in the plan", route.from,
                     counted(bytes, "byte"), route.to);
}

}  // namespace

std::uint64_t Collective::State::routed_segment(std::uint64_t message) {
  if (!chosen || chosen->message != message) chosen = {message, bound.segment_of(message)};
  return chosen->segment;
}

// Precondition: `call` is this call's.
void Collective::State::route(const RoutedCall& routed) {
  const auto here = static_cast<std::size_t>(bound.rank);
  const MPI_Comm comm = bound.comm.get();
  const std::uint64_t segment = routed_segment(routed.message);
  std::shared_ptr<PartsInMemory> sent;
  std::shared_ptr<PartsInMemory> received;
  std::shared_ptr<RoutingStore> store;
  try {
    sent = std::make_shared<PartsInMemory>(comm, routed.sendbuf, routed.sent, routed.type,
                                           routed.shape, routed.same_memory);
    received = std::make_shared<PartsInMemory>(comm, routed.recvbuf, routed.received, routed.type,
                                               routed.shape);
    std::vector<engine::Range> ranges;
    std::uint64_t longest = 0;  // of the segments that this rank forwards
    for (const Route& one : routes->here()) {
      const std::uint64_t bytes = routed.bytes_of(one);
      std::uint64_t first = 0;
      if (one.from == here) {
        first = sent->offset(one.to);
      } else if (one.to == here) {
        first = received->offset(one.from);
      } else {
        longest = std::max(longest, std::min(bytes, segment));
      }
      ranges.push_back({first, {bytes, segment}});
    }
    engine->prepare({}, ranges,
                    {MPI_BYTE, 1, routed.message, bound.options.check_sizes ? &*call : nullptr});
    std::vector<std::uint64_t> ends;
    for (std::size_t tree = 0; tree < engine->transport.roles().size(); ++tree) {
      ends.push_back(engine->flows.segments_of(tree));
    }
    store = std::make_shared<RoutingStore>(RoutedBytes{sent->bytes(), received->bytes()},
                                           engine->transport.roles(), engine->transport.windows(),
                                           ends, longest, scratch);
    sent->pack_all();
  } catch (const InputError& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse(fmt::format("rank {}: no memory for a message of {} bytes", bound.rank, routed.message));
  }
  const std::uint64_t own = routed.sent.counts[here] * routed.shape.bytes;
  if (own != 0 && !routed.own_is_there) {
    std::memcpy(received->bytes() + received->offset(here), sent->bytes() + sent->offset(here),
                own);
  }
  const auto but = routed.own_is_there ? std::optional(here) : std::nullopt;
  carry_out({engine.get(), store,
             [lists = routed.lists, sent, received, but] { received->unpack_all(but); }});
}

void Collective::State::route_with_root(const void* sendbuf, void* recvbuf, const Parts& given,
                                        MPI_Datatype type) {
  const bool scatters = bound.plan.operation == planner::Operation::kScatter;
  const bool is_root = bound.rank == bound.root;
  void* const send = const_cast<void*>(sendbuf);
  void* const own_part = scatters ? recvbuf : send;
  const bool in_place = own_part == MPI_IN_PLACE;
  if (type == MPI_DATATYPE_NULL) refuse("MPI_DATATYPE_NULL is not a type");
  if (in_place && !is_root) refuse("MPI_IN_PLACE on a rank that is not the root");
  if (is_root && (scatters ? send : recvbuf) == MPI_IN_PLACE) {
    refuse("MPI_IN_PLACE is for the root's own part, not for the parts of all ranks");
  }
  const ElementShape shape = element_shape_of(type);
  const std::size_t ranks = bound.comm.size();
  struct Lists {
    PlacedParts placed;
    OnlyPart own;
    OnlyPart none;
  };
  const auto root = static_cast<std::size_t>(bound.root);
  const auto lists = std::make_shared<Lists>(Lists{
      PlacedParts(is_root ? given : Parts{given.counts, {}}), {ranks, root, 0}, {ranks, root, 0}});
  const Parts parts = lists->placed.parts();
  if (const std::string fault = parts_fault(parts, ranks, shape); !fault.empty()) refuse(fault);
  const auto bytes_at = [&](std::size_t rank) { return parts.counts[rank] * shape.bytes; };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Route one = scatters ? Route{root, rank} : Route{rank, root};
    if (rank == root || bytes_at(rank) == 0 || routes->exists(one)) continue;
    refuse(no_path(one, bytes_at(rank)));
  }
  if (!in_place) lists->own.counts[root] = parts.counts[static_cast<std::size_t>(bound.rank)];
  const Parts all = is_root ? parts : lists->none.parts();
  call.emplace(parts.total() * shape.bytes, parts.kind());
  route({.sendbuf = in_place && !scatters ? nullptr : send,
         .recvbuf = in_place && scatters ? nullptr : recvbuf,
         .sent = scatters ? all : lists->own.parts(),
         .received = scatters ? lists->own.parts() : all,
         .type = type,
         .shape = shape,
         .message = parts.total() * shape.bytes,
         .own_is_there = in_place,
         .bytes_of = [&](const Route& one) { return bytes_at(scatters ? one.to : one.from); },
         .lists = lists});
}

void Collective::State::alltoall(const void* sendbuf, void* recvbuf, std::size_t count,
                                 MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) refuse("MPI_DATATYPE_NULL is not a type");
  if (recvbuf == MPI_IN_PLACE) refuse("MPI_IN_PLACE is for sendbuf of an alltoall");
  const ElementShape shape = element_shape_of(type);
  const std::size_t ranks = bound.comm.size();
  const std::vector<std::size_t> counts(ranks, count);
  std::string fault = size_fault(count, ranks * std::max<std::size_t>(shape.bytes, 1));
  const auto placed = std::make_shared<PlacedParts>(Parts{counts, {}});
  if (fault.empty()) fault = parts_fault(placed->parts(), ranks, shape);
  if (!fault.empty()) refuse(fault);
  const std::uint64_t bytes = count * shape.bytes;
  if (bytes != 0 && routes->missing()) refuse(no_path(*routes->missing(), bytes));
  const bool in_place = sendbuf == MPI_IN_PLACE;
  call.emplace(bytes * ranks);
  route({.sendbuf = in_place ? recvbuf : const_cast<void*>(sendbuf),
         .recvbuf = recvbuf,
         .sent = placed->parts(),
         .received = placed->parts(),
         .type = type,
         .shape = shape,
         .message = bytes * ranks,
         .own_is_there = in_place,
         .same_memory = in_place,
         .bytes_of = [&](const Route&) { return bytes; },
         .lists = placed});
}

void Collective::State::alltoallv(const void* sendbuf, const Parts& sent, void* recvbuf,
                                  const Parts& received, MPI_Datatype type) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const std::size_t ranks = bound.comm.size();
  struct Lists {
    PlacedParts to_here;
    PlacedParts from_here;
  };
  const auto lists = std::make_shared<Lists>(
      Lists{PlacedParts(received), PlacedParts(in_place ? received : sent)});
  const auto& [to_here, from_here] = *lists;
  std::string fault;
  if (type == MPI_DATATYPE_NULL) fault = "MPI_DATATYPE_NULL is not a type";
  if (recvbuf == MPI_IN_PLACE) fault = "MPI_IN_PLACE is for sendbuf of an alltoall";
  ElementShape shape{};
  if (fault.empty()) {
    shape = element_shape_of(type);
    fault = parts_fault(from_here.parts(), ranks, shape);
  }
  if (fault.empty()) fault = parts_fault(to_here.parts(), ranks, shape);
  const std::vector<std::uint64_t> bytes =
      shared_counts(from_here.parts(), to_here.parts(), shape.bytes, fault);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Route one{i / ranks, i % ranks};
    if (bytes[i] == 0 || one.from == one.to || routes->exists(one)) continue;
    throw InputError(no_path(one, bytes[i]));
  }
  const std::uint64_t message =
      std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) / ranks;
  call.emplace(message);
  route({.sendbuf = in_place ? recvbuf : const_cast<void*>(sendbuf),
         .recvbuf = recvbuf,
         .sent = from_here.parts(),
         .received = to_here.parts(),
         .type = type,
         .shape = shape,
         .message = message,
         .own_is_there = in_place,
         .same_memory = in_place,
         .bytes_of = [&](const Route& one) { return bytes[one.from * ranks + one.to]; },
         .lists = lists});
}

std::vector<std::uint64_t> Collective::State::shared_counts(const Parts& sent,
                                                            const Parts& received,
                                                            std::size_t element_bytes,
                                                            const std::string& fault) const {
  using Values = std::vector<std::uint64_t>;
  struct Words {
    Values mine;  // whether this rank refuses; what it sends to each rank; what it expects of each
    Values all;
  };
  const std::size_t ranks = bound.comm.size();
  const std::size_t length = 1 + 2 * ranks;
  const auto words = std::make_shared<Words>();
  words->mine.resize(length);
  words->mine[0] = fault.empty() ? 0 : 1;
  for (std::size_t rank = 0; fault.empty() && rank < ranks; ++rank) {
    words->mine[1 + rank] = sent.counts[rank] * element_bytes;
    words->mine[1 + ranks + rank] = received.counts[rank] * element_bytes;
  }
  words->all.resize(length * ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  check(
      MPI_Iallgather(words->mine.data(), static_cast<int>(length), MPI_UINT64_T, words->all.data(),
                     static_cast<int>(length), MPI_UINT64_T, bound.comm.get(), &request),
      "MPI_Iallgather");
  Timeout(bound.options.timeout).wait(request, "sharing the counts of the ranks", words);
  const auto word = [&](std::size_t rank, std::size_t at) {
    return words->all[rank * length + at];
  };
  if (!fault.empty()) throw InputError(fault);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (word(rank, 0) != 0) throw InputError("another rank refused this call");
  }
  Values bytes;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      bytes.push_back(word(from, 1 + to));
      const std::uint64_t expected = word(to, 1 + ranks + from);
      if (bytes.back() == expected) continue;
      throw InputError(fmt::format("rank {} sends {} to rank {}, which expects {}", from,
                                   counted(bytes.back(), "byte"), to, expected));
    }
  }
  return bytes;
}

}  // namespace espalier::runtime
