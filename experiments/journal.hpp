// A study's folder while it runs: study.json says what is being done, done.jsonl holds a line for
// every unit that is. A run that was cut short goes on from there.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "experiments/experiment.hpp"

namespace espalier::experiments {

// What study.json holds: all that the results depend on.
Json settings_of(const Study& study);

class Journal {
 public:
  // Makes the folder where there is none, and takes up what a former run of the same settings left;
  // `restart` throws that away instead, with all that a study writes there. A torn last line is
  // dropped. Throws InputError when the folder holds a study of other settings (naming the first
  // that differs), a journal that is none, or is in use by another run, or cannot be written.
  Journal(const Study& study, const std::string& folder, bool restart);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  Journal(Journal&&) = delete;
  Journal& operator=(Journal&&) = delete;

  // By unit; complete when it has study.unit_count() entries.
  [[nodiscard]] const std::map<std::size_t, Result>& done() const { return done_; }
  // Throws InputError when the line cannot be written whole.
  void append(std::size_t unit, Result&& result);

 private:
  void take_up(const Study& study);

  std::string file_;
  int descriptor_ = -1;
  std::map<std::size_t, Result> done_;
};

}  // namespace espalier::experiments
