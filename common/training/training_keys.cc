#include "common/training/training_keys.h"

namespace gpuadvise {
namespace {

using Kind = ValueKind;

constexpr double kMostParallel = 65536;

std::vector<TrainKey> WorkKeys() {
  return {
      {.path = "training",
       .kind = Kind::kMap,
       .meaning =
           "How it is trained. The names are those of Hugging Face's TrainingArguments where "
           "it has one."},
      {.path = "training.max_steps",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostWork,
       .unit = "optimizer steps",
       .meaning =
           "Length of the run; accumulation is inside a step. One of `max_steps`, "
           "`num_train_epochs` with `num_samples`, and `samples` is required; `fit` needs none.",
       .option = "--max-steps"},
      {.path = "training.num_train_epochs",
       .kind = Kind::kNumber,
       .low = 1e-6,
       .high = 1e9,
       .unit = "epochs",
       .meaning = "Length of the run, in passes over `num_samples`.",
       .option = "--epochs,--num-train-epochs"},
      {.path = "training.num_samples",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostWork,
       .unit = "samples",
       .meaning = "Samples of the data set. With packing: packed rows.",
       .option = "--num-samples"},
      {.path = "training.samples",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostWork,
       .unit = "samples",
       .meaning = "Length of the run, as samples in all.",
       .option = "--samples"},
      {.path = "training.effective_batch_size",
       .kind = Kind::kOther,
       .form = "a whole number from 1 to 1000000, or a range [low, high]",
       .unit = "samples",
       .usual = "one micro-batch on each GPU",
       .meaning =
           "Micro-batch × accumulation × GPUs, kept on every kind of GPU so that the learning "
           "rate needs no change. A range leaves more GPU counts possible.",
       .option = "--effective,--effective-batch-size"},
      {.path = "training.per_device_train_batch_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostSamples,
       .unit = "samples",
       .usual = "the largest that fits and makes the effective batch",
       .meaning =
           "Fixes the micro-batch. It may use the safety margin, but not more than the card."},
      {.path = "training.gradient_accumulation_steps",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostSamples,
       .unit = "micro-batches",
       .usual = "chosen to make the effective batch",
       .meaning = "Fixes the accumulation.",
       .option = "--accumulation,--gradient-accumulation-steps"},
      {.path = "training.resume",
       .kind = Kind::kOther,
       .form = "false, true, or the words that {resume} in the command stands for",
       .usual = "false",
       .meaning = "The run may be longer than a job may be: it goes back into the queue before its "
                  "time limit and continues from its checkpoint. True where the command finds that "
                  "by itself."},
      {.path = "training.retry_on_oom",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning =
           "After running out of memory the command starts again with half the micro-batch and "
           "twice the accumulation. Not part of any forecast."},
  };
}

std::vector<TrainKey> MemoryKeys() {
  return {
      {.path = "training.max_seq_length",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostTokens,
       .unit = "tokens",
       .usual = "512",
       .meaning =
           "Text tokens of a sample; every sample counts as this long. Image tokens come on top "
           "(`images_per_sample` × `model.vision.tokens_per_image`).",
       .option = "--seq,--max-seq-length"},
      {.path = "training.mean_seq_length",
       .kind = Kind::kNumber,
       .low = 1,
       .high = kMostTokens,
       .unit = "tokens",
       .usual = "max_seq_length",
       .meaning = "Text tokens of a sample on average, where samples differ in length. Run time is "
                  "counted "
                  "by it, memory by the longest.",
       .option = "--mean-seq,--mean-seq-length"},
      {.path = "training.images_per_sample",
       .kind = Kind::kWhole,
       .low = 0,
       .high = 1e5,
       .unit = "images",
       .usual = "0",
       .meaning =
           "Images of a sample. Counted with `model.vision`: their tokens, on top of "
           "`max_seq_length`, and the tower's activations. Without a vision tower nothing is "
           "counted.",
       .option = "--images,--images-per-sample"},
      {.path = "training.packing",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Samples are packed to full rows. Changes no figure: every row counts as "
                  "`max_seq_length` anyway, and `num_samples` should then be rows."},
      {.path = "training.method",
       .kind = Kind::kWord,
       .words = {"full", "lora", "dora", "qlora"},
       .usual = "full",
       .meaning =
           "All weights, or adapters. Adapters leave the model frozen in 2 bytes a parameter, "
           "QLoRA in 4 bits.",
       .option = "--method"},
      {.path = "training.trainer",
       .kind = Kind::kWord,
       .words = {"sft", "dpo", "orpo", "kto", "reward", "grpo", "ppo"},
       .usual = "sft",
       .meaning =
           "What is optimised, by TRL's trainers: the next token (sft, also for pre-training), "
           "preferences (dpo, orpo, kto), a reward model, or rewards of generated samples (grpo, "
           "ppo). Generating those samples is not counted, and the answer says so.",
       .option = "--trainer"},
      {.path = "training.quantization",
       .kind = Kind::kWord,
       .words = {"nf4", "fp4", "gptq", "awq", "int8", "none"},
       .usual = "nf4 with qlora, else none",
       .meaning = "How the frozen weights under adapters are kept. fp4 counts as nf4, awq as gptq. "
                  "Without "
                  "`method` nf4 means qlora and the others lora; `method: full` is refused.",
       .option = "--quantization"},
      {.path = "training.load_in_8bit",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "The same as `quantization: int8`, under Transformers' name.",
       .option = "--load-in-8bit"},
      {.path = "training.load_in_4bit",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "The same as `quantization: nf4`, under Transformers' name.",
       .option = "--load-in-4bit"},
      {.path = "training.torch_dtype",
       .kind = Kind::kWord,
       .words = {"auto", "bfloat16", "bf16", "float16", "fp16", "float32", "fp32"},
       .usual = "float32 where all weights are trained",
       .meaning =
           "The format in which the weights are loaded. bfloat16 with all weights trained is the "
           "same as `pure_bf16`; weights under adapters are counted in half precision anyway."},
      {.path = "training.lora",
       .kind = Kind::kMap,
       .meaning = "The adapters, for every method but full."},
      {.path = "training.lora.r",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 65536,
       .usual = "8",
       .meaning = "Rank.",
       .option = "--lora-r"},
      {.path = "training.lora.lora_alpha",
       .kind = Kind::kNumber,
       .low = 0,
       .high = 1e6,
       .meaning = "Changes no figure."},
      {.path = "training.lora.lora_dropout",
       .kind = Kind::kNumber,
       .low = 0,
       .high = 0.999,
       .usual = "0",
       .meaning =
           "Dropout before the adapters. Above 0 each adapted layer keeps its input and a mask.",
       .option = "--lora-dropout"},
      {.path = "training.lora.target_modules",
       .kind = Kind::kTexts,
       .usual = "all linear layers",
       .most = 64,  // each is compared with every layer, for every batch that is tried
       .meaning = "The layers that get adapters, such as q_proj and v_proj."},
      {.path = "training.lora.modules_to_save",
       .kind = Kind::kTexts,
       .most = 64,
       .meaning =
           "Modules trained whole beside the adapters. Counted: embed_tokens, lm_head, wte and "
           "embeddings."},
      {.path = "training.optim",
       .usual = "adamw_torch",
       .meaning =
           "The optimizer, under Transformers' names. Counted: bytes of its states. An unknown "
           "name counts as AdamW in fp32, and the answer says so.",
       .option = "--optim"},
      {.path = "training.bf16",
       .kind = Kind::kSwitch,
       .words = {"auto"},
       .usual = "auto: where the GPU has it",
       .meaning = "Mixed precision in bf16. True rules out GPUs without bf16; false leaves fp16.",
       .option = "--bf16"},
      {.path = "training.fp16",
       .kind = Kind::kSwitch,
       .words = {"auto"},
       .usual = "auto: where the GPU has no bf16 and the model bears it",
       .meaning = "Mixed precision in fp16. With bf16 and fp16 both false training is in fp32.",
       .option = "--fp16"},
      {.path = "training.pure_bf16",
       .kind = Kind::kSwitch,
       .words = {"auto"},
       .usual = "false",
       .meaning =
           "Weights, gradients and states in bf16 too: half the memory of mixed precision, or "
           "less.",
       .option = "--pure-bf16"},
      {.path = "training.tf32",
       .kind = Kind::kSwitch,
       .words = {"auto"},
       .usual = "false, as in PyTorch",
       .meaning = "Products of fp32 numbers on tensor cores. Changes the run time of fp32 alone."},
      {.path = "training.gradient_checkpointing",
       .kind = Kind::kSwitch,
       .words = {"auto", "selective", "full", "none", "offload", "unsloth"},
       .usual = "auto: on where it is needed",
       .meaning =
           "Layers are computed again in the backward pass instead of kept: much less memory, "
           "a longer step. Selective recomputes a part of each layer; offload and unsloth also "
           "move "
           "what is kept to the host's memory.",
       .option = "--gradient-checkpointing"},
      {.path = "training.activation_offloading",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "What the backward pass needs waits in the host's memory, whose size is not "
                  "checked.",
       .option = "--activation-offloading"},
      {.path = "training.optimizer_in_backward",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning =
           "Each gradient is used and freed at once, so that they never stand in memory together. "
           "Not possible with accumulation.",
       .option = "--optimizer-in-backward"},
      {.path = "training.attn_implementation",
       .kind = Kind::kWord,
       .words = {"flash_attention_2", "sdpa", "eager"},
       .usual = "sdpa",
       .meaning =
           "Attention kernel. Eager keeps a score for every two tokens. flash_attention_2 needs "
           "compute capability 8.0.",
       .option = "--attn,--attn-implementation"},
      {.path = "training.chunked_cross_entropy",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning =
           "The trainer computes the loss in chunks (Liger, torchtune): 2 instead of 16 bytes "
           "for each word and token.",
       .option = "--chunked-cross-entropy"},
      {.path = "training.use_liger_kernel",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Liger's fused kernels: the loss is never computed for all words and tokens at "
                  "once, and "
                  "norms and MLPs keep less.",
       .option = "--liger,--use-liger-kernel"},
      {.path = "training.deepspeed",
       .kind = Kind::kOther,
       .form = "a ZeRO stage from 0 to 3, or the path of a DeepSpeed JSON file",
       .usual = "no DeepSpeed",
       .meaning = "Stage 1 shards the states, 2 the gradients too, 3 the weights too. Of a file "
                  "`zero_optimization`'s stage and offload, and the optimizer's type, are read.",
       .option = "--zero,--deepspeed"},
      {.path = "training.fsdp",
       .kind = Kind::kOther,
       .form = "full_shard, shard_grad_op, hybrid_shard, hybrid_shard_zero2 or no_shard; with "
               "auto_wrap, offload",
       .usual = "none",
       .meaning =
           "PyTorch's sharding, in Transformers' words: full_shard counts as ZeRO-3, shard_grad_op "
           "as ZeRO-2; hybrid_shard shards within a node and copies between nodes. offload is "
           "`offload: all`. Not together with `deepspeed`.",
       .option = "--fsdp"},
      {.path = "training.fsdp_version",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 2,
       .meaning = "2 alone turns on FSDP2, which shards as `reshard_after_forward` says."},
      {.path = "training.reshard_after_forward",
       .kind = Kind::kBool,
       .usual = "true",
       .meaning =
           "Of FSDP2: true shards weights as full_shard does, false keeps them as shard_grad_op "
           "does."},
      {.path = "training.fsdp_config",
       .kind = Kind::kOther,
       .form = "Transformers' fsdp_config, a map",
       .meaning = "Read are version, reshard_after_forward, sharding_strategy, offload_params and "
                  "activation_checkpointing, also with fsdp_ before them."},
      {.path = "training.offload",
       .kind = Kind::kWord,
       .words = {"none", "optimizer", "all"},
       .usual = "none",
       .meaning =
           "What lies in host memory: optimizer states, or with ZeRO-3 weights and gradients as "
           "well. The host's own memory is not checked.",
       .option = "--offload"},
      {.path = "training.per_device_eval_batch_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostSamples,
       .unit = "samples",
       .meaning = "For the trainer; changes no figure. `fit` shows the largest that fits."},
  };
}

std::vector<TrainKey> ParallelKeys() {
  return {
      {.path = "training.tensor_parallel_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostParallel,
       .unit = "GPUs",
       .usual = "1",
       .meaning = "GPUs that share each layer.",
       .option = "--tp,--tensor-parallel-size"},
      {.path = "training.pipeline_parallel_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostParallel,
       .unit = "GPUs",
       .usual = "1",
       .meaning = "GPUs that each hold some of the layers.",
       .option = "--pp,--pipeline-parallel-size"},
      {.path = "training.context_parallel_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostParallel,
       .unit = "GPUs",
       .usual = "1",
       .meaning = "GPUs that share the tokens of a sample.",
       .option = "--cp,--context-parallel-size"},
      {.path = "training.expert_parallel_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = kMostParallel,
       .unit = "GPUs",
       .usual = "1",
       .meaning = "GPUs that share the experts of a layer.",
       .option = "--ep,--expert-parallel-size"},
  };
}

std::vector<TrainKey> SpeedKeys() {
  return {
      {.path = "training.torch_compile",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning =
           "Counted: fewer kernel launches, compact scores, three more minutes at the start.",
       .option = "--torch-compile"},
      {.path = "training.fp8",
       .kind = Kind::kBool,
       .usual = "false",
       .meaning = "Products of matrices in 8 bits (Transformer Engine, torchao), where the GPU has "
                  "them; weights, gradients and states stay as they are.",
       .option = "--fp8"},
      {.path = "training.software",
       .form = "a PyTorch version, an NGC container or a year: '2.4', 'ngc 24.10', 2022",
       .usual = "today's",
       .most = 256,
       .meaning =
           "How old PyTorch and its libraries are: a PyTorch version (2.4), the release of an NGC "
           "container (24.10) or a year. Older software runs the same GPU slower.",
       .option = "--software"},
      {.path = "training.dataloader_num_workers",
       .kind = Kind::kWhole,
       .low = 0,
       .high = 1e5,
       .meaning =
           "Loader processes of each GPU. Counted only with `dataloader_seconds_per_sample`."},
      {.path = "training.dataloader_seconds_per_sample",
       .kind = Kind::kNumber,
       .low = 0,
       .high = 1e6,
       .unit = "seconds",
       .usual = "0",
       .meaning = "What one worker needs for a sample. Where loading takes longer than the GPU, it "
                  "decides the step."},
      {.path = "training.measured",
       .kind = Kind::kList,
       .meaning =
           "What was really measured, a line each. A timing corrects the run time on every GPU, "
           "a peak corrects the memory."},
      {.path = "training.measured.gpu", .meaning = "The GPU, in any spelling. Required."},
      {.path = "training.measured.gpus",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .usual = "1",
       .meaning = "GPUs of that job in all."},
      {.path = "training.measured.nodes",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e5,
       .usual = "as few as hold the GPUs",
       .meaning = "Nodes that these GPUs were on."},
      {.path = "training.measured.batch",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .unit = "samples",
       .meaning = "Its micro-batch. Required."},
      {.path = "training.measured.seconds_per_step",
       .kind = Kind::kNumber,
       .low = 1e-6,
       .high = 1e7,
       .unit = "seconds",
       .meaning = "Of one optimizer step, accumulation included; the start is not in it."},
      {.path = "training.measured.effective_batch_size",
       .kind = Kind::kWhole,
       .low = 1,
       .high = 1e6,
       .unit = "samples",
       .usual = "what the training's own gives at this micro-batch",
       .meaning = "Of the measured step, where it differs from the file's."},
      {.path = "training.measured.peak",
       .kind = Kind::kSize,
       .meaning = "Peak memory of one GPU, as nvidia-smi shows it."},
  };
}

}  // namespace

std::vector<TrainKey> TrainingKeys() {
  std::vector<TrainKey> keys = WorkKeys();
  for (const auto& part : {MemoryKeys(), ParallelKeys(), SpeedKeys()}) {
    keys.insert(keys.end(), part.begin(), part.end());
  }
  return keys;
}

}  // namespace gpuadvise
