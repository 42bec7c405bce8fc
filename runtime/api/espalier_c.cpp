#include <exception>
#include <string>

#include "runtime/api/broadcast.hpp"
#include "runtime/api/espalier.h"
#include "runtime/api/reduction.hpp"
#include "support/errors.hpp"

struct espalier_broadcast {
  espalier::runtime::Broadcast broadcast;
};

struct espalier_reduction {
  espalier::runtime::Reduction reduction;
};

namespace {

namespace runtime = espalier::runtime;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

// Runs `act` and converts an exception into a status and a text.
template <class Act>
espalier_status guarded(const Act& act) noexcept {
  try {
    last_error().clear();
    act();
    return ESPALIER_OK;
  } catch (const espalier::Error& error) {
    last_error() = error.what();
    switch (error.status()) {
      case espalier::ExitStatus::kBadInput:
        return ESPALIER_BAD_INPUT;
      case espalier::ExitStatus::kLimitReached:
        return ESPALIER_TIMED_OUT;
      default:
        return ESPALIER_INTERNAL_FAULT;
    }
  } catch (const std::exception& error) {
    last_error() = error.what();
  } catch (...) {
    last_error() = "unknown internal error";
  }
  return ESPALIER_INTERNAL_FAULT;
}

runtime::BroadcastOptions options_from(const espalier_options* options) {
  runtime::BroadcastOptions result;
  if (options == nullptr) return result;
  result.sends_in_flight = options->sends_in_flight;
  result.receives_in_flight = options->receives_in_flight;
  result.ports = options->ports;
  result.direct_copies = options->direct_copies != 0;
  result.check_sizes = options->check_sizes != 0;
  result.rounds = options->rounds != 0;
  result.schedule = options->schedule != 0;
  result.segment_bytes = options->slice_bytes;
  if (options->timeout_s != 0) result.timeout = espalier::Seconds{options->timeout_s};
  if (options->mapping == ESPALIER_BY_HOST_NAME) {
    result.mapping = runtime::RankMapping::kByHostName;
  }
  return result;
}

runtime::ReductionOptions reduction_options_from(const espalier_options* options) {
  if (options == nullptr) return {};
  const runtime::BroadcastOptions from = options_from(options);
  if (from.rounds) throw espalier::InputError("rounds are for broadcasts");
  if (from.schedule) throw espalier::InputError("a schedule is for broadcasts");
  if (from.timeout) throw espalier::InputError("a timeout is for broadcasts");
  runtime::ReductionOptions result;
  result.sends_in_flight = from.sends_in_flight;
  result.receives_in_flight = from.receives_in_flight;
  result.ports = from.ports;
  result.mapping = from.mapping;
  result.segment_bytes = from.segment_bytes;
  result.check_sizes = from.check_sizes;
  return result;
}

void require(bool holds, const char* reason) {
  if (!holds) throw espalier::InputError(reason);
}

}  // namespace

extern "C" {

espalier_options espalier_default_options(void) {
  const runtime::BroadcastOptions defaults;
  return {.sends_in_flight = defaults.sends_in_flight,
          .receives_in_flight = defaults.receives_in_flight,
          .ports = defaults.ports,
          .mapping = ESPALIER_BY_ORDER,
          .direct_copies = defaults.direct_copies ? 1 : 0,
          .check_sizes = defaults.check_sizes ? 1 : 0,
          .rounds = defaults.rounds ? 1 : 0,
          .schedule = defaults.schedule ? 1 : 0,
          .slice_bytes = defaults.segment_bytes,
          .timeout_s = 0};
}

espalier_status espalier_broadcast_create(MPI_Comm comm, const char* plan_file,
                                          const espalier_options* options,
                                          espalier_broadcast** broadcast) {
  return guarded([&] {
    require(broadcast != nullptr && plan_file != nullptr, "a null pointer");
    *broadcast = nullptr;
    const auto plan = runtime::share_plan(comm, plan_file);
    *broadcast = new espalier_broadcast{{comm, plan, options_from(options)}};
  });
}

espalier_status espalier_broadcast_create_from_text(MPI_Comm comm, const char* plan_json,
                                                    const espalier_options* options,
                                                    espalier_broadcast** broadcast) {
  return guarded([&] {
    require(broadcast != nullptr && plan_json != nullptr, "a null pointer");
    *broadcast = nullptr;
    const auto plan = espalier::planner::parse_plan(plan_json, "<text>");
    *broadcast = new espalier_broadcast{{comm, plan, options_from(options)}};
  });
}

espalier_status espalier_broadcast_run(espalier_broadcast* broadcast, void* buffer, size_t count,
                                       MPI_Datatype type) {
  return guarded([&] {
    require(broadcast != nullptr, "a null pointer");
    broadcast->broadcast.run(buffer, count, type);
  });
}

int espalier_broadcast_root(const espalier_broadcast* broadcast) {
  return broadcast == nullptr ? -1 : broadcast->broadcast.root();
}

void espalier_broadcast_free(espalier_broadcast** broadcast) {
  if (broadcast == nullptr) return;
  delete *broadcast;
  *broadcast = nullptr;
}

espalier_status espalier_reduction_create(MPI_Comm comm, const char* plan_file,
                                          const espalier_options* options,
                                          espalier_reduction** reduction) {
  return guarded([&] {
    require(reduction != nullptr && plan_file != nullptr, "a null pointer");
    *reduction = nullptr;
    const auto plan = runtime::share_plan(comm, plan_file);
    *reduction = new espalier_reduction{{comm, plan, reduction_options_from(options)}};
  });
}

espalier_status espalier_reduction_create_from_text(MPI_Comm comm, const char* plan_json,
                                                    const espalier_options* options,
                                                    espalier_reduction** reduction) {
  return guarded([&] {
    require(reduction != nullptr && plan_json != nullptr, "a null pointer");
    *reduction = nullptr;
    const auto plan = espalier::planner::parse_plan(plan_json, "<text>");
    *reduction = new espalier_reduction{{comm, plan, reduction_options_from(options)}};
  });
}

espalier_status espalier_reduction_run(espalier_reduction* reduction, const void* sendbuf,
                                       void* recvbuf, size_t count, MPI_Datatype type, MPI_Op op) {
  return guarded([&] {
    require(reduction != nullptr, "a null pointer");
    reduction->reduction.run(sendbuf, recvbuf, count, type, op);
  });
}

int espalier_reduction_root(const espalier_reduction* reduction) {
  return reduction == nullptr ? -1 : reduction->reduction.root();
}

void espalier_reduction_free(espalier_reduction** reduction) {
  if (reduction == nullptr) return;
  delete *reduction;
  *reduction = nullptr;
}

const char* espalier_last_error(void) {
  return last_error().c_str();
}

}  // extern "C"
