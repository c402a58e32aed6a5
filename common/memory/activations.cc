#include "common/memory/activations.h"

#include <algorithm>

#include "common/memory/adapters.h"

namespace gpuadvise {
namespace {

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
    const double number = NumberBytes(setup_);
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
  const double number = NumberBytes(setup);
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
  // 0.5 x, 1 + tanh(…) and tanh(…) beside x.
  const bool fused = setup.compiled || (setup.use_liger_kernel && stack.gated_mlp);
  if (stack.gelu_new && !fused) kept += 3;
  return kept * NumberBytes(setup) * i + inputs.Kept(i, {"down_proj"}, false);
}

// bitsandbytes before 0.43.2 (July 2024) kept the inputs of its 4-bit layers, although nothing
// needs them (its pull 1270).
bool KeepsFourBitInputs(const TrainingSetup& setup) {
  constexpr double kBitsandbytes432 = 2024.55;
  return BaseOf(setup) == BaseWeights::kNf4 && setup.software_year > 0 &&
         setup.software_year < kBitsandbytes432;
}

// Of a token in a row of `tokens`, which sees `seen_per_token` times as many.
double AttentionBytes(const TransformerStack& stack, const TrainingSetup& setup,
                      const LinearInputs& inputs, int64_t tokens, double seen_per_token) {
  const double number = NumberBytes(setup);
  const auto q = static_cast<double>(stack.query_size());
  const auto k =
      static_cast<double>(setup.repeats_key_values ? stack.query_size() : stack.key_size());
  double bytes = number * (q + 2 * k * seen_per_token + q) + inputs.Kept(q, {"o_proj"}, true);
  if (setup.flash_attention) return bytes;
  const auto scores = static_cast<double>(stack.num_attention_heads * tokens) * seen_per_token;
  return bytes + scores * (stack.dropout ? 2 * number + 1 : 2 * number);
}

// Bytes kept for one token in one expert, with the copies of its hidden state to and from it.
double ExpertBytes(const TransformerStack& stack, const TrainingSetup& setup,
                   const LinearInputs& inputs) {
  return 2 * NumberBytes(setup) * static_cast<double>(stack.hidden_size) +
         MlpBytes(stack, setup, inputs, static_cast<double>(stack.moe_intermediate_size));
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
  const double expert = ExpertBytes(stack, setup, inputs);
  const auto active = static_cast<double>(stack.num_experts_per_tok);
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
  return NumberBytes(setup) * (h + q + k + q + i + h);
}

// Whether torch.compile fuses the loss into two passes over the scores. torchtitan compiles it
// since January 2025.
bool CompilesLoss(const TrainingSetup& setup) {
  constexpr double kSince = 2025.05;
  const bool recent = setup.software_year == 0 || setup.software_year >= kSince;
  const bool in_model = setup.trainer == Trainer::kSft;  // others compare scores outside it
  return setup.compiled && ((recent && in_model) || setup.chunked_cross_entropy);
}

}  // namespace

int64_t InputTokens(const ModelShape& model, const TrainingSetup& setup) {
  return setup.seq_length + (model.encoder ? 0 : setup.target_length);
}

TextRow RowOfLayers(const ModelShape& model, const TrainingSetup& setup, int64_t in_row) {
  if (!model.encoder) return {in_row};
  return {setup.target_length > 0 ? setup.target_length : in_row, in_row};
}

double AutogradBytesOfLayer(const TransformerStack& stack, const TrainingSetup& setup,
                            const TextRow& row, const MemoryConstants& constants) {
  const double number = NumberBytes(setup);
  const auto h = static_cast<double>(stack.hidden_size);
  const LinearInputs inputs(stack, setup);
  double bytes = NormBytes(stack, setup) + inputs.Kept(h, {"q_proj", "k_proj", "v_proj"}, false) +
                 AttentionBytes(stack, setup, inputs, row.tokens, 1);
  if (stack.cross_attention) {
    bytes += NormBytes(stack, setup) + inputs.Kept(h, {"q_proj"}, false) +
             AttentionBytes(stack, setup, inputs, row.tokens, row.SeenPerToken());
  }
  bytes += NormBytes(stack, setup) + MlpOfLayers(stack, setup, inputs);
  if (stack.dropout) bytes += (2 + (IsComposed(setup) ? 2 * number : 0)) * h;  // masks
  if (KeepsFourBitInputs(setup)) {
    const auto q = static_cast<double>(stack.query_size());
    const auto i = static_cast<double>(stack.active_intermediate_size());
    bytes += number * (h + q + h + i);
  }
  return setup.method == Method::kDora ? bytes * constants.dora_share : bytes;
}

