// Tips that save memory: worth something only where memory limits the micro-batch.
#include <fmt/format.h>

#include <algorithm>

#include "common/tip_rules.h"

namespace gpuadvise {
namespace {

constexpr double kLargeCardGb = 40;  // from here on the guides take LoRA's rank 16
constexpr int64_t kManyGpus = 8;     // from here on the guides think of FSDP

const char* WordsFor(GpuLink link) {
  switch (link) {
    case GpuLink::kNone:
      return "no link between slices";
    case GpuLink::kPcieNoP2p:
      return "PCIe without peer-to-peer";
    case GpuLink::kPcie:
      return "PCIe";
    case GpuLink::kNvlinkPairs:
      return "NVLink between pairs only";
    case GpuLink::kNvlink:
      return "NVLink";
  }
  return "";
}

/// Whether gathering weights layer by layer keeps up with the GPUs.
bool HasFastLink(const TipContext& at) {
  if (at.nodes > 1) return false;  // the network between nodes is not known
  if (at.gpu.link == GpuLink::kNvlinkPairs) return at.gpus_per_node == 2;
  return at.gpu.link == GpuLink::kNvlink;
}

std::string LinkOf(const TipContext& at) {
  return at.nodes > 1 ? "the network between nodes" : WordsFor(at.gpu.link);
}

bool ShardsWeights(const TrainingSpec& training) {
  return training.zero_stage.value_or(0) == 3 || training.fsdp == "full_shard";
}

bool TrainsAdapters(const TipContext& at) { return at.training().method != "full"; }

std::string WhyNotShort(const TipContext& at) {
  return at.micro_batch ? "one sample fits without" : "nothing says that memory is short";
}

void Checkpoint(TrainingSetup& setup) { setup.checkpointing = Checkpointing::kFull; }
void EightBitStates(TrainingSetup& setup) { setup.optim = "adamw_8bit"; }
void OffloadStates(TrainingSetup& setup) { setup.offload = Offload::kOptimizer; }

void UseZero2(TrainingSetup& setup) {
  setup.deepspeed = true;
  setup.zero_stage = 2;
}

void UseZero3(TrainingSetup& setup) {
  setup.deepspeed = true;
  setup.zero_stage = 3;
}

}  // namespace

Tip GradientCheckpointingTip(const TipContext& at) {
  Tip tip{.name = "gradient_checkpointing",
          .text = "gradient_checkpointing: true",
          .effect = "-50 to -70 % memory, -20 % speed",
          .source_of_effect = kClaimed};
  if (at.checkpointing) return NotHere(tip, "it is on already");
  if (!NeedsMemory(at)) {
    return NotHere(tip, WhyNoMemoryIsNeeded(at) + "; it would cost a fifth of the speed");
  }
  if (at.memory_is_short) {
    tip.text = "memory is short: gradient_checkpointing: true keeps less for the backward pass";
    return HereIfItSaves(tip, at, Checkpoint, .6);
  }
  tip.text =
      fmt::format("the micro-batch is only {}: gradient_checkpointing: true may allow a larger one",
                  *at.micro_batch);
  return HereIfItSaves(tip, at, Checkpoint, .15);
}

Tip OptimizerStatesTip(const TipContext& at) {
  Tip tip{.name = "optimizer_8bit",
          .text = "optim: adamw_8bit keeps the optimizer's states in 8 bits",
          .effect = at.training().pure_bf16 ? "-2 bytes for each trained parameter"
                                            : "-6 bytes for each trained parameter",
          .source_of_effect = kCounted};
  const std::string& optim = at.training().optim;
  const bool small = optim.find("8bit") != std::string::npos || optim == "adafactor" ||
                     optim == "sgd" || optim.starts_with("paged");
  if (small) return NotHere(tip, fmt::format("the states of {} are small already", optim));
  if (TrainsAdapters(at)) return NotHere(tip, "only adapters are trained: their states are small");
  if (!NeedsMemory(at)) return NotHere(tip, WhyNoMemoryIsNeeded(at));
  return HereIfItSaves(tip, at, EightBitStates, at.memory_is_short ? .5 : .08);
}

Tip ShorterSequencesTip(const TipContext& at) {
  Tip tip{.name = "shorter_sequences", .text = "max_seq_length: 512, then 256"};
  const int64_t now = at.setup ? at.setup->seq_length : at.training().max_seq_length.value_or(0);
  if (!at.memory_is_short) return NotHere(tip, WhyNotShort(at) + "; longer texts would be cut");
  if (now == 0) return Here(tip, .3);
  if (now <= 256) return NotHere(tip, fmt::format("{} tokens are short already", now));
  tip.text = fmt::format("max_seq_length: {} instead of {}; longer texts are cut", now / 2, now);
  const auto halve = [](TrainingSetup& setup) { setup.seq_length /= 2; };
  return HereIfItSaves(tip, at, halve, .3);
}

Tip LoraRankTip(const TipContext& at) {
  const bool large = at.gpu.memory_gb >= kLargeCardGb;
  const int64_t usual = large ? 16 : 8;
  Tip tip{.name = "lora_rank", .text = fmt::format("lora: {{r: {}}}", usual)};
  if (!TrainsAdapters(at)) return NotHere(tip, "the whole model is trained, not adapters");
  const int64_t rank = at.training().lora.r;
  const std::string of = large ? "from 40 GB on" : "below 40 GB";
  if (rank == usual) return NotHere(tip, fmt::format("r is {}, the guides' own {}", rank, of));
  if (rank < usual && at.rank_that_fits && *at.rank_that_fits < usual) {
    return NotHere(tip, fmt::format("r is {}, and {} does not fit", rank, usual));
  }
  if (rank < usual) {
    tip.text += fmt::format(" instead of {}: {}", rank,
                            rank < 8 ? "so low a rank learns poorly" : "the card has room for it");
    return Here(tip, 0);
  }
  tip.text += fmt::format(" instead of {}: the guides' own {}, and 32 is overkill", rank, of);
  if (at.rank_that_fits && *at.rank_that_fits >= rank) {
    tip.text += fmt::format("; by memory alone {} fits", *at.rank_that_fits);
  }
  return Here(WithSaving(tip, at, [usual](TrainingSetup& setup) { setup.lora_rank = usual; }), 0);
}

Tip ZeroStageTip(const TipContext& at) {
  const bool fast = HasFastLink(at);
  Tip tip{.name = "zero_stage", .text = "deepspeed: 3 shards weights, gradients and states"};
  if (at.gpus() == 1) return NotHere(tip, "one GPU has nobody to share the model with");
  const TrainingSpec& training = at.training();
  if (ShardsWeights(training)) {
    if (fast) return NotHere(tip, "weights are sharded already");
    tip.text = fmt::format(
        "ZeRO-3 and FSDP gather every layer over {}: deepspeed: 2, with a smaller micro-batch and "
        "more accumulation, is faster where it fits",
        LinkOf(at));
    return Here(tip, .3);
  }
  if (!NeedsMemory(at)) return NotHere(tip, WhyNoMemoryIsNeeded(at));
  // Over a fast link sharding costs less than fewer bits or shorter texts.
  if (fast) return HereIfItSaves(tip, at, UseZero3, at.memory_is_short ? .55 : .1);
  const std::string slow =
      fmt::format("ZeRO-3 needs NVLink between all GPUs, and here is {}", LinkOf(at));
  if (TrainsAdapters(at)) return NotHere(tip, slow + "; ZeRO-2 shards no frozen weights");
  if (training.zero_stage.value_or(0) == 2 || training.fsdp == "shard_grad_op") {
    return NotHere(tip, slow + "; gradients and states are sharded already");
  }
  tip.text = slow + ": deepspeed: 2 shards gradients and states only";
  return HereIfItSaves(tip, at, UseZero2, at.memory_is_short ? .4 : .1);
}

Tip FsdpTip(const TipContext& at) {
  Tip tip{.name = "fsdp", .text = "fsdp: full_shard, PyTorch's own way to shard the model"};
  const TrainingSpec& training = at.training();
  if (!training.fsdp.empty()) return NotHere(tip, "it is on already");
  if (training.zero_stage) return NotHere(tip, "DeepSpeed shards the model already");
  if (at.gpus() < kManyGpus) return NotHere(tip, "the guides use it from 8 GPUs on");
  if (!HasFastLink(at)) {
    return NotHere(tip, fmt::format("it needs NVLink, and here is {}", LinkOf(at)));
  }
  if (!NeedsMemory(at)) return NotHere(tip, WhyNoMemoryIsNeeded(at));
  return Here(tip, 0);
}

Tip CpuOffloadTip(const TipContext& at) {
  Tip tip{
      .name = "cpu_offload",
      .text =
          "the last resort: offload: optimizer leaves the optimizer's states to the host; steps "
          "take several times longer"};
  if (at.training().offload != "none") return NotHere(tip, "it is on already");
  if (TrainsAdapters(at)) return NotHere(tip, "only adapters are trained: their states are small");
  if (!at.memory_is_short) return NotHere(tip, WhyNotShort(at));
  return HereIfItSaves(tip, at, OffloadStates, .05);
}

}  // namespace gpuadvise
