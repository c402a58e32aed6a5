#include "common/training/activations.h"

#include <algorithm>

#include "common/training/adapters.h"

namespace gpuadvise {
namespace {

double Number(const TrainingSetup& setup) { return setup.precision == Precision::kFp32 ? 4 : 2; }

// Which inputs of linear layers are kept, and how many bytes adapters add.
class LinearInputs {
 public:
  LinearInputs(const TransformerStack& stack, const TrainingSetup& setup) : setup_(setup) {
    for (const LinearLayer& linear : LinearsOf(stack)) {
      if (IsAdapted(linear, setup)) names_.emplace_back(linear.name);
    }
  }

  // Bytes that are kept of an input of `size` numbers, which layers with these names share. Where
  // there is dropout, each adapter has a copy of its own and a mask of one byte a number.
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

// RMSNorm as Transformers' decoders have it; else LayerNorm, one kernel.
bool HasRmsNorm(const TransformerStack& stack) { return stack.gated_mlp && stack.rotary; }

bool IsFused(const TrainingSetup& setup) { return setup.compiled || setup.use_liger_kernel; }

// Of a norm, without its output.
double NormBytes(const TransformerStack& stack, const TrainingSetup& setup) {
  const double number = Number(setup);
  const auto h = static_cast<double>(stack.hidden_size);
  if (!HasRmsNorm(stack) || IsFused(setup)) return number * h;
  const bool trains = setup.method == Method::kFull;  // then the normalised numbers are kept too
  return (4 + (trains ? number : 0)) * h;
}

// Activation functions and dropout of Python lines, before they were kernels of their own, keep
// what lies between the lines (BERT of NVIDIA's examples of 2020).
bool IsComposed(const TrainingSetup& setup) {
  constexpr double kOwnKernels = 2021.5;
  return setup.software_year > 0 && setup.software_year < kOwnKernels;
}

// Of a gated or plain MLP with `i` inner numbers, without the input of its first matrices: what the
// activation function and the product with `up` keep, and the input of the last matrix.
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

// What the MLP of one layer keeps for a token, its input and its norm's output included.
double MlpOfLayers(const TransformerStack& stack, const TrainingSetup& setup,
                   const LinearInputs& inputs) {
  const auto h = static_cast<double>(stack.hidden_size);
  const double input = inputs.Kept(h, {"up_proj", "gate_proj"}, false);
  const auto dense =
      input + MlpBytes(stack, setup, inputs, static_cast<double>(stack.intermediate_size));
  if (stack.num_experts == 0) return dense;
  // A token goes through some experts, copied for each and weighed when it comes back; the router
  // scores all of them in fp32.
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

// torchtitan's selective checkpointing keeps every second product of matrices and attention's
// output: of q, k, v, o, gate, up, down those of q, v, gate and down; and the layer's input.
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

StackActivations ActivationsOf(const TransformerStack& stack, const TrainingSetup& setup,
                               int64_t tokens_in_row, double tokens, double layers,
                               const MemoryConstants& constants) {
  constexpr double kLayersOnTheWay = 2;  // to the host's memory and back
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
    // Liger's fused loss: a chunk of as many tokens as make its scores as large as the hidden
    // states, in half precision and in fp32, and the gradient of the hidden states.
    const auto h = static_cast<double>(model.layers.hidden_size);
    return std::min((2 + 4 + 4) * h, constants.logits_bytes * words) * tokens;
  }
  const bool autocast = !setup.pure_half && setup.precision != Precision::kFp32;
  double each = autocast ? constants.logits_bytes : constants.plain_logits_bytes;
  if (autocast && setup.compiled) each -= 2;  // the copy in half precision is fused away
  if (setup.deepspeed && setup.precision == Precision::kFp16) each = constants.half_logits_bytes;
  if (setup.chunked_cross_entropy) {
    each = std::min(
        each, setup.compiled ? constants.compiled_chunk_bytes : constants.chunked_logits_bytes);
  }
  return each * words * tokens;
}

}  // namespace gpuadvise
