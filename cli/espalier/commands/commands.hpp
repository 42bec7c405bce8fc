// The commands of `espalier`, one file each in this folder.
#pragma once

#include <span>
#include <string_view>

#include "cli/common/arguments.hpp"

namespace espalier::cli {

void add_plan(Arguments root);
void add_compare(Arguments root);
void add_bound(Arguments root);
void add_explain(Arguments root);
void add_verify(Arguments root);
void add_simulate(Arguments root);
void add_predict(Arguments root);
void add_decide(Arguments root);
void add_fit(Arguments root);
void add_convert(Arguments root);
void add_export(Arguments root);
void add_show(Arguments root);
void add_report(Arguments root);
void add_generate(Arguments root);  // one command per family
void add_run(Arguments root);
void add_study(Arguments root);  // one per family, `files`, and
void add_study_two_trees(Arguments& study);
void add_list(Arguments root);
void add_doctor(Arguments root);

// A family that `generate` makes.
struct FamilyEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  void (*add)(Arguments& generate, const FamilyEntry& entry);
};
std::span<const FamilyEntry> families();

}  // namespace espalier::cli
