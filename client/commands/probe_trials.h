// The measuring half of `gpuadvise probe`: short runs of a training on one GPU of this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/questions/training_question.h"
#include "client/run/training_log.h"
#include "client/run/trial.h"
#include "client/terminal/console.h"
#include "common/runs/outcome.h"

namespace gpuadvise::client {

// Which micro-batches to try.
struct BatchWishes {
  std::vector<int64_t> said;  // by the person, or the file; empty: 1, then more by what 1 takes
  int64_t most = 0;           // the largest that can be used; 0: any
  bool one_only = false;      // the command does not take it from us
};

// What to try after `attempts`: two micro-batches that run are enough, one that runs out of memory
// is followed by a smaller one. nullopt: enough, or nothing else would help.
std::optional<int64_t> NextMicroBatch(const BatchWishes& wishes,
                                      const std::vector<Attempt>& attempts);

// The wishes of a file of one stage; `said` wins.
BatchWishes WishesFor(const TrainSpec& spec, const nlohmann::json& file, std::vector<int64_t> said);

struct ProbePlan {
  BatchWishes batches;
  TrialOptions trial;    // of one run
  double seconds = 600;  // of all of them
};

// Tries `question`'s command on the least used GPU of this process, one run after the other. One
// attempt for each. Errors: kInternal where the command fails before its first step, or somebody
// wants it to end; kBadInput where the file has no command.
Result<Outcome> TryHere(const TrainingQuestion& question, const ProbePlan& plan,
                        const TrainingLog& log, Console& console);

}  // namespace gpuadvise::client
