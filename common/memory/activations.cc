#include "common/memory/activations.h"

#include <algorithm>

#include "common/memory/adapters.h"

namespace gpuadvise {
namespace {

double Number(const TrainingSetup& setup) { return setup.precision == Precision::kFp32 ? 4 : 2; }

// Decides which inputs of linear layers are kept, and the bytes that adapters add.
class LinearInputs {
 public:
  LinearInputs(const TransformerStack& stack, const TrainingSetup& setup) : setup_(setup) {
    for (const LinearLayer& linear : ListLinearLayers(stack)) {
      if (IsAdapted(linear, setup)) names_.emplace_back(linear.name);
    }
  }

  // Bytes kept of an input of `size` numbers that the named layers share. With dropout, each
  // adapter has its own copy and a mask of one byte per number.
  double Kept(double size, std::initializer_list<const char*> layers, bool kept_anyway) const {
    const double number = Number(setup_);
    if (setup_.method == Method::kFull) return kept_anyway ? 0 : number * size;
    const auto adapters = static_cast<double>(std::count_if(
        layers.begin(), layers.end(), [&](const char* name) { return Adapted(name); }));
    if (adapters == 0) return 0;
    double bytes = adapters * number * static_cast<double>(setup_.lora_rank);  // x·A
    if (setup_.lora_dropout > 0) return bytes + adapters * (number + 1) * size;
    return kept_anyway ? bytes : bytes + number * size;
  }

