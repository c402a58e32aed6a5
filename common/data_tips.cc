// Tips about reading samples and writing checkpoints.
#include <fmt/format.h>

#include <algorithm>

#include "common/tip_rules.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

constexpr int64_t kMostWorkers = 8;
constexpr int64_t kKept = 5;              // checkpoints, as the guides keep
constexpr double kLittleBytes = 5e9;      // no quota minds
constexpr double kHomeQuotaBytes = 20e9;  // a usual quota of a home directory, nearly

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
    return NotHere(tip, fmt::format("the file says {}", workers));
  }
  tip.text = fmt::format("dataloader_num_workers: {} instead of {}: a GPU's share has {}",
                         *at.cpus_per_gpu, workers, Plural(*at.cpus_per_gpu, "CPU"));
  return Here(tip, .1);
}

}  // namespace

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
  return Here(tip, .1);
}

Tip PinMemoryTip(const TipContext&) {
  Tip tip{.name = "pin_memory",
          .text =
              "pin_memory (dataloader_pin_memory, on by default in Transformers): the GPU "
              "computes while the next batch is copied",
          .effect = "+10 to +15 % speed together with prefetch_factor",
          .source_of_effect = kClaimed};
  return Here(tip, 0);
}

Tip PrefetchTip(const TipContext& at) {
  Tip tip{.name = "prefetch_factor",
          .text =
              "dataloader_prefetch_factor: 4 (up to 6) instead of 2; each worker then holds "
              "that many batches in the host's memory",
          .effect = "+10 to +15 % speed together with pin_memory",
          .source_of_effect = kClaimed};
  if (at.training().dataloader_num_workers == 0) {
    return NotHere(tip, "only workers prefetch, and dataloader_num_workers is 0");
  }
  return Here(tip, 0);
}

Tip NpzOrMmapTip(const TipContext&) {
  return Here(
      {.name = "npz_or_mmap",
       .text = "Does it take minutes until the first step? Then store CSV as NPZ or another "
               "binary form once, and read it with mmap",
       .effect = "10 to 100 times faster to load, -50 to -80 % on disk",
       .source_of_effect = kClaimed},
      0);
}

Tip FeatureCacheTip(const TipContext& at) {
  Tip tip{.name = "feature_cache",
          .text =
              "compute the features of the frozen vision tower once and keep them on disk, "
              "unless adapters train the tower or images are augmented at random",
          .effect = "10 to 20 times faster, -10 GB",
          .source_of_effect = kClaimed};
  const bool known = at.shape != nullptr;
  if (!HasVision(at)) {
    return NotHere(tip, known ? "the model has no vision tower"
                              : "nothing says that the model has a vision tower");
  }
  const bool frozen = at.training().method != "full" || (known && at.shape->vision->frozen);
  if (!frozen) {
    return NotHere(tip,
                   "the vision tower is trained, so that its features change "
                   "(model.vision.frozen says otherwise)");
  }
  if (at.training().num_train_epochs && *at.training().num_train_epochs <= 1) {
    return NotHere(tip, "each sample is seen once only");
  }
  tip.effect += TowerWeights(at);
  if (known) tip.source_of_effect = kClaimedAndCounted;
  return Here(tip, .2);
}

Tip CheckpointStorageTip(const TipContext& at) {
  Tip tip{.name = "checkpoint_storage",
          .text = "write checkpoints to scratch, and copy only the last one home"};
  if (!at.spec.output.checkpoint_bytes) {
    return NotHere(tip, "nothing says how large a checkpoint is (output.checkpoint would)");
  }
  const int64_t kept = at.spec.output.keep.value_or(SavesOf(at));
  if (kept < 1) return NotHere(tip, "nothing says how many are kept (output.keep would)");
  const double bytes =
      static_cast<double>(kept) * static_cast<double>(*at.spec.output.checkpoint_bytes);
  const std::string what = fmt::format("{} take {:.{}f} GB", Plural(kept, "checkpoint"),
                                       bytes / 1e9, bytes < 1e9 ? 1 : 0);
  if (bytes < kLittleBytes) return NotHere(tip, what + ", which hardly any quota minds");
  tip.text = what + ": write them to scratch, not to your home";
  return Here(tip, bytes > kHomeQuotaBytes ? .3 : .12);
}

Tip SaveIntervalTip(const TipContext& at) {
  Tip tip{.name = "save_interval", .text = "save so seldom that five checkpoints exist"};
  const OutputSpec& output = at.spec.output;
  if (output.keep && *output.keep <= kKept) {
    return NotHere(tip, fmt::format("output.keep leaves {}", Plural(*output.keep, "checkpoint")));
  }
  if (!at.steps) return NotHere(tip, "nothing says how many steps the run has");
  if (*at.steps < 10 * kKept) return NotHere(tip, "the run is too short to save often");
  const int64_t every = *at.steps / kKept;
  if (!output.save_steps) {
    tip.text = fmt::format("save_steps: {} leaves five checkpoints", every);
    return Here(tip, 0);
  }
  const int64_t saves = SavesOf(at);
  if (saves <= kKept) {
    return NotHere(tip, fmt::format("save_steps: {} leaves {}", *output.save_steps,
                                    Plural(saves, "checkpoint")));
  }
  tip.text = fmt::format("save_steps: {}, or keep: {}, leaves five checkpoints instead of {}",
                         every, kKept, saves);
  return Here(tip, .08);
}

}  // namespace gpuadvise
