#include "common/training/train_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <unordered_map>

#include "common/base/json_fields.h"
#include "common/training/media_keys.h"
#include "common/training/training_keys.h"

namespace gpuadvise {
namespace {

using Kind = ValueKind;

constexpr size_t kHostListBytes = 65536;

constexpr double kMostParameters = 1e15;  // beyond it a number is a slip

std::vector<TrainKey> ModelKeys() {
  return {
      {.path = "model",
       .kind = Kind::kMap,
       .meaning =
           "What is trained. One way of saying it is enough: `preset`, `hf_config`, the keys "
           "of its shape, or a memory line."},
      {.path = "model.preset",
       .meaning =
           "A model that is known by name or by its Hugging Face id; `gpuadvise models` lists "
           "them. Keys of the shape given beside it win over the preset's; its timings and its "
           "memory line then no longer count."},
      {.path = "model.hf_config",
       .kind = Kind::kOther,
       .form = "the path of a config.json, beside the training file",
       .meaning =
           "The model's own Hugging Face configuration, read by its fields: any architecture of "
           "Transformers. Its layers and vocabulary are counted; norms and biases (below 0.1 %) "
           "only with `params`. Keys of the shape given beside it win over the file's."},
      {.path = "model.params",
       .kind = Kind::kNumber,
       .low = 1,
       .high = kMostParameters,
       .unit = "parameters",
       .usual = "counted from the shape",
       .meaning =
           "Parameters of the whole model. Where its shape is known the count is made to agree "
           "with it. With a memory line it gives the run time, together with `max_seq_length`; "
           "memory then still comes from the line."},
      {.path = "model.memory",
       .kind = Kind::kMap,
       .meaning =
           "Memory of one GPU as a line: base + per_sample × micro-batch + overhead. It wins "
           "over everything counted, so settings such as gradient_checkpointing, optim or "
           "max_seq_length no longer change the memory. Two measured peaks give it, or "
           "`gpuadvise fit --trace`."},
      {.path = "model.memory.base",
       .kind = Kind::kSize,
       .meaning = "Weights, gradients and optimizer states: what a GPU holds without any sample. "
                  "Required."},
      {.path = "model.memory.per_sample",
       .kind = Kind::kSize,
       .meaning = "What each sample of the micro-batch adds. Required."},
      {.path = "model.memory.overhead",
       .kind = Kind::kSize,
       .usual = "0",
       .meaning = "CUDA context, libraries and buffers."},
      {.path = "model.memory.floor",
       .kind = Kind::kSize,
       .usual = "0",
       .meaning = "Least of base + per_sample × micro-batch: what the optimizer's step takes, "
                  "however small the micro-batch is."},
  };
}

// The keys of a stack of layers, below `section`.
std::vector<TrainKey> StackKeys(std::string_view hidden, std::string_view layers,
                                std::string_view heads, std::string_view kv_heads,
                                std::string_view head_dim, std::string_view intermediate,
                                std::string_view gated, std::string_view rotary,
                                std::string_view dropout, std::string_view alibi) {
  return {
      {.path = hidden,
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e7,
       .meaning =
           "Width of the layers. With `num_hidden_layers` it is the least that a shape needs."},
      {.path = layers, .kind = Kind::kWhole, .low = 1, .high = 1e5, .meaning = "Number of layers."},
      {.path = heads,
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .usual = "heads of 128",
       .meaning = "Attention heads of a layer."},
      {.path = kv_heads,
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .usual = "num_attention_heads",
       .meaning = "Heads for keys and values; fewer in grouped-query attention."},
      {.path = head_dim,
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .usual = "hidden_size / num_attention_heads",
       .meaning = "Width of a head."},
      {.path = intermediate,
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e8,
       .usual = "4 × hidden_size",
       .meaning = "Width of the MLP."},
      {.path = gated,
       .kind = Kind::kBool,
       .usual = "true",
       .meaning = "The MLP has three matrices (gate, up, down) instead of two."},
      {.path = rotary,
       .kind = Kind::kBool,
       .usual = "true",
       .meaning = "Positions are turned into queries and keys, which keeps a copy of both."},
      {.path = dropout,
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Dropout is on in training: masks are kept."},
      {.path = alibi,
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Positions are added to the scores of attention, which slows fused kernels."},
  };
}

// Of the text layers alone: mixtures of experts and latent attention.
std::vector<TrainKey> ExpertKeys() {
  return {
      {.path = "model.num_experts",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e5,
       .usual = "no experts: one MLP for all tokens",
       .meaning = "Experts of a layer of a mixture of experts. Memory holds all of them; a token "
                  "passes through `num_experts_per_tok`."},
      {.path = "model.num_experts_per_tok",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e5,
       .meaning = "Experts that a token passes through, shared ones aside. Required with "
                  "`num_experts`."},
      {.path = "model.moe_intermediate_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e8,
       .usual = "intermediate_size",
       .meaning = "Width of one expert; `intermediate_size` is then a dense layer's."},
      {.path = "model.shared_intermediate_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e8,
       .usual = "no shared experts",
       .meaning = "Width of the experts that see every token, together."},
      {.path = "model.num_dense_layers",
       .kind = Kind::kWhole,
       .low = 0,
       .high = 1e5,
       .usual = "0",
       .meaning = "Of `num_hidden_layers`, those with one MLP instead of experts."},
      {.path = "model.kv_lora_rank",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e7,
       .usual = "no latent attention",
       .meaning = "Latent attention (DeepSeek's MLA): width from which keys and values are "
                  "projected up. `head_dim` is then that of queries, rotary part included."},
      {.path = "model.q_lora_rank",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e7,
       .usual = "queries are not compressed",
       .meaning = "The same for queries."},
      {.path = "model.qk_rope_head_dim",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .usual = "0",
       .meaning = "With `kv_lora_rank`: the part of `head_dim` that carries positions."},
      {.path = "model.v_head_dim",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .usual = "head_dim",
       .meaning = "With `kv_lora_rank`: width of a head's values."},
  };
}

std::vector<TrainKey> ShapeKeys() {
  return {
      {.path = "model.vocab_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e8,
       .usual = "no embeddings",
       .meaning = "Words of the vocabulary. Counted: the embedding and, with `lm_head`, the scores "
                  "of every word for every token."},
      {.path = "model.tie_word_embeddings",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Input and output embedding are one matrix."},
      {.path = "model.lm_head",
       .kind = Kind::kBool,
       .usual = "true",
       .meaning = "Scores for every word come out. False for classifiers and towers."},
      {.path = "model.extra_params",
       .kind = Kind::kNumber,
       .low = 0,
       .high = kMostParameters,
       .unit = "parameters",
       .usual = "0",
       .meaning = "Heads and experts beside the layers. They are always trained, also with LoRA."},
      {.path = "model.other_params",
       .kind = Kind::kNumber,
       .low = -kMostParameters,
       .high = kMostParameters,
       .unit = "parameters",
       .usual = "0",
       .meaning = "What the model has beyond the counted matrices (norms, biases, projectors, "
                  "state-space layers). Held in memory; trained only with everything else."},
      {.path = "model.encoder",
       .kind = Kind::kMap,
       .meaning =
           "The encoder of an encoder-decoder; the keys above are then its decoder, which gets "
           "cross-attention."},
      {.path = "model.encoder.params",
       .kind = Kind::kNumber,
       .low = 1,
       .high = kMostParameters,
       .unit = "parameters",
       .meaning = "Further parameters of the encoder, always trained."},
      {.path = "model.vision",
       .kind = Kind::kMap,
       .meaning = "The vision tower of a vision-language model."},
      {.path = "model.vision.tokens_per_image",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e7,
       .unit = "tokens",
       .usual = "0: images add no tokens",
       .meaning = "Tokens of one image that the language model sees. They come on top of "
                  "`max_seq_length`, `images_per_sample` times."},
      {.path = "model.vision.patches_per_token",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e4,
       .usual = "1",
       .meaning = "Patches that the tower merges into one token."},
      {.path = "model.vision.frozen",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "The tower is not trained: it keeps no activations, gradients or states."},
      {.path = "model.vision.params",
       .kind = Kind::kNumber,
       .low = 1,
       .high = kMostParameters,
       .unit = "parameters",
       .meaning = "Further parameters of the tower (a projector), always trained."},
  };
}

std::vector<TrainKey> JobKeys() {
  return {
      {.path = "resources", .kind = Kind::kMap, .meaning = "What the job may take of the cluster."},
      {.path = "resources.gpus",
       .kind = Kind::kTexts,
       .usual = "any",
       .meaning = "The only kinds of GPU to consider; `gpuadvise cards` lists the names."},
      {.path = "resources.max_nodes",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e5,
       .unit = "nodes",
       .usual = "1",
       .meaning = "Nodes of one job, at most."},
      {.path = "resources.max_gpus",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e7,
       .unit = "GPUs",
       .meaning = "GPUs of one job in all, at most."},
      {.path = "resources.cpus_per_gpu",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e5,
       .unit = "CPUs",
       .usual = "its share of the node",
       .meaning = "Asked of Slurm for each GPU, and counted in the wait."},
      {.path = "resources.mem_per_gpu",
       .kind = Kind::kSize,
       .usual = "Slurm's own default, else its share of the node",
       .meaning = "Host memory for each GPU, asked of Slurm; not the GPU's own memory."},
      {.path = "requires", .kind = Kind::kMap, .meaning = "What a GPU must have to be considered."},
      {.path = "requires.flash_attention_2",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Compute capability 8.0 (Ampere) or later."},
      {.path = "requires.fp8",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Compute capability 8.9 (Ada, Hopper) or later."},
      {.path = "requires.min_compute_capability",
       .kind = Kind::kNumber,
       .low = 1,
       .high = 100,
       .meaning = "The least compute capability, such as 8.0."},
      {.path = "slurm",
       .kind = Kind::kMap,
       .meaning = "What you fix; the rest is chosen. Flags of the same name win."},
      {.path = "slurm.account", .meaning = "Account to charge."},
      {.path = "slurm.qos", .meaning = "Quality of service."},
      {.path = "slurm.partition", .meaning = "Partition to stay in."},
      {.path = "slurm.time",
       .kind = Kind::kTimeLimit,
       .usual = "enough for nine runs in ten, and some more",
       .meaning = "Time limit: minutes, 12:00:00 or 2-00:00:00."},
      {.path = "slurm.constraint", .meaning = "Node features required, like a100&ib."},
      {.path = "slurm.exclude", .most = kHostListBytes, .meaning = "Nodes never to use."},
      {.path = "slurm.nodelist",
       .most = kHostListBytes,
       .meaning = "Only these nodes. Delays the start; better `exclude`."},
      {.path = "slurm.array",
       .meaning = "Written into the job script (0-9%2). The advice is for one task of the array."},
      {.path = "slurm.extra",
       .kind = Kind::kTexts,
       .meaning = "Further options for the job script, such as --mail-type=END. They win over the "
                  "advice and are not counted in it."},
      {.path = "objective",
       .kind = Kind::kWord,
       .words = {"finish", "start", "cost", "deadline"},
       .usual = "finish",
       .meaning = "What to rank by: the earliest end, the earliest start, the lowest cost, or the "
                  "lowest cost that makes the deadline."},
      {.path = "deadline",
       .kind = Kind::kOther,
       .form = "a time: fri, 18:00, 2026-11-27T18:00, now+2days",
       .meaning = "When it must be done, with `objective: deadline`."},
      {.path = "output",
       .kind = Kind::kMap,
       .meaning = "Where results go, and how large they are."},
      {.path = "output.dir",
       .meaning = "Folder of the results; {output_dir} in the command. Made if it is missing."},
      {.path = "output.checkpoint",
       .kind = Kind::kSize,
       .usual = "estimated from the shape, for the check of space only",
       .meaning = "Size of one checkpoint. Each stops the training for its size at 1 GB/s."},
      {.path = "output.keep",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .unit = "checkpoints",
       .usual = "all",
       .meaning = "How many are kept. Room is needed for one more."},
      {.path = "output.save_steps",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostWork,
       .unit = "optimizer steps",
       .meaning = "A checkpoint every so many steps."},
  };
}

std::vector<TrainKey> ScriptKeys() {
  return {
      {.path = "command",
       .most = 65536,
       .meaning =
           "What the job runs. {micro_batch}, {accumulation}, {effective_batch_size}, "
           "{gpus_per_node}, {nodes}, {gpus}, {steps}, {samples}, {cpus_per_task}, {precision}, "
           "{gpu}, {partition}, {name}, {output_dir}, {resume}, {node_rank}, {master_addr} and "
           "{master_port} are filled in. Required by `submit`."},
      {.path = "setup",
       .kind = Kind::kTexts,
       .meaning = "Shell lines before the command, such as module load or source."},
      {.path = "env",
       .kind = Kind::kOther,
       .form = "a map of NAME: value",
       .meaning = "Environment variables of the job."},
      {.path = "workdir",
       .usual = "where submit was called",
       .meaning = "Folder in which setup and command run."},
      {.path = "container",
       .meaning = "An image; the command then runs in apptainer exec --nv. Changes no figure."},
      {.path = "inference",
       .kind = Kind::kMap,
       .meaning =
           "Settings of inference that a file may hold beside those of training. Nothing here "
           "changes the advice."},
      {.path = "inference.batch_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostSamples,
       .unit = "samples",
       .meaning = "For your own program."},
      {.path = "inference.per_device_eval_batch_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostSamples,
       .unit = "samples",
       .meaning = "For your own program."},
      {.path = "inference.max_seq_length",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostTokens,
       .unit = "tokens",
       .meaning = "For your own program."},
      {.path = "inference.bf16",
       .kind = Kind::kSwitch,
       .words = {"auto"},
       .meaning = "For your own program."},
      {.path = "inference.fp16",
       .kind = Kind::kSwitch,
       .words = {"auto"},
       .meaning = "For your own program."},
      {.path = "stages",
       .kind = Kind::kList,
       .most = 32,
       .meaning =
           "Trainings that follow each other in one job. What the file says under `model` and "
           "`training` holds for each of them."},
      {.path = "stages.name", .meaning = "Name of the stage."},
      {.path = "stages.model",
       .kind = Kind::kOther,
       .form = "the keys of model",
       .meaning = "Of this stage; wins key by key over the file's."},
      {.path = "stages.training",
       .kind = Kind::kOther,
       .form = "the keys of training",
       .meaning = "Of this stage; wins key by key over the file's."},
  };
}

std::vector<TrainKey> AllKeys() {
  std::vector<TrainKey> keys = {{.path = "name",
                                 .usual = "train, or the section's name",
                                 .most = 1024,  // as Slurm takes it
                                 .meaning = "Name of the job and of its log."}};
  const auto add = [&keys](const std::vector<TrainKey>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
  };
  add(ModelKeys());
  add(StackKeys("model.hidden_size", "model.num_hidden_layers", "model.num_attention_heads",
                "model.num_key_value_heads", "model.head_dim", "model.intermediate_size",
                "model.gated_mlp", "model.rotary", "model.dropout", "model.alibi"));
  add(ExpertKeys());
  add(ShapeKeys());
  add(StackKeys("model.encoder.hidden_size", "model.encoder.num_hidden_layers",
                "model.encoder.num_attention_heads", "model.encoder.num_key_value_heads",
                "model.encoder.head_dim", "model.encoder.intermediate_size",
                "model.encoder.gated_mlp", "model.encoder.rotary", "model.encoder.dropout",
                "model.encoder.alibi"));
  add(StackKeys("model.vision.hidden_size", "model.vision.num_hidden_layers",
                "model.vision.num_attention_heads", "model.vision.num_key_value_heads",
                "model.vision.head_dim", "model.vision.intermediate_size", "model.vision.gated_mlp",
                "model.vision.rotary", "model.vision.dropout", "model.vision.alibi"));
  add(MediaModelKeys());
  add(TrainingKeys());
  add(MediaTrainingKeys());
  add(JobKeys());
  add(ScriptKeys());
  return keys;
}

// "1000", "10^12", "10^-6".
std::string Bound(double number) {
  if (number < 0) return "-" + Bound(-number);
  if (number == 0 || (number > 1e-4 && number < 1e7)) return fmt::format("{:.10g}", number);
  return fmt::format("10^{:.0f}", std::log10(number));
}

}  // namespace

std::span<const TrainKey> TrainKeys() {
  static const std::vector<TrainKey> kKeys = AllKeys();
  return kKeys;
}

const TrainKey* FindTrainKey(std::string_view path) {
  static const std::unordered_map<std::string_view, const TrainKey*> kByPath = [] {
    std::unordered_map<std::string_view, const TrainKey*> by_path;
    for (const TrainKey& key : TrainKeys()) by_path.emplace(key.path, &key);
    return by_path;
  }();
  const auto found = kByPath.find(path);
  return found == kByPath.end() ? nullptr : found->second;
}

std::vector<const TrainKey*> TrainKeysIn(std::string_view section) {
  std::vector<const TrainKey*> keys;
  for (const TrainKey& key : TrainKeys()) {
    if (key.section() == section) keys.push_back(&key);
  }
  return keys;
}

std::string ValueInWords(const TrainKey& key) {
  switch (key.kind) {
    case ValueKind::kWhole:
      return fmt::format("a whole number from {} to {}", Bound(key.low), Bound(key.high));
    case ValueKind::kNumber:
      return fmt::format("a number from {} to {}", Bound(key.low), Bound(key.high));
    case ValueKind::kBool:
      return "true or false";
    case ValueKind::kText:
      if (!key.form.empty()) return std::string(key.form);
      return key.most == 0 ? "text" : fmt::format("text of {} bytes at most", key.most);
    case ValueKind::kWord:
      return fmt::format("{}", fmt::join(key.words, ", "));
    case ValueKind::kSwitch:
      return fmt::format("true, false, {}", fmt::join(key.words, ", "));
    case ValueKind::kTexts:
      return "text, or a list of texts";
    case ValueKind::kSize:
      return "a size with its unit: 5 GB (10^9 bytes), 21.3 GiB or 30G (2^30)";
    case ValueKind::kTimeLimit:
      return "a time limit";
    case ValueKind::kMap:
      return "a map of the keys below";
    case ValueKind::kList:
      return fmt::format("a list of {} maps at most, with the keys below",
                         key.most == 0 ? kMaxListItems : key.most);
    case ValueKind::kOther:
      return std::string(key.form);
  }
  return {};
}

}  // namespace gpuadvise