 private:
  bool Adapted(const char* name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  const TrainingSetup& setup_;
  std::vector<std::string> names_;
};

// RMSNorm as in Transformers' decoders; otherwise LayerNorm, one kernel.
bool HasRmsNorm(const TransformerStack& stack) { return stack.gated_mlp && stack.rotary; }

bool IsFused(const TrainingSetup& setup) { return setup.compiled || setup.use_liger_kernel; }

// Bytes kept by a norm, excluding its output.
double NormBytes(const TransformerStack& stack, const TrainingSetup& setup) {
  const double number = Number(setup);
  const auto h = static_cast<double>(stack.hidden_size);
  if (!HasRmsNorm(stack) || IsFused(setup)) return number * h;
  const bool trains = setup.method == Method::kFull;  // then normalised numbers are kept too
  return (4 + (trains ? number : 0)) * h;
}

// Activation functions and dropout composed of several operations, before fused kernels, also keep
// intermediates (BERT in NVIDIA's examples of 2020).
bool IsComposed(const TrainingSetup& setup) {
  constexpr double kOwnKernels = 2021.5;
  return setup.software_year > 0 && setup.software_year < kOwnKernels;
}

// Bytes kept by a gated or plain MLP of width `i`, excluding the input of its first matrices: by
// the activation function, the product with `up`, and as input of the last matrix.
double MlpBytes(const TransformerStack& stack, const TrainingSetup& setup,
                const LinearInputs& inputs, double i) {
  double kept = stack.gated_mlp ? (IsFused(setup) ? 2 : 3) : 1;
  if (!stack.gated_mlp && IsComposed(setup)) kept += 1;
  return kept * Number(setup) * i + inputs.Kept(i, {"down_proj"}, false);
}

double AttentionBytes(const TransformerStack& stack, const TrainingSetup& setup,
                      const LinearInputs& inputs, int64_t tokens_in_row) {
  const double number = Number(setup);
  const auto q = static_cast<double>(stack.query_size());
  const auto k =
      static_cast<double>(setup.repeats_key_values ? stack.query_size() : stack.key_size());
  double bytes = number * (q + 2 * k + q) + inputs.Kept(q, {"o_proj"}, true);
  if (setup.flash_attention) return bytes;
  const auto scores = static_cast<double>(stack.num_attention_heads * tokens_in_row);
  return bytes + scores * (stack.dropout ? 2 * number + 1 : 2 * number);
}

// Bytes per token kept by a layer's MLP, including its input and its norm's output.
double MlpOfLayers(const TransformerStack& stack, const TrainingSetup& setup,
                   const LinearInputs& inputs) {
  const auto h = static_cast<double>(stack.hidden_size);
  const double input = inputs.Kept(h, {"up_proj", "gate_proj"}, false);
  const auto dense =
      input + MlpBytes(stack, setup, inputs, static_cast<double>(stack.intermediate_size));
  if (stack.num_experts == 0) return dense;
  // A token passes through several experts: copied for each, weighted on return. The router scores
  // all experts in fp32.
  const double number = Number(setup);
  const auto active = static_cast<double>(stack.num_experts_per_tok);
  const double expert = 2 * number * h + MlpBytes(stack, setup, inputs,
                                                  static_cast<double>(stack.moe_intermediate_size));
  const double shared =
      stack.shared_intermediate_size > 0
          ? MlpBytes(stack, setup, inputs, static_cast<double>(stack.shared_intermediate_size))
          : 0;
  const double router = 8 * static_cast<double>(stack.num_experts);
  const double mixture = input + active * expert + shared + router;
  const auto layers = static_cast<double>(stack.num_hidden_layers);
  const auto first = static_cast<double>(stack.num_dense_layers);
  return (first * dense + (layers - first) * mixture) / std::max(layers, 1.0);
}

// torchtitan's selective checkpointing keeps every second matrix product and attention's output: of
// q, k, v, o, gate, up, down those of q, v, gate and down; and the layer's input.
double SelectiveBytes(const TransformerStack& stack, const TrainingSetup& setup) {
  const auto h = static_cast<double>(stack.hidden_size);
  const auto q = static_cast<double>(stack.query_size());
  const auto k = static_cast<double>(stack.key_size());
  double i = static_cast<double>(stack.intermediate_size);
  if (stack.num_experts > 0) {
    i = static_cast<double>(stack.num_experts_per_tok * stack.moe_intermediate_size +
                            stack.shared_intermediate_size);
  }
  return Number(setup) * (h + q + k + q + i + h);
}

}  // namespace

double AutogradBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                            int64_t tokens_in_row, const MemoryConstants& constants) {
  const double number = Number(setup);
  const auto h = static_cast<double>(stack.hidden_size);
  const LinearInputs inputs(stack, setup);
  double bytes = NormBytes(stack, setup) + inputs.Kept(h, {"q_proj", "k_proj", "v_proj"}, false) +
                 AttentionBytes(stack, setup, inputs, tokens_in_row);
  if (stack.cross_attention) {
    bytes += NormBytes(stack, setup) + inputs.Kept(h, {"q_proj"}, false) +
             AttentionBytes(stack, setup, inputs, tokens_in_row);
  }
  bytes += NormBytes(stack, setup) + MlpOfLayers(stack, setup, inputs);
  if (stack.dropout) bytes += (2 + (IsComposed(setup) ? 2 * number : 0)) * h;  // masks
  if (HasFourBitBase(setup)) bytes += constants.nf4_input_bytes * h;
  return setup.method == Method::kDora ? bytes * constants.dora_share : bytes;
}

StackActivations CountActivations(const TransformerStack& stack, const TrainingSetup& setup,
                                  int64_t tokens_in_row, double tokens, double layers,
                                  const MemoryConstants& constants) {
  constexpr double kLayersOnTheWay = 2;  // to and from host memory
  const double layer = AutogradBytesOfLayer(stack, setup, tokens_in_row, constants) * tokens;
  StackActivations bytes{layer, constants.layer_in_backward * layer};
  if (setup.checkpointing == Checkpointing::kFull) {
    bytes = {Number(setup) * static_cast<double>(stack.hidden_size) * tokens,
             constants.layer_at_work * layer};
  } else if (setup.checkpointing == Checkpointing::kSelective) {
    const double kept = std::min(SelectiveBytes(stack, setup) * tokens, layer);
    bytes = {kept, constants.layer_at_work * layer - kept};
  }
  if (setup.activation_offload) layers = std::min(layers, kLayersOnTheWay);
  bytes.kept *= layers;
  return bytes;
}

double LogitsBytes(const ModelShape& model, const TrainingSetup& setup, double tokens,
                   const MemoryConstants& constants) {
  if (!model.lm_head) return 0;
  const auto words = static_cast<double>(model.vocab_size);
  if (setup.use_liger_kernel) {
    // Liger's fused loss works in chunks whose logits are as large as the hidden states. It holds
    // them in half precision and in fp32, and the gradient of the hidden states.
    const auto h = static_cast<double>(model.layers.hidden_size);
    return std::min((2 + 4 + 4) * h, constants.logits_bytes * words) * tokens;
  }
  const bool autocast = !setup.pure_half && setup.precision != Precision::kFp32;
  double each = autocast ? constants.logits_bytes : constants.plain_logits_bytes;
  if (autocast && setup.compiled) each -= 2;  // fuses the half-precision copy
  if (setup.deepspeed && setup.precision == Precision::kFp16) each = constants.half_logits_bytes;
  if (setup.chunked_cross_entropy) {
    each = std::min(
        each, setup.compiled ? constants.compiled_chunk_bytes : constants.chunked_logits_bytes);
  }
  return each * words * tokens;
}

}  // namespace gpuadvise
