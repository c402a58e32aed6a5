// Whether a training's command can follow a strategy: each of its figures must reach the command,
// by a placeholder or as an equal value.
//
// A command with --batch-size 10 trains with 10 whatever the advice; then batch, memory and run
// time differ from the prediction. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/api/advice.h"

namespace gpuadvise::client {

struct CommandConflict {
  std::string cause;    // "the command has --batch-size 10"; equal for all strategies
  std::string needed;   // value that this strategy needs: "8"; "": see `cause`
  std::string remedy;   // "write {micro_batch} there"
  bool certain = true;  // false: the program may handle it internally
};

// `spec`: the training file's JSON; `strategy`: one of the advice.
std::vector<CommandConflict> ConflictsOf(const nlohmann::json& spec, const api::Strategy& strategy);

// "the command has --batch-size 10, this strategy needs 8; write {micro_batch} there".
std::string SentenceOf(const CommandConflict& conflict);

// Conflicts of all strategies, each cause once.
std::vector<api::CommandConflict> ConflictsOf(const nlohmann::json& spec,
                                              const api::Advice& advice);

// Whether nothing is certain to keep the command from following the strategy of `rank`.
bool CanFollow(int64_t rank, const std::vector<api::CommandConflict>& conflicts);

// The same of every share of the advice's sweep; true without one.
bool CanFollowSweep(const api::Advice& advice, const std::vector<api::CommandConflict>& conflicts);

// Rank of the first strategy that the command can certainly follow, as `submit` takes it; 0: none.
int64_t FirstFollowed(const api::Advice& advice,
                      const std::vector<api::CommandConflict>& conflicts);

}  // namespace gpuadvise::client
