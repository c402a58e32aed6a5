// What can be had of a node now: its condition in one word, and each of its GPUs counted once as
// used, free, promised or unavailable.
//
// Pure functions of one node; `kept` says that a reservation holds it now (its state says the same
// where Slurm sets the flag).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise::daemon {

enum class NodeUse { kFree, kPartly, kBusy, kPromised, kDrained, kDown };

inline constexpr NodeUse kNodeUses[] = {NodeUse::kFree,     NodeUse::kPartly,  NodeUse::kBusy,
                                        NodeUse::kPromised, NodeUse::kDrained, NodeUse::kDown};

// "free", "partly", "busy", "promised", "drained", "down".
std::string_view NameOf(NodeUse use);

// nullopt for another word.
std::optional<NodeUse> NodeUseNamed(std::string_view name);

constexpr bool IsBroken(NodeUse use) { return use == NodeUse::kDrained || use == NodeUse::kDown; }

// Down: nothing can run there. Drained: no new job gets it (drain, failing, maintenance), though
// some may still run. Busy: a small job finds no room (on a node with GPUs: no GPU). Promised: what
// is idle of it is kept for a waiting job or a reservation.
NodeUse UseOf(const Node& node, bool kept);

// total = used + free + promised + unavailable.
struct GpuTally {
  int64_t total = 0;
  int64_t used = 0;         // by jobs, whole or in shards
  int64_t free = 0;         // for a job of one CPU and little memory
  int64_t promised = 0;     // the same, but kept for a waiting job or a reservation
  int64_t unavailable = 0;  // idle, but the node is down or drained or has no CPU or memory left
};

// The GPUs of one GRES type.
GpuTally GpuTallyOf(const Node& node, const std::string& type, bool kept);

GpuTally& operator+=(GpuTally& sum, const GpuTally& more);

}  // namespace gpuadvise::daemon
