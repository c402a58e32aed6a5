// Converts node states between Slurm's text and NodeState: "IDLE+DRAIN+PLANNED", "MIXED*", "drng",
// "down$".
//
// Parsing never fails: unknown base states become kUnknown and unknown flags are ignored, so that
// one odd node does not hide a cluster. Words of sinfo that combine flags and base state
// ("drained", "drng", "resv") are split again. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// From any of Slurm's forms: scontrol's, sinfo's long and short, in any case, with suffixes.
NodeState ParseNodeState(std::string_view text);

// Canonical text, "IDLE+DRAIN+PLANNED": ParseNodeState(ToString(s)) == s for known flags.
std::string ToString(const NodeState& state);

// Whether the node can run a new job, now or later without intervention. True for powered-down,
// rebooting, reserved, planned and unregistered (UNKNOWN) nodes; false for down, drained and
// failing ones.
bool IsUsable(const NodeState& state);

// Whether backfill reserves the node for a waiting job: idle, but unavailable to new jobs.
bool IsPromised(const NodeState& state);

// For people: "drained", "idle, but promised to a waiting job", "down and not responding".
std::string ToWords(const NodeState& state);

}  // namespace gpuadvise
