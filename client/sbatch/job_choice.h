// A row of an advice with everything needed to submit it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/api/answer_reader.h"
#include "client/sbatch/sbatch_options.h"
#include "client/sbatch/sbatch_script.h"
#include "common/api/advice.h"
#include "common/base/error.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::client {

struct Choice {
  api::Answer<api::Advice> advice;
  api::Strategy strategy;
  nlohmann::json row;  // the strategy's JSON as received
  JobScript script;
  std::vector<std::string> arguments;  // for sbatch
  bool limit_is_users = false;         // the time limit is the file's or the flags'
};

struct ChoiceRequest {
  int64_t pick = 0;                    // rank of the row; 0: the first
  SbatchOptions fixed;                 // from flags and after `--`
  std::vector<std::string> passed_on;  // arguments after `--`, as written
  std::string of_array = {};           // all tasks of the sweep of which `fixed` has a part
  std::string sweep_folder = {};       // of the sweep, absolute; "": none
};

// The requested row of `answer` as a job. Errors: no such row, sbatch options that the daemon may
// not set, or a script that cannot be made (with the file's line).
Result<Choice> Choose(const ChoiceRequest& request, const TrainFile& file,
                      const nlohmann::json& answer, const std::string& job_template);

// The jobs of a sweep, one for each share of `answer`: arrays of which each has a part of the
// tasks. Without a sweep, or with a row picked, Choose()'s one.
Result<std::vector<Choice>> ChooseAll(const ChoiceRequest& request, const TrainFile& file,
                                      const nlohmann::json& answer,
                                      const std::string& job_template);

}  // namespace gpuadvise::client
