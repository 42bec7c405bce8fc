// The extension module espalier._espalier: the planner for the package's Python files, which give
// it plain values and make dataclasses of what it returns.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/check/plan_on_platform.hpp"
#include "planner/check/verify.hpp"
#include "platforms/core/warnings.hpp"
#include "platforms/formats/formats.hpp"
#include "platforms/formats/text/prices.hpp"
#include "python/common/errors.hpp"
#include "python/planning/interrupts.hpp"
#include "python/planning/problem.hpp"
#include "python/planning/results.hpp"
#include "render/pictures.hpp"
#include "simulate/model/overhead.hpp"
#include "simulate/simulate.hpp"
#include "support/files.hpp"

namespace espalier::python {

namespace {

using platforms::Platform;

// Options of the readers by the command line's names.
platforms::ReadOptions read_options(const std::map<std::string, std::string>& texts,
                                    const std::vector<std::string>& class_rates,
                                    std::uint64_t classes_seed) {
  static const std::map<std::string, std::string platforms::ReadOptions::*> kMembers{
      {"format", &platforms::ReadOptions::format},
      {"tier", &platforms::ReadOptions::tier},
      {"latencies", &platforms::ReadOptions::latencies},
      {"classes", &platforms::ReadOptions::classes},
      {"missing_bandwidth", &platforms::ReadOptions::missing_bandwidth},
      {"table", &platforms::ReadOptions::table},
      {"osu_size", &platforms::ReadOptions::osu_size},
      {"level_bandwidth", &platforms::ReadOptions::level_bandwidth},
      {"link_speed_unit", &platforms::ReadOptions::link_speed_unit},
      {"topology", &platforms::ReadOptions::topology},
      {"name", &platforms::ReadOptions::name}};
  platforms::ReadOptions options;
  options.classes_seed = classes_seed;
  for (const auto& [name, text] : texts) options.*kMembers.at(name) = text;
  for (const std::string& text : class_rates) {
    options.class_rates.push_back(platforms::parse_class_rate(text));
  }
  return options;
}

// A platform and the notes of its reader.
using Read = std::pair<std::shared_ptr<Platform>, std::vector<std::string>>;

// text: of the file, which is then only named; unset: it is read.
Read read_platform(const std::optional<std::string>& text, const std::string& file,
                   const std::map<std::string, std::string>& texts,
                   const std::vector<std::string>& class_rates, std::uint64_t classes_seed) {
  const platforms::ReadOptions options = read_options(texts, class_rates, classes_seed);
  const pybind11::gil_scoped_release released;
  platforms::ReadResult result = text ? platforms::parse_platform(*text, file, options)
                                      : platforms::read_platform(file, options);
  return {std::make_shared<Platform>(std::move(result.platform)), std::move(result.notes)};
}

Read with_prices(const Platform& platform, const std::string& file) {
  std::vector<std::string> notes;
  auto priced = std::make_shared<Platform>(
      platforms::with_price_table(platform, read_text(file), display_name(file), notes));
  return {std::move(priced), std::move(notes)};
}

std::shared_ptr<Platform> with_caps(const Platform& platform, const std::vector<std::string>& send,
                                    const std::vector<std::string>& receive) {
  const auto parsed = [](const std::vector<std::string>& texts) {
    std::vector<platforms::PrefixCap> caps;
    for (const std::string& text : texts) caps.push_back(platforms::parse_prefix_cap(text));
    return caps;
  };
  return std::make_shared<Platform>(platforms::with_caps(platform, parsed(send), parsed(receive)));
}

planner::Plan parse_plan(const std::string& text, const std::string& file) {
  planner::Plan plan = planner::parse_plan(text, file, planner::Roots::kAny);
  planner::check_structure(plan, file);
  return plan;
}

planner::VerifyReport verify(const planner::Plan& plan, const Platform& platform, bool prove,
                             const Options& options) {
  return unlocked([&](Clock& clock) {
    return planner::verify(plan, platform, {.prove = prove, .limits = options.limits(clock)});
  });
}

// Python's lock is kept: Graphviz has global state.
std::string plan_svg(const planner::Plan& plan, const Platform& platform) {
  const planner::VerifyReport report = planner::verify(plan, platform, {.prove = false});
  if (!report.faults.empty()) throw CheckFailed("the plan: " + report.faults.front());
  const Platform network = planner::platform_of(plan, platform);
  return render::draw(render::plan_picture(plan, network, planner::loads_of(plan, network)), "svg");
}

// What simulate() of espalier/planning.py takes.
struct SimulationOptions {
  simulate::Options how{};
  double overhead_s = 0;
  std::optional<double> time_limit_s{};
  double most_sends = 0;  // without a time limit
};

// None: the message has more sends than most_sends.
pybind11::object simulate_one(const planner::Plan& plan, const Platform& platform,
                              std::uint64_t message, const SimulationOptions& options) {
  struct Result {
    simulate::Simulation simulation;
    std::vector<std::string> resources;
  };
  const auto run = [&](Clock& clock) -> std::optional<Result> {
    if (options.overhead_s < 0) throw InputError("overhead must not be negative");
    const Platform network =
        simulate::with_overhead(planner::platform_of(plan, platform), Seconds{options.overhead_s});
    const simulate::Simulator simulator(plan, network, options.how);
    const bool is_short =
        simulator.follows_schedule() || simulator.sends_of({message}) <= options.most_sends;
    if (!options.time_limit_s && !is_short) return std::nullopt;
    const auto limit =
        options.time_limit_s ? std::optional(Seconds{*options.time_limit_s}) : std::nullopt;
    DeadlineWatch watch{Deadline(limit, &clock)};
    constexpr std::uint64_t kSendsBetweenChecks = 256;
    const auto observe = [&](const simulate::Send& /*send*/) {
      watch.require(kSendsBetweenChecks);
    };
    return Result{simulator.run({message}, simulator.follows_schedule()
                                               ? simulate::OnSend()
                                               : simulate::OnSend(observe, kSendsBetweenChecks)),
                  simulate::resource_names(simulator, plan, network)};
  };
  const std::optional<Result> result = unlocked(run);
  if (!result) return pybind11::none();
  return result_of(result->simulation, plan, result->resources);
}

void add_platform(py::module_& module) {
  py::class_<Platform, std::shared_ptr<Platform>>(module, "Platform")
      .def("write", &platforms::write_platform, py::arg("format"))
      .def("warnings", [](const Platform& self) { return platforms::warnings(self); })
      .def("svg", [](const Platform& self) {
        return render::draw(render::platform_picture(self), "svg");
      });
  module.def("read_platform", &read_platform, py::arg("text"), py::arg("file"), py::arg("texts"),
             py::arg("class_rates"), py::arg("classes_seed"));
  module.def("with_prices", &with_prices, py::arg("platform"), py::arg("file"));
  module.def("with_caps", &with_caps, py::arg("platform"), py::arg("send"), py::arg("receive"));
}

void add_options(py::module_& module) {
  py::class_<Options>(module, "Options")
      .def(py::init<>())
      .def_readwrite("gap", &Options::gap)
      .def_readwrite("time_limit_s", &Options::time_limit_s)
      .def_readwrite("max_trees", &Options::max_trees)
      .def_readwrite("max_depth", &Options::max_depth)
      .def_readwrite("max_latency_s", &Options::max_latency_s)
      .def_readwrite("chains", &Options::chains)
      .def_readwrite("message_bytes", &Options::message_bytes)
      .def_readwrite("guided_by", &Options::guided_by)
      .def_readwrite("overhead_s", &Options::overhead_s)
      .def_readwrite("compute_Bps", &Options::compute_Bps)
      .def_readwrite("budget_per_GB", &Options::budget_per_GB)
      .def_readwrite("deadline_s", &Options::deadline_s)
      .def_readwrite("schedule", &Options::schedule);
}

void add_plan(py::module_& module) {
  py::class_<planner::Plan>(module, "Plan")
      .def("to_json", &planner::to_json)
      .def("fields", [](const planner::Plan& self) { return fields_of(self); })
      .def("svg", &plan_svg, py::arg("platform"));
  module.def("parse_plan", &parse_plan, py::arg("text"), py::arg("file"));
}

void add_problem(py::module_& module) {
  const auto pair = [](Made made) {
    py::dict facts = facts_of(made);
    return std::pair(std::move(made.plan), std::move(facts));
  };
  py::class_<Problem>(module, "Problem")
      .def(py::init([](std::shared_ptr<Platform> platform, std::string operation,
                       std::optional<std::string> source, std::string model,
                       std::optional<std::uint64_t> segment_bytes, bool latency_occupies,
                       std::vector<double> counts, std::vector<std::string> to,
                       std::optional<std::vector<std::string>> helpers) {
             return Problem(
                 std::move(platform),
                 {std::move(operation), std::move(source), std::move(model), segment_bytes,
                  latency_occupies, std::move(counts), std::move(to), std::move(helpers)});
           }),
           py::arg("platform"), py::arg("operation"), py::arg("source"), py::arg("model"),
           py::arg("segment_bytes"), py::arg("latency_occupies"), py::arg("counts"), py::arg("to"),
           py::arg("helpers"))
      .def_static(
          "of",
          [](const planner::Plan& plan, std::shared_ptr<Platform> platform) {
            return Problem::of(plan, std::move(platform));
          },
          py::arg("plan"), py::arg("platform"))
      .def("algorithms", &Problem::algorithms, py::arg("list"))
      .def(
          "plan",
          [pair](const Problem& self, const std::string& algorithm, const Options& options) {
            return pair(self.plan(algorithm, options));
          },
          py::arg("algorithm"), py::arg("options"))
      .def(
          "choose",
          [pair](const Problem& self, const std::optional<std::string>& algorithm,
                 const Options& options) { return pair(self.choose(algorithm, options)); },
          py::arg("algorithm"), py::arg("options"))
      .def(
          "plan_along",
          [pair](const Problem& self, const std::string& algorithm,
                 const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                 const Options& options) {
            std::vector<planner::PlanEdge> tree;
            for (const auto& [parent, child] : edges) tree.push_back({parent, child});
            return pair(self.plan_along(algorithm, tree, options));
          },
          py::arg("algorithm"), py::arg("edges"), py::arg("options"))
      .def(
          "bound",
          [](const Problem& self, const Options& options, std::size_t top) {
            return result_of(self.bound(options, top), self.network());
          },
          py::arg("options"), py::arg("top"))
      .def(
          "explain",
          [](const Problem& self, const Options& options, std::size_t top,
             const planner::Plan* plan) {
            return result_of(self.explain(options, top, plan), self.network());
          },
          py::arg("options"), py::arg("top"), py::arg("plan").none(true))
      .def(
          "rank",
          [](const Problem& self, const std::vector<std::string>& sources, const Options& options) {
            return result_of(self.rank(sources, options), self.network());
          },
          py::arg("sources"), py::arg("options"));
}

void add_checks(py::module_& module) {
  module.def(
      "verify",
      [](const planner::Plan& plan, const Platform& platform, bool prove, const Options& options) {
        return result_of(verify(plan, platform, prove, options));
      },
      py::arg("plan"), py::arg("platform"), py::arg("prove"), py::arg("options"));
  module.def(
      "simulate",
      [](const planner::Plan& plan, const Platform& platform, std::uint64_t message_bytes,
         std::optional<std::uint64_t> segment_bytes, std::optional<std::uint64_t> window,
         std::optional<std::uint64_t> receives, std::optional<double> compute_Bps,
         bool follow_schedule, bool rounds, bool until_received, const std::string& sharing,
         double overhead_s, std::optional<double> time_limit_s, double most_sends) {
        SimulationOptions options{{}, overhead_s, time_limit_s, most_sends};
        if (segment_bytes) options.how.segment = Bytes{*segment_bytes};
        options.how.window = window;
        options.how.receives = receives.value_or(options.how.receives);
        if (compute_Bps) options.how.compute = BytesPerSecond{*compute_Bps};
        options.how.follow_schedule = follow_schedule;
        options.how.rounds = rounds;
        options.how.until_received = until_received;
        options.how.sharing = simulate::parse_sharing(sharing);
        return simulate_one(plan, platform, message_bytes, options);
      },
      py::arg("plan"), py::arg("platform"), py::arg("message_bytes"), py::arg("segment_bytes"),
      py::arg("window"), py::arg("receives"), py::arg("compute_Bps"), py::arg("follow_schedule"),
      py::arg("rounds"), py::arg("until_received"), py::arg("sharing"), py::arg("overhead_s"),
      py::arg("time_limit_s"), py::arg("most_sends"));
}

void add_texts(py::module_& module) {
  module.def(
      "parse_size", [](const std::string& text) { return parse_size(text).value; },
      py::arg("text"));
  module.def(
      "parse_duration", [](const std::string& text) { return parse_duration(text).value; },
      py::arg("text"));
  module.def(
      "parse_rate", [](const std::string& text) { return parse_rate(text).value; },
      py::arg("text"));
  module.def(
      "format_rate", [](double rate_Bps) { return format_rate({rate_Bps}); }, py::arg("rate_Bps"));
  module.def("write_text", &write_text, py::arg("file"), py::arg("contents"));
  module.def("read_text", &read_text, py::arg("file"));
  module.def("names", [] {
    const auto names = [](const auto& entries) {
      std::vector<std::string_view> list;
      for (const auto& entry : entries) list.push_back(entry.name);
      return list;
    };
    std::vector<std::string_view> operations;
    std::vector<std::string_view> rooted;
    for (const planner::Operation one : planner::kEveryOperation) {
      operations.push_back(planner::name_of(one));
      if (planner::needs_root(one)) rooted.push_back(planner::name_of(one));
    }
    std::vector<std::string_view> exponential;
    for (const planner::AlgorithmEntry& entry : planner::algorithms()) {
      if (entry.exponential) exponential.push_back(entry.name);
    }
    return std::map<std::string, std::vector<std::string_view>>{
        {"algorithms", names(planner::algorithms())},
        {"exponential", exponential},  // of the algorithms, those that only a time limit ends
        {"formats", names(platforms::formats())},
        {"models", names(platforms::models())},
        {"operations", operations},
        {"rooted", rooted}};  // of the operations, those that need a source
  });
}

}  // namespace

}  // namespace espalier::python

PYBIND11_MODULE(_espalier, module) {
  namespace ours = espalier::python;
  ours::translate_errors();
  ours::add_platform(module);
  ours::add_options(module);
  ours::add_plan(module);
  ours::add_problem(module);
  ours::add_checks(module);
  ours::add_texts(module);
}
