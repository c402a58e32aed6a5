#include "common/plan/tips.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "common/base/words.h"

namespace gpuadvise {
namespace {

// Where reported effects were seen; none was measured here.
constexpr const char* kReportedForSummaries = "reported for summarisation models";
constexpr const char* kReportedForVla = "reported for VLA training";
constexpr const char* kReportedForQwen = "reported for Qwen2.5-VL with LoRA";
constexpr const char* kReportedForVlaAndGr00t = "reported for VLA training and Isaac-GR00T";
constexpr const char* kCounted = "counted";
constexpr const char* kAlsoCounted = "; memory counted";
constexpr double kLeastCounted = 0.05 * (1 << 30);

using TipChange = std::function<void(TrainingSetup&)>;

// Peak memory saved by `change`; nullopt if unknown.
std::optional<double> SavedBytes(const TipContext& at, const TipChange& change) {
  if (at.shape == nullptr || !at.setup) return {};
  TrainingSetup changed = *at.setup;
  change(changed);
  return at.memory_correction *
         (PeakMemory(*at.shape, *at.setup).total() - PeakMemory(*at.shape, changed).total());
}

Tip Applies(Tip tip, double worth) {
  tip.applies = true;
  tip.worth = worth;
  return tip;
}

Tip DoesNotApply(Tip tip, std::string why) {
  tip.why_not = std::move(why);
  return tip;
}

// Whether a larger micro-batch would reduce accumulation.
bool HasSmallMicroBatch(const TipContext& at) {
  return at.micro_batch && *at.micro_batch <= 2 && at.accumulation && *at.accumulation >= 8;
}

// Whether saving memory would help.
bool NeedsMemory(const TipContext& at) { return at.memory_is_short || HasSmallMicroBatch(at); }

// Why saving memory would not help. REQUIRES: !NeedsMemory(at).
std::string WhyNoMemoryIsNeeded(const TipContext& at) {
  if (!at.micro_batch) return "nothing says that memory is short";
  if (*at.micro_batch > 2) return fmt::format("a micro-batch of {} fits without", *at.micro_batch);
  return fmt::format("a micro-batch of {} fits without, and little is accumulated",
                     *at.micro_batch);
}

// Adds the computed memory saving of `change` to the reported effect; unchanged if unknown or
// negligible.
Tip WithSaving(Tip tip, const TipContext& at, const TipChange& change) {
  const std::optional<double> saved = SavedBytes(at, change);
  if (!saved || *saved < kLeastCounted) return tip;
  const bool reported = tip.source_of_effect.starts_with("reported");
  tip.source_of_effect = reported ? tip.source_of_effect + kAlsoCounted : kCounted;
  tip.effect += fmt::format("{}-{:.1f} GiB{}", tip.effect.empty() ? "" : "; ", *saved / (1 << 30),
                            reported ? " as counted" : "");
  return tip;
}

// Also marks it as applicable unless the saving is negligible.
Tip AppliesIfItSaves(const Tip& tip, const TipContext& at, const TipChange& change, double worth) {
  const std::optional<double> saved = SavedBytes(at, change);
  if (!saved || *saved >= kLeastCounted) return Applies(WithSaving(tip, at, change), worth);
  const bool in_step = PeakMemory(*at.shape, *at.setup).in_step;
  return DoesNotApply(tip, fmt::format("it would save nothing, as counted: the peak is in the {}",
                                       in_step ? "optimizer's step" : "backward pass"));
}

// ---- memory: useful only where it limits the micro-batch ---------------------------------

constexpr double kLargeCardGb = 40;  // minimum for LoRA rank 16 in the guides
constexpr int64_t kManyGpus = 8;     // minimum for FSDP in the guides

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

// Whether layer-by-layer gathering of weights keeps up with the GPUs.
bool HasFastLink(const TipContext& at) {
  if (at.nodes > 1) return false;  // the network is unknown
  if (at.gpu.link == GpuLink::kNvlinkPairs) return at.gpus_per_node == 2;
  return at.gpu.link == GpuLink::kNvlink;
}

std::string LinkOf(const TipContext& at) {
  return at.nodes > 1 ? "the network between nodes" : WordsFor(at.gpu.link);
}

bool ShardsWeights(const TrainingSpec& training) {
  return training.zero_stage.value_or(0) == 3 || training.fsdp == Fsdp::kFullShard;
}

bool TrainsAdapters(const TipContext& at) { return at.training().method != Method::kFull; }

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

Tip GradientCheckpointingTip(const TipContext& at) {
  Tip tip{.name = "gradient_checkpointing",
          .text = "gradient_checkpointing: true",
          .effect = "-50 to -70 % memory, -20 % speed",
          .source_of_effect = kReportedForQwen};
  if (at.checkpointing) return DoesNotApply(tip, "it is on already");
  if (!NeedsMemory(at)) {
    return DoesNotApply(tip, WhyNoMemoryIsNeeded(at) + "; it would cost a fifth of the speed");
  }
  if (at.memory_is_short) {
    tip.text = "memory is short: gradient_checkpointing: true keeps less for the backward pass";
    return AppliesIfItSaves(tip, at, Checkpoint, .6);
  }
  tip.text =
      fmt::format("the micro-batch is only {}: gradient_checkpointing: true may allow a larger one",
                  *at.micro_batch);
  return AppliesIfItSaves(tip, at, Checkpoint, .15);
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
  if (small) return DoesNotApply(tip, fmt::format("the states of {} are small already", optim));
  if (TrainsAdapters(at))
    return DoesNotApply(tip, "only adapters are trained: their states are small");
  if (!NeedsMemory(at)) return DoesNotApply(tip, WhyNoMemoryIsNeeded(at));
  return AppliesIfItSaves(tip, at, EightBitStates, at.memory_is_short ? .5 : .08);
}

Tip FusedOptimizerTip(const TipContext& at) {
  Tip tip{.name = "optimizer_fused",
          .text =
              "optim: adamw_torch_fused updates the weights in one kernel instead of eight "
              "(Transformers' default with PyTorch 2.8 and newer)",
          .effect = at.training().pure_bf16 ? "14 instead of 40 bytes moved for each parameter"
                                            : "28 instead of 80 bytes moved for each parameter",
          .source_of_effect = kCounted};
  const std::string& optim = at.training().optim;
  if (optim != "adamw_torch") return DoesNotApply(tip, "it is about adamw_torch");
  if (TrainsAdapters(at)) return DoesNotApply(tip, "only adapters are trained: the step is short");
  if (at.training().zero_stage) return DoesNotApply(tip, "DeepSpeed has a kernel of its own");
  return Applies(tip, .04);
}

Tip ShorterSequencesTip(const TipContext& at) {
  Tip tip{.name = "shorter_sequences", .text = "max_seq_length: 512, then 256"};
  const int64_t now = at.setup ? at.setup->seq_length : at.training().max_seq_length.value_or(0);
  if (!at.memory_is_short)
    return DoesNotApply(tip, WhyNotShort(at) + "; longer texts would be cut");
  if (at.shape != nullptr && at.shape->layers.num_hidden_layers == 0)
    return DoesNotApply(tip, "its samples are not text");
  if (now == 0) return Applies(tip, .3);
  if (now <= 256) return DoesNotApply(tip, fmt::format("{} tokens are short already", now));
  tip.text = fmt::format("max_seq_length: {} instead of {}; longer texts are cut", now / 2, now);
  const auto halve = [](TrainingSetup& setup) { setup.seq_length /= 2; };
  return AppliesIfItSaves(tip, at, halve, .3);
}

Tip LoraRankTip(const TipContext& at) {
  const bool large = at.gpu.memory_gb >= kLargeCardGb;
  const int64_t usual = large ? 16 : 8;
  Tip tip{.name = "lora_rank", .text = fmt::format("lora: {{r: {}}}", usual)};
  if (!TrainsAdapters(at)) return DoesNotApply(tip, "the whole model is trained, not adapters");
  const int64_t rank = at.training().lora.r;
  const std::string of = large ? "from 40 GB on" : "below 40 GB";
  if (rank == usual) return DoesNotApply(tip, fmt::format("r is {}, as is usual {}", rank, of));
  if (rank < usual && at.rank_that_fits && *at.rank_that_fits < usual) {
    return DoesNotApply(tip, fmt::format("r is {}, and {} does not fit", rank, usual));
  }
  if (rank < usual) {
    tip.text += fmt::format(" instead of {}: {}", rank,
                            rank < 8 ? "so low a rank learns poorly" : "the card has room for it");
    return Applies(tip, 0);
  }
  tip.text += fmt::format(" instead of {}: usual {}; 32 seldom gains", rank, of);
  if (at.rank_that_fits && *at.rank_that_fits >= rank) {
    tip.text += fmt::format("; by memory alone {} fits", *at.rank_that_fits);
  }
  return Applies(WithSaving(tip, at, [usual](TrainingSetup& setup) { setup.lora_rank = usual; }),
                 0);
}

Tip ZeroStageTip(const TipContext& at) {
  const bool fast = HasFastLink(at);
  Tip tip{.name = "zero_stage", .text = "deepspeed: 3 shards weights, gradients and states"};
  if (at.gpus() == 1) return DoesNotApply(tip, "one GPU has nobody to share the model with");
  const TrainingSpec& training = at.training();
  if (ShardsWeights(training)) {
    if (fast) return DoesNotApply(tip, "weights are sharded already");
    tip.text = fmt::format(
        "ZeRO-3 and FSDP gather every layer over {}: deepspeed: 2, with a smaller micro-batch and "
        "more accumulation, is faster where it fits",
        LinkOf(at));
    return Applies(tip, .3);
  }
  if (!NeedsMemory(at)) return DoesNotApply(tip, WhyNoMemoryIsNeeded(at));
  // Over a fast link, sharding costs less than quantisation or shorter texts.
  if (fast) return AppliesIfItSaves(tip, at, UseZero3, at.memory_is_short ? .55 : .1);
  const std::string slow =
      fmt::format("ZeRO-3 needs NVLink between all GPUs, and here is {}", LinkOf(at));
  if (TrainsAdapters(at)) return DoesNotApply(tip, slow + "; ZeRO-2 shards no frozen weights");
  if (training.zero_stage.value_or(0) == 2 || training.fsdp == Fsdp::kShardGradOp) {
    return DoesNotApply(tip, slow + "; gradients and states are sharded already");
  }
  tip.text = slow + ": deepspeed: 2 shards gradients and states only";
  return AppliesIfItSaves(tip, at, UseZero2, at.memory_is_short ? .4 : .1);
}

Tip FsdpTip(const TipContext& at) {
  Tip tip{.name = "fsdp", .text = "fsdp: full_shard, PyTorch's own way to shard the model"};
  const TrainingSpec& training = at.training();
  if (training.fsdp) return DoesNotApply(tip, "it is on already");
  if (training.zero_stage) return DoesNotApply(tip, "DeepSpeed shards the model already");
  if (at.gpus() < kManyGpus) return DoesNotApply(tip, "usual from 8 GPUs on");
  if (!HasFastLink(at)) {
    return DoesNotApply(tip, fmt::format("it needs NVLink, but this has {}", LinkOf(at)));
  }
  if (!NeedsMemory(at)) return DoesNotApply(tip, WhyNoMemoryIsNeeded(at));
  return Applies(tip, 0);
}

Tip CpuOffloadTip(const TipContext& at) {
  Tip tip{.name = "cpu_offload",
          .text =
              "as a last resort, offload: optimizer keeps the optimizer states on the host; steps "
              "take several times longer"};
  if (at.training().offload != Offload::kNone) return DoesNotApply(tip, "it is on already");
  if (TrainsAdapters(at))
    return DoesNotApply(tip, "only adapters are trained: their states are small");
  if (!at.memory_is_short) return DoesNotApply(tip, WhyNotShort(at));
  return AppliesIfItSaves(tip, at, OffloadStates, .05);
}

// ---- step time ------------------------------------------------------------------

// Run time that justifies torch.compile's start-up minutes.
constexpr double kWorthCompiling = 2 * 3600;

constexpr double kVolta = 7.0;   // tensor cores; minimum for torch.compile
constexpr double kAmpere = 8.0;  // bf16 and FlashAttention-2

// Unknown cards count as new.
bool IsOlderThan(const GpuModel& gpu, double capability) {
  return gpu.compute_capability > 0 && gpu.compute_capability < capability;
}

Tip InsteadOfFp16(const TipContext& at, Tip tip) {
  const bool overflows = at.fp16_is_safe && !*at.fp16_is_safe;
  if (at.gpu.bf16) {
    tip.text = overflows ? "bf16: true instead of fp16, in which this model overflows"
                         : "bf16: true instead of fp16: as fast, and without a GradScaler";
    tip.effect = tip.source_of_effect = "";
    return Applies(tip, overflows ? .9 : 0);
  }
  if (!overflows) return DoesNotApply(tip, "fp16 already in use, and this GPU has no bf16");
  tip.text =
      "this model overflows in fp16 and the GPU has no bf16: fp32 (bf16: false, fp16: false)";
  tip.effect = tip.source_of_effect = "";
  return Applies(tip, .9);
}

// Whether it trains a transformer; cuDNN's autotuning is for convolutions.
bool IsTransformer(const TipContext& at) {
  return at.shape != nullptr || at.training().max_seq_length ||
         at.training().method != Method::kFull;
}

Tip HalfPrecisionTip(const TipContext& at) {
  Tip tip{.name = "half_precision",
          .text = at.gpu.bf16 ? "bf16: true instead of fp32"
                              : "fp16: true with a GradScaler instead of fp32 (no bf16 here)",
          .effect = "+15 to +25 % speed, -25 to -40 % memory; another guide: twice the speed",
          .source_of_effect = kReportedForVlaAndGr00t};
  const bool overflows = at.fp16_is_safe && !*at.fp16_is_safe;
  if (at.precision == Precision::kBf16) return DoesNotApply(tip, "bf16 already in use");
  if (at.precision == Precision::kFp16) return InsteadOfFp16(at, tip);
  if (!at.gpu.bf16 && overflows) {
    return DoesNotApply(tip, "the model overflows in fp16 and the GPU has no bf16: fp32 it stays");
  }
  if (!at.precision) return DoesNotApply(tip, "the number format is not known");
  if (IsOlderThan(at.gpu, kVolta)) {
    return DoesNotApply(tip, "this GPU has no tensor cores: fp16 saves memory here, but no time");
  }
  if (!at.gpu.bf16 && !at.fp16_is_safe) tip.text += "; not with T5 and mT5, which overflow";
  const Precision to = at.gpu.bf16 ? Precision::kBf16 : Precision::kFp16;
  return Applies(WithSaving(tip, at, [&](TrainingSetup& setup) { setup.precision = to; }), .5);
}

Tip GradScalerTip(const TipContext& at) {
  Tip tip{.name = "grad_scaler",
          .text = "fp16 needs a GradScaler, or small gradients vanish (fp16: true brings one)"};
  if (at.precision == Precision::kFp16) return Applies(tip, 0);
  if (at.precision == Precision::kBf16)
    return DoesNotApply(tip, "bf16 has the range of fp32: leave it out");
  return DoesNotApply(tip, "it is for fp16 only");
}

Tip TorchCompileTip(const TipContext& at) {
  Tip tip{.name = "torch_compile",
          .text = "torch_compile: true, where all samples have one shape; slower start",
          .effect = "+30 to +40 % speed, +10 to +20 % with max-autotune",
          .source_of_effect = kReportedForVlaAndGr00t};
  const std::optional<bool>& asked = at.training().torch_compile;
  if (asked) return DoesNotApply(tip, *asked ? "it is on already" : "turned off in the file");
  if (IsOlderThan(at.gpu, kVolta)) return DoesNotApply(tip, "it needs Volta or later");
  if (!at.run_seconds) {
    return DoesNotApply(tip,
                        "it pays off only in runs of more than 2 h, and the run time is not known "
                        "(add training.measured)");
  }
  if (*at.run_seconds < kWorthCompiling) {
    return DoesNotApply(
        tip, fmt::format("the run takes {}; the minutes of warm-up pay off only beyond 2 h",
                         DurationInWords(*at.run_seconds)));
  }
  return Applies(tip, .1);
}

Tip FlashAttentionTip(const TipContext& at) {
  Tip tip{.name = "flash_attention_2", .text = "attn_implementation: flash_attention_2"};
  const TrainingSpec& training = at.training();
  if (IsOlderThan(at.gpu, kAmpere)) {
    return DoesNotApply(tip, "it needs Ampere or later: attn_implementation: sdpa");
  }
  if (at.precision == Precision::kFp32) return DoesNotApply(tip, "it needs bf16 or fp16");
  if (training.attn_implementation == Attention::kFlashAttention2 ||
      at.spec.requires_gpu.flash_attention_2) {
    return DoesNotApply(tip, "already in use");
  }
  if (training.attn_implementation != Attention::kEager) {
    return DoesNotApply(tip, "sdpa, the usual choice, has the same kernels since PyTorch 2.2");
  }
  tip.text += " instead of eager, which keeps a score for each two tokens";
  const auto flash = [](TrainingSetup& setup) { setup.flash_attention = true; };
  return Applies(WithSaving(tip, at, flash), .2);
}

Tip CudnnBenchmarkTip(const TipContext& at) {
  Tip tip{.name = "cudnn_benchmark",
          .text =
              "For a convolutional model with inputs of one size, set "
              "torch.backends.cudnn.benchmark = True; runs are then not reproducible",
          .effect = "+20 to +30 % speed",
          .source_of_effect = kReportedForVla};
  if (IsTransformer(at)) {
    return DoesNotApply(tip,
                        "a transformer has no convolutions to tune; it is for convolutional models "
                        "with inputs of one size, and makes runs not reproducible");
  }
  return Applies(tip, 0);
}

Tip GpuUseTip(const TipContext&) {
  Tip tip{.name = "gpu_use",
          .text =
              "If the GPU is busy less than 80 % of the time (nvidia-smi inside the job), try a "
              "larger micro-batch or more loader workers, then a profile"};
  return Applies(tip, 0);
}

// ---- data loading and checkpoints ---------------------------------------------------

constexpr int64_t kMostWorkers = 8;
constexpr int64_t kKept = 5;              // checkpoints kept in the guides
constexpr double kLittleBytes = 5e9;      // below any quota
constexpr double kHomeQuotaBytes = 20e9;  // just below a common home directory quota

int64_t SavesOf(const TipContext& at) {
  if (!at.steps || !at.spec.output.save_steps) return 0;
  return *at.steps / *at.spec.output.save_steps;
}

bool HasVision(const TipContext& at) {
  return at.shape != nullptr ? at.shape->vision.has_value()
                             : at.training().images_per_sample.value_or(0) > 0;
}

std::string TowerWeights(const TipContext& at) {
  if (at.shape == nullptr || !at.shape->vision) return {};
  const double bytes = 2 * at.shape->vision->layers.Parameters();
  return fmt::format("; its weights are {:.1f} GiB as counted", bytes / (1 << 30));
}

Tip WithSetWorkers(const TipContext& at, Tip tip) {
  const int64_t workers = *at.training().dataloader_num_workers;
  if (!at.cpus_per_gpu || workers <= *at.cpus_per_gpu) {
    return DoesNotApply(tip, fmt::format("the file says {}", workers));
  }
  tip.text = fmt::format("dataloader_num_workers: {} instead of {}: a GPU's share has {}",
                         *at.cpus_per_gpu, workers, Plural(*at.cpus_per_gpu, "CPU"));
  return Applies(tip, .1);
}

Tip LoaderWorkersTip(const TipContext& at) {
  Tip tip{.name = "dataloader_num_workers",
          .text = "dataloader_num_workers: 4 to 8, one a CPU of the GPU's share"};
  if (at.training().dataloader_num_workers) return WithSetWorkers(at, tip);
  if (at.cpus_per_gpu) {
    tip.text = fmt::format(
        "dataloader_num_workers: {} with pin_memory keeps {} fed (one worker a CPU of the GPU's "
        "share)",
        std::min(*at.cpus_per_gpu, kMostWorkers), at.gpu.display_name);
  } else {
    tip.text += " (resources.cpus_per_gpu says how many)";
  }
  return Applies(tip, .1);
}

Tip PinMemoryTip(const TipContext&) {
  Tip tip{.name = "pin_memory",
          .text =
              "pin_memory (dataloader_pin_memory, on by default in Transformers): the GPU "
              "computes while the next batch is copied",
          .effect = "+10 to +15 % speed together with prefetch_factor",
          .source_of_effect = kReportedForVla};
  return Applies(tip, 0);
}

Tip PrefetchTip(const TipContext& at) {
  Tip tip{.name = "prefetch_factor",
          .text =
              "dataloader_prefetch_factor: 4 (up to 6) instead of 2; each worker then holds "
              "that many batches in the host's memory",
          .effect = "+10 to +15 % speed together with pin_memory",
          .source_of_effect = kReportedForVla};
  if (at.training().dataloader_num_workers == 0) {
    return DoesNotApply(tip, "only workers prefetch, and dataloader_num_workers is 0");
  }
  return Applies(tip, 0);
}

Tip NpzOrMmapTip(const TipContext&) {
  return Applies({.name = "npz_or_mmap",
                  .text = "If the first step takes minutes to come, convert CSV once to NPZ or "
                          "another binary format and read it with mmap",
                  .effect = "10 to 100 times faster to load, -50 to -80 % on disk",
                  .source_of_effect = kReportedForVla},
                 0);
}

Tip FeatureCacheTip(const TipContext& at) {
  Tip tip{.name = "feature_cache",
          .text =
              "compute the features of the frozen vision tower once and keep them on disk, "
              "unless adapters train the tower or images are augmented at random",
          .effect = "10 to 20 times faster, -10 GB",
          .source_of_effect = kReportedForQwen};
  const bool known = at.shape != nullptr;
  if (!HasVision(at)) {
    return DoesNotApply(tip,
                        known ? "the model has no vision tower" : "the file gives no vision tower");
  }
  const bool adapters = at.training().method != Method::kFull;
  const bool frozen = known ? at.shape->vision->frozen.value_or(adapters) : adapters;
  if (!frozen) {
    return DoesNotApply(tip,
                        "the vision tower is trained, so that its features change "
                        "(model.vision.frozen says otherwise)");
  }
  if (at.training().num_train_epochs && *at.training().num_train_epochs <= 1) {
    return DoesNotApply(tip, "each sample is seen once only");
  }
  tip.effect += TowerWeights(at);
  if (known) tip.source_of_effect += kAlsoCounted;
  return Applies(tip, .2);
}

Tip CheckpointStorageTip(const TipContext& at) {
  Tip tip{.name = "checkpoint_storage",
          .text = "write checkpoints to scratch and copy only the last one to your home"};
  if (!at.spec.output.checkpoint_bytes) {
    return DoesNotApply(tip, "the checkpoint size is not known (set output.checkpoint)");
  }
  const int64_t kept = at.spec.output.keep.value_or(SavesOf(at));
  if (kept < 1)
    return DoesNotApply(tip, "the number of checkpoints kept is not known (set output.keep)");
  const double bytes =
      static_cast<double>(kept) * static_cast<double>(*at.spec.output.checkpoint_bytes);
  const std::string what = fmt::format("{} take{} {:.{}f} GB", Plural(kept, "checkpoint"),
                                       kept == 1 ? "s" : "", bytes / 1e9, bytes < 1e9 ? 1 : 0);
  if (bytes < kLittleBytes) return DoesNotApply(tip, what + ", too little to matter for a quota");
  tip.text = what + ": write them to scratch, not to your home";
  return Applies(tip, bytes > kHomeQuotaBytes ? .3 : .12);
}

Tip SaveIntervalTip(const TipContext& at) {
  Tip tip{.name = "save_interval", .text = "save rarely enough to keep about five checkpoints"};
  const OutputSpec& output = at.spec.output;
  if (output.keep && *output.keep <= kKept) {
    return DoesNotApply(tip,
                        fmt::format("output.keep leaves {}", Plural(*output.keep, "checkpoint")));
  }
  if (!at.steps) return DoesNotApply(tip, "the number of steps is not known");
  if (*at.steps < 10 * kKept) return DoesNotApply(tip, "the run is too short to save often");
  const int64_t every = *at.steps / kKept;
  if (!output.save_steps) {
    tip.text = fmt::format("save_steps: {} leaves five checkpoints", every);
    return Applies(tip, 0);
  }
  const int64_t saves = SavesOf(at);
  if (saves <= kKept) {
    return DoesNotApply(tip, fmt::format("save_steps: {} leaves {}", *output.save_steps,
                                         Plural(saves, "checkpoint")));
  }
  tip.text = fmt::format("save_steps: {}, or keep: {}, leaves five checkpoints instead of {}",
                         every, kKept, saves);
  return Applies(tip, .08);
}

// ---- practice: what to try first, monitor, and check before submission ----------------

Tip TryFirstTip(const TipContext& at) {
  Tip tip{.name = "try_first",
          .text =
              "--max_steps 10 first, and raise the micro-batch step by step; "
              "auto_find_batch_size lowers it when memory runs out, but accumulates no more, so "
              "that the effective batch changes"};
  if (at.measured_here) return DoesNotApply(tip, "this training has run on this GPU (measured)");
  return Applies(tip, 0);
}

Tip EffectiveBatchTip(const TipContext& at) {
  Tip tip{.name = "effective_batch_size",
          .text = "an effective batch of 8 to 16 learns best",
          .effect = "1 is unstable, 2 to 4 are stable, 32 and more converge badly",
          .source_of_effect = kReportedForSummaries};
  if (!at.shape || !at.shape->encoder) {
    return DoesNotApply(tip,
                        "this advice is for summarisation with T5 and mT5; others are trained "
                        "with 32 to 512");
  }
  if (!at.effective_batch) return DoesNotApply(tip, "the effective batch is not known");
  const int64_t now = *at.effective_batch;
  if (now >= 8 && now <= 16) return DoesNotApply(tip, fmt::format("it is {}", now));
  tip.text =
      fmt::format("the effective batch is {}: 8 to 16 learn best according to one guide", now);
  return Applies(tip, 0);
}

Tip HangTip(const TipContext& at) {
  Tip tip{.name = "hang",
          .text =
              "If it hangs without an error, NCCL_DEBUG=INFO shows the network in use; then raise "
              "its timeout"};
  if (at.gpus() == 1) return DoesNotApply(tip, "one GPU communicates with no other");
  return Applies(tip, 0);
}

Tip BeforeSubmittingTip(const TipContext&) {
  return Applies(
      {.name = "before_submitting",
       .text = "before submitting: the folder of the log must exist (Slurm makes none), the "
               "model must be there or `huggingface-cli login` done, and `quota -s` must "
               "have room"},
      0);
}

using Rule = Tip (*)(const TipContext&);

constexpr Rule kRules[] = {
    HalfPrecisionTip,    GradScalerTip,        GradientCheckpointingTip,
    OptimizerStatesTip,  FusedOptimizerTip,    ShorterSequencesTip,
    LoraRankTip,         ZeroStageTip,         FsdpTip,
    CpuOffloadTip,       CheckpointStorageTip, SaveIntervalTip,
    LoaderWorkersTip,    PinMemoryTip,         PrefetchTip,
    TorchCompileTip,     FlashAttentionTip,    CudnnBenchmarkTip,
    FeatureCacheTip,     NpzOrMmapTip,         GpuUseTip,
    TryFirstTip,         EffectiveBatchTip,    HangTip,
    BeforeSubmittingTip,
};

}  // namespace

std::vector<Tip> AllTips(const TipContext& context) {
  std::vector<Tip> tips;
  for (const Rule rule : kRules) tips.push_back(rule(context));
  std::stable_sort(tips.begin(), tips.end(), [](const Tip& a, const Tip& b) {
    return a.applies != b.applies ? a.applies : a.worth > b.worth;
  });
  return tips;
}

}  // namespace gpuadvise
