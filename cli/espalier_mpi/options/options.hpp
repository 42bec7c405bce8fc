// The options of all commands of espalier-mpi that run one plan, and the program's command line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/arguments.hpp"
#include "cli/espalier_mpi/options/running_options.hpp"
#include "support/quantities.hpp"

namespace espalier::cli {

struct RunArguments {
  std::string plan{};                   // file; empty if one of the next two is given
  std::string decisions{};              // file of a decision table
  std::string algorithm{};              // for which the topology of the ranks is enough
  std::string groups{};                 // file of the hosts' groups; empty: none
  std::optional<std::uint64_t> root{};  // of a plan for these two; unset: 0
  std::optional<Bytes> given_message{};
  bool verify = false;
  std::size_t repeat = 1;
  bool json = false;
  bool quiet = false;
  bool compare = false;              // time MPI's own function too
  std::string trace{};               // trace file; empty: none
  std::string page{};                // file of a page about the run; empty: none
  std::string platform{};            // file of the network that the page shows; empty: none
  std::vector<std::string> tuned{};  // at most one file of tuned segments
  RunningOptions running{};

  // All but --verify and the comparison, whose meanings differ.
  template <class Options>
  void add_to(Arguments& app, const Options& defaults) {
    add_source_to(app);
    running.add_to(app, defaults);
    running.add_segment_to(app);
  }
  [[nodiscard]] bool has_no_plan() const {
    return plan.empty() && decisions.empty() && algorithm.empty();
  }
  // Throws InputError for a trace or a page that would go to standard output.
  void check_records() const;
  // Throws InputError for options that do not fit each other. options: with those of `running`.
  void check(const runtime::CollectiveOptions& options) const;
  [[nodiscard]] Bytes message() const {
    return given_message.value_or(Bytes{std::uint64_t{64} << 20});
  }

 private:
  void add_source_to(Arguments& app);
  void check_algorithm() const;
};

void add_bcast(Arguments root, const Job& job);
void add_collectives(Arguments root, const Job& job);  // all operations but a broadcast
void add_bench(Arguments root, const Job& job);
void add_tune(Arguments root, const Job& job);
void add_probe(Arguments root, const Job& job);
void add_doctor(Arguments root, const Job& job);
void add_reorder(Arguments root, const Job& job);

// The program's command line; `job` is where its commands run.
std::unique_ptr<CommandLine> make_command_line(const Job& job);

}  // namespace espalier::cli
