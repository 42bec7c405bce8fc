#include "runtime/transport/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/api/rank_mapping.hpp"
#include "runtime/transport/comm_facts.hpp"
#include "runtime/transport/mpi_error.hpp"
#include "support/files.hpp"

namespace espalier::runtime {
namespace {

constexpr std::string_view kAgreeing = "waiting for all ranks to agree";

}  // namespace

void collective_try(MPI_Comm comm, const std::function<void()>& act, bool with_rank,
                    Timeout timeout) {
  const int rank = rank_in(comm);
  std::string line;
  int status = 0;
  try {
    act();
  } catch (const MpiError&) {
    throw;  // MPI can then not be relied on to inform the other ranks
  } catch (const Error& error) {
    line = error.what();
    status = static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    line = "out of memory";
    status = static_cast<int>(ExitStatus::kInternalFault);
  } catch (const std::exception& error) {
    line = error.what();
    status = static_cast<int>(ExitStatus::kInternalFault);
  } catch (...) {
    line = "unknown internal error";
    status = static_cast<int>(ExitStatus::kInternalFault);
  }
  // An internal error concerns its rank, which the others cannot know otherwise.
  if (with_rank ? status != 0 : status == static_cast<int>(ExitStatus::kInternalFault)) {
    line = fmt::format("rank {} on {}: {}", rank, host_name(), line);
  }
  struct Words {
    int mine;
    int first;
    std::array<int, 2> header;
    std::string line;
  };
  const auto words = std::make_shared<Words>(
      Words{status != 0 ? rank : INT_MAX, INT_MAX, {status, static_cast<int>(line.size())}, line});
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(&words->mine, &words->first, 1, MPI_INT, MPI_MIN, comm, &request),
        "MPI_Iallreduce");
  timeout.wait(request, kAgreeing, words);
  const int first = words->first;
  if (first == INT_MAX) return;

  check(MPI_Ibcast(words->header.data(), 2, MPI_INT, first, comm, &request), "MPI_Ibcast");
  timeout.wait(request, kAgreeing, words);
  const int length = words->header[1];
  words->line.resize(static_cast<std::size_t>(length));
  check(MPI_Ibcast(words->line.data(), length, MPI_CHAR, first, comm, &request), "MPI_Ibcast");
  timeout.wait(request, kAgreeing, words);
  const auto first_status = static_cast<ExitStatus>(words->header[0]);
  if (first_status == ExitStatus::kBadInput) throw InputError(words->line);
  if (first_status == ExitStatus::kCheckFailed) throw CheckFailed(words->line);
  throw Error(first_status, words->line);
}

void act_on_some(MPI_Comm comm, bool takes_part, const std::function<void()>& act) {
  constexpr auto kNap = std::chrono::milliseconds(1);
  collective_try(comm, [&] {
    std::exception_ptr failure;
    try {
      if (takes_part) act();
    } catch (const MpiError&) {
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
    MPI_Request all_ended = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(comm, &all_ended), "MPI_Ibarrier");
    for (int is_done = 0; is_done == 0;) {
      check(MPI_Test(&all_ended, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_done == 0) std::this_thread::sleep_for(kNap);
    }
    if (failure) std::rethrow_exception(failure);
  });
}

void share_text(MPI_Comm comm, int from, std::string& text) {
  // PMPI, to bypass the preloaded library, which replaces MPI_Bcast.
  constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // MPI counts in int
  std::uint64_t length = text.size();
  check(PMPI_Bcast(&length, 1, MPI_UINT64_T, from, comm), "MPI_Bcast");
  text.resize(length);
  for (std::size_t start = 0; start < text.size(); start += kAtOnce) {
    const std::size_t bytes = std::min(kAtOnce, text.size() - start);
    check(PMPI_Bcast(text.data() + start, static_cast<int>(bytes), MPI_CHAR, from, comm),
          "MPI_Bcast");
  }
}

std::string share_file(MPI_Comm comm, const std::string& file) {
  std::string text;
  collective_try(comm, [&] {
    if (rank_in(comm) == 0) text = read_text(file);
  });
  share_text(comm, 0, text);
  return text;
}

bool all_equal(MPI_Comm comm, std::span<const std::uint64_t> values, Timeout timeout) {
  // The maxima of a value and of its complement give its largest and smallest value.
  using Values = std::vector<std::uint64_t>;
  struct Both {
    Values mine;
    Values all;
  };
  const auto both = std::make_shared<Both>(Both{Values(values.begin(), values.end()), {}});
  for (const std::uint64_t value : values) both->mine.push_back(~value);
  both->all.resize(both->mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(both->mine.data(), both->all.data(), static_cast<int>(both->mine.size()),
                       MPI_UINT64_T, MPI_MAX, comm, &request),
        "MPI_Iallreduce");
  timeout.wait(request, kAgreeing, both);
  const Values& all = both->all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (all[i] != ~all[i + values.size()]) return false;
  }
  return true;
}

std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& mine) {
  const int ranks = size_of(comm);
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::vector<int> starts;
  int total = 0;
  for (const int one : lengths) {
    starts.push_back(total);
    total += one;
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  check(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(),
                       MPI_CHAR, comm),
        "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

}  // namespace espalier::runtime
