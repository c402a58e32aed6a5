// The rules of tips.h, one function for each tip of the guides. For tips.cc alone.
#pragma once

#include <functional>
#include <string>

#include "common/tips.h"

namespace gpuadvise {

inline constexpr const char* kClaimed = "claimed by the founding guides";
inline constexpr const char* kCounted = "counted";
inline constexpr const char* kClaimedAndCounted = "claimed by the founding guides; memory counted";

/// `tip`, which applies.
Tip Here(Tip tip, double worth);
/// `tip`, which does not.
Tip NotHere(Tip tip, std::string why);

/// Whether a larger micro-batch would leave less to accumulate.
bool HasSmallMicroBatch(const TipContext& at);
/// Whether saving memory would change anything.
bool NeedsMemory(const TipContext& at);
/// Why saving memory would change nothing. REQUIRES: !NeedsMemory(at).
std::string WhyNoMemoryIsNeeded(const TipContext& at);

using Change = std::function<void(TrainingSetup&)>;

/// `tip` with the memory that `change` saves, as counted, behind the effect that is claimed; the
/// same tip where nothing can be counted or next to nothing is saved.
Tip WithSaving(Tip tip, const TipContext& at, const Change& change);

/// The same, which applies unless the count says that next to nothing would be saved.
Tip HereIfItSaves(const Tip& tip, const TipContext& at, const Change& change, double worth);

// Memory.
Tip GradientCheckpointingTip(const TipContext& at);
Tip OptimizerStatesTip(const TipContext& at);
Tip ShorterSequencesTip(const TipContext& at);
Tip LoraRankTip(const TipContext& at);
Tip ZeroStageTip(const TipContext& at);
Tip FsdpTip(const TipContext& at);
Tip CpuOffloadTip(const TipContext& at);

// Speed.
Tip HalfPrecisionTip(const TipContext& at);
Tip GradScalerTip(const TipContext& at);
Tip TorchCompileTip(const TipContext& at);
Tip FlashAttentionTip(const TipContext& at);
Tip CudnnBenchmarkTip(const TipContext& at);
Tip GpuUseTip(const TipContext& at);

// Data and what is written.
Tip LoaderWorkersTip(const TipContext& at);
Tip PinMemoryTip(const TipContext& at);
Tip PrefetchTip(const TipContext& at);
Tip NpzOrMmapTip(const TipContext& at);
Tip FeatureCacheTip(const TipContext& at);
Tip CheckpointStorageTip(const TipContext& at);
Tip SaveIntervalTip(const TipContext& at);

// Habits.
Tip TryFirstTip(const TipContext& at);
Tip EffectiveBatchTip(const TipContext& at);
Tip HangTip(const TipContext& at);
Tip BeforeSubmittingTip(const TipContext& at);

}  // namespace gpuadvise
