// How public training programs spell their settings: one table for all, and where one program means
// something else. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace gpuadvise::client {

enum class Meaning {
  kMicroBatch,   // samples of one GPU in one forward pass
  kPlainBatch,   // "batch_size": one GPU's, but that of all where another flag says one GPU's
  kGlobalBatch,  // samples of one optimizer step on all GPUs
  kEvalBatch,
  kAccumulation,
  kGpusPerNode,
  kGpus,     // in all
  kGpuList,  // "0,1,2,3"
  kNodes,
  kNodeRank,
  kMasterAddress,
  kRendezvous,  // address:port
  kStandalone,  // torchrun: one node only
  kMaxSteps,
  kEpochs,
  kSamples,  // in the data set
  kSeqLength,
  kPrecision,  // a word: bf16, 16-mixed, no, …
  kBf16,
  kFp16,
  kTf32,
  kCheckpointing,
  kLora,           // a switch, or the word lora
  kQuantizedBits,  // 4, 8
  kLoadIn4Bit,
  kLoraRank,
  kLoraAlpha,
  kLoraTargets,
  kDeepspeed,  // a config file
  kZeroStage,
  kFsdp,
  kOptimizer,
  kAttention,       // a word
  kFlashAttention,  // a switch
  kCompile,
  kWorkers,
  kModel,
  kOutputDir,
  kSaveSteps,
  kKeep,
  kConfig,  // the program's config file
  kResume,
  kTensorParallel,
  kPipelineParallel,
  kContextParallel,
  kExpertParallel,
  kLoadIn8Bit,
  kQuantization,  // a word: gptq, bnb, …
  kDora,
  kLoraDropout,
  kTrainer,  // a word: dpo, rm, …
  kFsdpVersion,
  kReshard,           // reshard_after_forward
  kFsdpOffload,       // a switch
  kOffloadOptimizer,  // a device
  kOffloadParameters,
  kLiger,
  kChunkedLoss,
  kActivationOffload,
  kOptimizerInBackward,
  kFp8,  // a switch, or a word: hybrid
};

// Of a name in lower case with '-' as '_'; nullopt: none of ours.
std::optional<Meaning> MeaningOfSpelling(std::string_view name);

// The same, where the program of `command` (its text in lower case) means something of its own:
// the outer optional says whether it does.
std::optional<std::optional<Meaning>> OwnMeaning(std::string_view command, std::string_view name);

}  // namespace gpuadvise::client