namespace {

// Bytes of gradients within a layer that was computed again.
double GradientsAtWork(const TransformerStack& stack, const TrainingSetup& setup, double layer,
                       double tokens, const MemoryConstants& constants) {
  const double share = constants.layer_at_work - 1;
  if (setup.use_liger_kernel && stack.gated_mlp) {
    // Liger writes gradients over what they were computed from; that of down_proj's input is new.
    const auto i = static_cast<double>(stack.active_intermediate_size());
    return std::min(share * layer, NumberBytes(setup) * i * tokens);
  }
  // Transformers before 5 calls one expert after the other.
  constexpr double kTransformers5 = 2025.9;
  const bool in_turn = setup.software_year > 0 && setup.software_year < kTransformers5;
  if (stack.num_experts == 0 || !in_turn) return share * layer;
  const auto experts = static_cast<double>(stack.num_experts);
  const double idle = ExpertBytes(stack, setup, LinearInputs(stack, setup)) * tokens *
                      static_cast<double>(stack.num_experts_per_tok) * (1 - 1 / experts) *
                      static_cast<double>(stack.expert_layers()) /
                      static_cast<double>(stack.num_hidden_layers);
  return share * std::max(layer - idle, 0.0);
}

}  // namespace

StackActivations CountActivations(const TransformerStack& stack, const TrainingSetup& setup,
                                  const TextRow& row, double rows, double layers,
                                  const MemoryConstants& constants) {
  constexpr double kLayersOnTheWay = 2;  // to and from host memory
  const double tokens = rows * static_cast<double>(row.tokens);
  const double layer = AutogradBytesOfLayer(stack, setup, row, constants) * tokens;
  StackActivations bytes{layer, constants.layer_in_backward * layer};
  if (setup.checkpointing == Checkpointing::kFull) {
    const double number = setup.kbit_prepared ? 4 : NumberBytes(setup);  // embeddings are in fp32
    bytes.kept = number * static_cast<double>(stack.hidden_size) * tokens;
    bytes.at_work = layer + GradientsAtWork(stack, setup, layer, tokens, constants);
  } else if (setup.checkpointing == Checkpointing::kSelective) {
    const double kept = std::min(SelectiveBytes(stack, setup) * tokens, layer);
    bytes = {kept, constants.layer_at_work * layer - kept};
  }
  if (setup.checkpointing == Checkpointing::kFull) bytes.checkpoints = bytes.kept * layers;
  if (setup.activation_offload) layers = std::min(layers, kLayersOnTheWay);
  bytes.kept *= layers;
  return bytes;
}

LossBytes CountLossBytes(const ModelShape& model, const TrainingSetup& setup, double tokens,
                         const MemoryConstants& constants) {
  if (!model.lm_head) return {};
  const double scores = static_cast<double>(model.vocab_size) * tokens;
  if (setup.use_liger_kernel) {
    // Liger's fused loss works in chunks whose logits are as large as the hidden states. It holds
    // them in half precision and in fp32, and the gradient of the hidden states.
    const auto h = static_cast<double>(model.layers.hidden_size);
    return {.in_use = std::min((2 + 4 + 4) * h * tokens, constants.logits_bytes * scores)};
  }
  const double wide = NumberBytes(setup) / 2;  // than half precision
  if (CompilesLoss(setup)) return {.in_use = wide * constants.compiled_logits_bytes * scores};
  if (setup.chunked_cross_entropy) {
    return {.in_use = wide * constants.chunked_logits_bytes * scores};
  }
  if (setup.precision == Precision::kFp32) return {.in_use = constants.logits_bytes * scores};
  const bool autocast = !setup.pure_half && !setup.deepspeed;  // which computes losses in fp32
  const bool in_half = !setup.upcast_logits && !autocast;
  const double copies = setup.upcast_logits || in_half ? 1 : 2;  // shifted before the cast, too
  return {(in_half ? constants.half_logits_bytes : constants.logits_bytes) * scores,
          copies * constants.freed_logits_bytes * scores};
}

}  // namespace gpuadvise
