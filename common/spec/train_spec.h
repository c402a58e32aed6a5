// train.yaml as a value: what a person wants trained and under which conditions.
//
// Decoded from the file's JSON form. Every key is checked for type, range and spelling by the table
// of keys (train_keys.h, which docs/train-yaml.md shows); errors carry the JSON pointer of the
// value. Sizes are bytes, times seconds. A key that was not given is an empty optional: defaults
// are chosen where they are used, so that "not said" and "said" stay apart. Words of the file that
// have one meaning each are read once and are enums from there on; an optimizer's name stays text,
// because any name that a trainer knows may stand there.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/models/model_presets.h"
#include "common/models/model_shape.h"
#include "common/spec/training_spec.h"

namespace gpuadvise {

struct ModelSpec {
  std::string preset;                         // "" none
  std::optional<MemoryLine> memory;           // the explicit line
  std::optional<double> params;               // parameters of the whole model
  std::optional<ModelShape> shape;            // given by its keys or by hf_config
  std::vector<std::string> assumed;           // where hf_config left something open
  std::vector<std::string> not_counted = {};  // as TrainingSpec's
  // Keys of the shape beside `preset`, which win over the preset's (stage_needs.h); nullptr: none.
  std::shared_ptr<const nlohmann::json> beside_preset;
};

// One training run; a train.yaml without `stages:` is one stage.
struct Stage {
  std::string name;
  ModelSpec model;
  TrainingSpec training;
  std::string pointer;  // of the stage in the document, "" for the whole
};

struct ResourceSpec {
  std::vector<std::string> gpus;  // allow-list; empty: any
  std::vector<std::string> exclude_gpus;
  std::vector<std::string> prices;  // of a GPU-hour (common/plan/prices.h)
  std::optional<int64_t> max_nodes;
  std::optional<int64_t> max_gpus;
  std::optional<int64_t> cpus_per_gpu;
  std::optional<int64_t> mem_per_gpu_bytes;

  template <typename F>
  static void Keys(F&& f) {
    f("gpus", &ResourceSpec::gpus);
    f("exclude_gpus", &ResourceSpec::exclude_gpus);
    f("prices", &ResourceSpec::prices);
    f("max_nodes", &ResourceSpec::max_nodes);
    f("max_gpus", &ResourceSpec::max_gpus);
    f("cpus_per_gpu", &ResourceSpec::cpus_per_gpu);
    f("mem_per_gpu", &ResourceSpec::mem_per_gpu_bytes);
  }
};

struct SlurmSpec {
  std::string account, qos, partition, constraint, exclude, nodelist;
  std::optional<int64_t> time_limit_seconds;

  template <typename F>
  static void Keys(F&& f) {
    f("account", &SlurmSpec::account);
    f("qos", &SlurmSpec::qos);
    f("partition", &SlurmSpec::partition);
    f("constraint", &SlurmSpec::constraint);
    f("exclude", &SlurmSpec::exclude);
    f("nodelist", &SlurmSpec::nodelist);
    f("time", &SlurmSpec::time_limit_seconds);
  }
};

struct OutputSpec {
  std::optional<int64_t> checkpoint_bytes;
  std::optional<int64_t> keep;
  std::optional<int64_t> save_steps;

  template <typename F>
  static void Keys(F&& f) {
    f("checkpoint", &OutputSpec::checkpoint_bytes);
    f("keep", &OutputSpec::keep);
    f("save_steps", &OutputSpec::save_steps);
  }
};

struct RequiresSpec {
  bool flash_attention_2 = false;
  bool fp8 = false;
  std::optional<double> min_compute_capability;

  template <typename F>
  static void Keys(F&& f) {
    f("flash_attention_2", &RequiresSpec::flash_attention_2);
    f("fp8", &RequiresSpec::fp8);
    f("min_compute_capability", &RequiresSpec::min_compute_capability);
  }
};

enum class Objective { kFinish, kStart, kCost, kDeadline };

struct TrainSpec {
  std::string name = "train";
  std::vector<Stage> stages;  // never empty
  ResourceSpec resources;
  SlurmSpec slurm;
  OutputSpec output;
  RequiresSpec requires_gpu;
  Objective objective = Objective::kFinish;
  std::optional<int64_t> deadline;  // unix seconds
};

// Decodes `document`, whose place in the request is `pointer` ("/spec"). Errors: kBadInput.
Result<TrainSpec> ParseTrainSpec(const nlohmann::json& document, const std::string& pointer,
                                 RunLength run_length = RunLength::kRequired);

// Whether a measured line says how long a step takes.
bool HasTiming(const TrainingSpec& training);

// Whether `optim` is one of Transformers' names whose states are counted; any other counts as
// AdamW with states in fp32.
bool IsKnownOptimizer(const std::string& optim);

// "not counted: …": what the stage says, changes memory or run time, and is not counted; ""
// nothing.
std::string NotCountedOf(const Stage& stage);

// Whether a length of kUsualSeqLength tokens is assumed for want of training.max_seq_length.
bool AssumesLength(const TrainingSpec& training, const ModelShape& shape);

// Whether samples are assumed to have no images, although the model has a vision tower, for want of
// training.images_per_sample.
bool AssumesNoImages(const TrainingSpec& training, const ModelShape& shape);

// What is taken for granted of a stage whose memory or run time is counted from its model's shape,
// where the file leaves something open, and what is not counted of it; in sentences.
std::vector<std::string> AssumptionsOf(const Stage& stage, const ModelShape& shape);

// "bf16", "fp16", "fp32", and back; nullopt for any other word.
std::string ToWord(Precision precision);
std::optional<Precision> PrecisionFromWord(const std::string& word);

// "full", "lora", "dora", "qlora", and back; nullopt for any other word.
std::string ToWord(Method method);
std::optional<Method> MethodFromWord(const std::string& word);

// "finish", "start", "cost", "deadline".
std::string ToWord(Objective objective);
// nullopt for any other word.
std::optional<Objective> ObjectiveFromWord(const std::string& word);

}  // namespace gpuadvise
