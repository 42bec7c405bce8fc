// A study's folder while it runs. study.json contains the settings, done.jsonl one line for every
// finished unit. An interrupted run resumes from these files.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "experiments/experiment.hpp"
#include "support/pinned.hpp"

namespace espalier::experiments {

// The contents of study.json: all settings on which the results depend.
Json settings_of(const Study& study);

// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): Pinned deletes the others
class Journal : public Pinned {
 public:
  // Loads the results of an earlier run with the same settings in the folder, which need not exist;
  // `restart` instead deletes what a study has written there. Throws InputError if the folder has a
  // study with other settings or an invalid journal, is in use, or cannot be written.
  Journal(const Study& study, const std::string& folder, bool restart);
  ~Journal();

  // By unit; complete if it has study.unit_count() entries.
  [[nodiscard]] const std::map<std::size_t, Result>& done() const { return done_; }
  // Throws InputError if the line cannot be written completely.
  void append(std::size_t unit, Result&& result);

 private:
  void load_results(const Study& study);

  std::string file_;
  int descriptor_ = -1;
  std::map<std::size_t, Result> done_;
};

}  // namespace espalier::experiments
