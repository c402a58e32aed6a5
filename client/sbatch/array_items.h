// Elements of bash arrays that a command takes from the setup.
//
// A job runs its command in a shell of its own, and bash cannot export an array: there
// ${lrs[$SLURM_ARRAY_TASK_ID]} would be empty. Each such element becomes a variable of its own,
// which the setup sets last. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct ArrayItem {
  std::string reference;  // "${lrs[$SLURM_ARRAY_TASK_ID]}", as in the command
  std::string variable;   // "GPUADVISE_ITEM_1"
};

// Of `spec`'s command, each reference once.
std::vector<ArrayItem> FindArrayItems(const nlohmann::json& spec);

// Errors: kBadInput at /command where it needs a whole array of the setup, or an element that only
// the command itself can choose.
Result<void> CheckArrays(const nlohmann::json& spec);

// `command` with the variables in place of the references.
std::string WithItems(std::string command, const std::vector<ArrayItem>& items);

}  // namespace gpuadvise::client
