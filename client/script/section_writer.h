// The lines of a train.yaml's section that is being made from a script, with the report on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/script/script_report.h"
#include "client/script/training_flags.h"

namespace gpuadvise::client {

// Values given by the user; they override the script.
struct ScriptHints {
  std::string model;  // a preset; "": none
  std::optional<int64_t> max_steps;
  std::optional<int64_t> num_samples;  // in the data set
  std::optional<int64_t> effective_batch_size;
};

class SectionWriter {
 public:
  explicit SectionWriter(ScriptReport& to) : report(to) {}

  void Key(const std::string& name, const std::string& value);
  // Writes a key and reports it.
  void Take(const std::string& name, const std::string& value);
  // A whole number of a setting, or what to write where it is none.
  void WriteNumber(const std::string& key, const TrainingFlags& flags);
  bool IsWritten(const std::string& key) const;

  std::string yaml;
  ScriptReport& report;
};

}  // namespace gpuadvise::client
