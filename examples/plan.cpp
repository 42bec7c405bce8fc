// Plans a collective on a network, checks the plan and writes it; `espalier-mpi` executes it.
//   ./plan cluster.json lyon broadcast plan.json
#include <algorithm>
#include <espalier/espalier.hpp>
#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: plan NETWORK ROOT broadcast|reduce|allreduce PLAN\n";
    return 2;
  }
  try {
    const espalier::Platform network = espalier::read_platform(argv[1]);
    const espalier::Plan plan = espalier::make_plan(
        network, {.operation = espalier::parse_operation(argv[3]), .root = argv[2]});
    const espalier::VerifyReport report = espalier::verify(plan, network);
    for (const std::string& fault : report.faults) std::cerr << fault << "\n";
    if (!report.faults.empty()) return 5;
    espalier::write_plan(argv[4], plan);
    std::cout << espalier::format_rate(plan.throughput) << " of at most "
              << espalier::format_rate(*report.bound) << ", in " << report.trees << " trees\n";
  } catch (const espalier::Error& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.status());
  }
}
