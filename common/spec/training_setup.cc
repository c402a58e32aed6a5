#include "common/spec/training_setup.h"

namespace gpuadvise {
namespace {

// Whether a step takes several micro-batches; where the micro-batch is open, as if it were small.
bool Accumulates(const TrainingSpec& training, int64_t data_parallel) {
  if (training.accumulation) return *training.accumulation > 1;
  if (!training.effective_batch_size) return false;
  return training.effective_batch_size->low > data_parallel * training.micro_batch.value_or(1);
}

// Fused attention came with PyTorch 2.0.
bool IsEager(const TrainingSpec& training) {
  constexpr double kPyTorch20 = 2023.2;
  if (training.attn_implementation) return training.attn_implementation == Attention::kEager;
  return training.software_year.value_or(kPyTorch20) < kPyTorch20;
}

}  // namespace

TrainingSetup SetupFrom(const TrainingSpec& training, Precision precision, int64_t gpus) {
  TrainingSetup setup;
  setup.precision = precision;
  setup.checkpointing = training.gradient_checkpointing.value_or(Checkpointing::kNone);
  setup.micro_batch = training.micro_batch.value_or(1);
  setup.seq_length = training.max_seq_length.value_or(kUsualSeqLength);
  setup.images = training.images_per_sample.value_or(0);
  setup.gpus = gpus;
  setup.deepspeed = training.zero_stage.has_value();
  // DeepSpeed keeps trained weights in float32 beside, whatever they were loaded in.
  const bool has_masters = setup.deepspeed && training.method == Method::kFull;
  setup.pure_half = training.pure_bf16 && precision == Precision::kBf16 && !has_masters;
  setup.zero_stage = static_cast<int>(training.zero_stage.value_or(0));
  if (training.fsdp) setup.zero_stage = *training.fsdp == Fsdp::kFullShard ? 3 : 2;
  setup.offload = training.offload;
  setup.method = training.method;
  setup.lora_rank = training.lora.r;
  setup.target_modules = training.lora.target_modules;
  setup.modules_to_save = training.lora.modules_to_save;
  setup.optim = training.optim;
  setup.flash_attention = !IsEager(training);
  setup.tf32 = training.tf32;
  setup.compiled = training.torch_compile.value_or(false);
  setup.chunked_cross_entropy = training.chunked_cross_entropy;
  setup.use_liger_kernel = training.use_liger_kernel;
  setup.upcast_logits = training.upcast_logits;
  setup.reentrant = training.use_reentrant.value_or(true);
  setup.double_quantized = training.double_quantized;
  setup.kbit_prepared = training.kbit_prepared && training.method != Method::kFull &&
                        training.base_weights != BaseWeights::kGptq4;  // which PEFT leaves alone
  setup.lora_dropout = training.lora.dropout;
  setup.base_weights = training.base_weights;
  setup.activation_offload = training.activation_offload;
  setup.optimizer_in_backward = training.optimizer_in_backward;
  setup.trainer = training.trainer;
  setup.tensor_parallel = training.tensor_parallel_size.value_or(1);
  setup.pipeline_parallel = training.pipeline_parallel_size.value_or(1);
  setup.context_parallel = training.context_parallel_size.value_or(1);
  setup.expert_parallel = training.expert_parallel_size.value_or(1);
  setup.mean_seq_length = training.mean_seq_length.value_or(0);
  setup.target_length = training.max_target_length.value_or(0);
  setup.fp8 = training.fp8;
  setup.media = training.media;
  setup.hybrid_shard = training.hybrid_shard;
  setup.software_year = training.software_year.value_or(0);
  setup.accumulates = Accumulates(training, DataParallelGpus(setup));
  setup.repeats_key_values = training.attn_implementation != Attention::kFlashAttention2;
  return setup;
}

}  // namespace gpuadvise
