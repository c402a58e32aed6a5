#include "common/models/media_blocks.h"

#include <algorithm>
#include <cmath>

namespace gpuadvise {
namespace {

// Kernel launches relative to a transformer layer, counted from a block's modules (a Llama layer: 7
// linear layers, 2 norms, positions, attention, activation, sums).
constexpr double kModulationLaunches = 0.8;  // a linear layer, two scales and shifts, two gates
constexpr double kCrossLaunches = 0.6;       // a norm, 4 linear layers, attention
constexpr double kStreamLaunches = 0.8;      // everything but attention again
constexpr double kResnetLaunches = 0.6;
constexpr double kConvolutionLaunches = 0.13;  // including normalisation and activation

double Square(double number) { return number * number; }
double Real(int64_t number) { return static_cast<double>(number); }

// A transformer layer over its own `tokens`.
struct LayerForm {
  double width = 0;
  double attention = 0;  // total width of all heads
  double heads = 0;
  double mlp = 0;
  bool gated = false;
  double tokens = 0;
  double sees = 0;     // tokens attended to by each
  double streams = 1;  // sets of weights; each token uses one
  // Cross attention to text.
  double cross_tokens = 0;
  double cross_width = 0;
  // Scales and shifts: 6 (or 3) times the width, from a vector of this width; 0: shared by all
  // layers.
  bool modulated = false;
  double modulation_width = 0;
  bool qk_norm = false;
};

MediaBlock LayerOf(const LayerForm& form) {
  const double h = form.width;
  const double a = form.attention;
  const double n = form.tokens;
  const double mlp_weights = (form.gated ? 3 : 2) * h * form.mlp;
  MediaBlock block;
  block.input = h * n;
  block.attention_sides = form.streams * 4 * (h + a);
  block.mlp_sides = form.streams * (form.gated ? 3 : 2) * (h + form.mlp);
  block.parameters = form.streams * (4 * h * a + mlp_weights + 9 * h + form.mlp);
  block.matrix_operations = 2 * n * (4 * h * a + mlp_weights);
  block.attention_operations = 4 * n * form.sees * a;
  block.scores = form.heads * n * form.sees;
  block.launches = 1 + (form.streams - 1) * kStreamLaunches;
  // Attention: what the fused kernel keeps (queries, keys, values, output) and its input. Autocast
  // copies it for each of three matrices, PEFT for each adapter, including the output matrix's.
  block.kept_norms = 2 * h * n;
  block.kept = 4 * a * n;
  block.kept_for_weights = 3 * h * n;
  block.kept_for_attention = (3 * h + a) * n;
  if (form.qk_norm) {  // RMSNorm squares in fp32 and scales in half precision
    block.kept_norms += 2 * a * n;
    block.kept += 2 * a * n;
  }
  // MLP: input and output of the activation, and with a gate both factors.
  block.kept += (form.gated ? 3 : 1) * form.mlp * n;
  block.kept_for_mlp = (h + form.mlp) * n;
  if (form.cross_tokens > 0) {
    const double text = form.cross_tokens;
    block.parameters += 2 * h * a + 2 * form.cross_width * a + 2 * h;
    block.attention_sides += 2 * (h + a) + 2 * (form.cross_width + a);
    block.matrix_operations += 2 * n * 2 * h * a + 2 * text * 2 * form.cross_width * a;
    block.attention_operations += 4 * n * text * a;
    block.scores += form.heads * n * text;
    block.kept_norms += h * n;
    block.kept += 2 * a * n + 2 * a * text;
    block.kept_for_weights += h * n;
    block.kept_for_attention += (h + a) * n + 2 * form.cross_width * text;
    block.launches += kCrossLaunches;
  }
  if (form.modulated) {
    block.parameters += form.streams * 6 * h * (form.modulation_width + 1);
    block.kept_norms_for_weights += 2 * h * n;  // inputs of scales
    block.kept_for_weights += 2 * h * n;        // inputs of gates
    block.launches += kModulationLaunches;
  }
  return block;
}

LayerForm FormOf(const MediaLayers& layers, double tokens) {
  LayerForm form;
  form.width = form.attention = Real(layers.hidden_size);
  form.heads = Real(layers.num_attention_heads);
  form.mlp = Real(layers.intermediate_size);
  form.gated = layers.gated_mlp;
  form.tokens = form.sees = tokens;
  return form;
}

// Weights and operations of a convolution: `out` positions, each from kernel² numbers per channel.
struct Convolution {
  double in = 0;
  double channels = 0;
  double kernel_area = 9;
  double places = 0;
  double groups = 1;

  double parameters() const { return in / groups * channels * kernel_area; }
  double operations() const { return 2 * parameters() * places; }
};

void Add(MediaBlock& block, const Convolution& convolution) {
  block.parameters += convolution.parameters() + convolution.channels;
  block.convolution_operations += convolution.operations();
}

// A block of a single convolution that keeps its input.
MediaBlock ConvolutionAlone(const Convolution& convolution, double input_places) {
  MediaBlock block;
  block.checkpointed = false;
  block.kept = convolution.in * input_places;
  block.launches = kConvolutionLaunches / 3;
  Add(block, convolution);
  return block;
}

// --- U-Net ---

class UnetBlocks {
 public:
  UnetBlocks(const UnetShape& unet, double side)
      : unet_(unet), places_(Square(side)), embedding_(4 * Real(unet.block_out_channels.front())) {}

  std::vector<MediaBlock> Of() {
    Embeddings();
    const size_t levels = unet_.block_out_channels.size();
    double channels = Channels(0);
    Convolve(Real(unet_.in_channels), channels, places_, places_);
    std::vector<double> skips = {channels};
    for (size_t level = 0; level < levels; ++level) {
      for (int64_t i = 0; i < unet_.layers_per_block; ++i) {
        Resnet(channels, Channels(level));
        channels = Channels(level);
        Transformer(channels, Depth(level));
        skips.push_back(channels);
      }
      if (level + 1 == levels) continue;
      Convolve(channels, channels, places_, places_ / 4);
      places_ /= 4;
      skips.push_back(channels);
    }
    Resnet(channels, channels);
    Transformer(channels, Real(unet_.mid_transformer_layers));
    Resnet(channels, channels);
    for (size_t level = levels; level-- > 0;) {
      for (int64_t i = 0; i <= unet_.layers_per_block; ++i) {
        Resnet(channels + skips.back(), Channels(level));
        skips.pop_back();
        channels = Channels(level);
        Transformer(channels, Depth(level));
      }
      if (level == 0) continue;
      places_ *= 4;
      Convolve(channels, channels, places_, places_);
    }
    Norm(channels);
    Convolve(channels, 4, places_, places_);
    return std::move(blocks_);
  }

 private:
  double Channels(size_t level) const { return Real(unet_.block_out_channels[level]); }
  double Depth(size_t level) const {
    const auto& depths = unet_.transformer_layers_per_block;
    return level < depths.size() ? Real(depths[level]) : 0;
  }

  // Time embedding, and SDXL's additional embeddings.
  void Embeddings() {
    MediaBlock block;
    block.checkpointed = false;
    block.parameters = Channels(0) * embedding_ + Square(embedding_);
    if (unet_.added_embedding > 0) {
      block.parameters += Real(unet_.added_embedding) * embedding_ + Square(embedding_);
    }
    blocks_.push_back(block);
  }

  void Convolve(double in, double channels, double input_places, double places) {
    blocks_.push_back(ConvolutionAlone({in, channels, 9, places}, input_places));
  }

  // A group norm, its activation, and the copy kept by the next convolution.
  void Norm(double channels) {
    MediaBlock block;
    block.checkpointed = false;
    block.kept_norms = 2 * channels * places_;
    blocks_.push_back(block);
  }

  void Resnet(double in, double out) {
    MediaBlock block;
    block.input = in * places_;
    // Twice: group norm and SiLU keep their inputs, and so does the convolution.
    block.kept_norms = 2 * (in + out) * places_;
    block.kept = (in + out) * places_;
    block.launches = kResnetLaunches;
    Add(block, {in, out, 9, places_});
    Add(block, {out, out, 9, places_});
    block.parameters += embedding_ * out + 2 * (in + out);
    if (in != out) {
      Add(block, {in, out, 1, places_});
      block.kept += in * places_;
    }
    blocks_.push_back(block);
  }

  void Transformer(double channels, double depth) {
    if (depth == 0) return;
    MediaBlock around;  // group norm, input and output projection
    around.checkpointed = false;
    around.kept_norms = channels * places_;
    around.kept = 2 * channels * places_;
    around.parameters = 2 * Square(channels);
    around.matrix_operations = 2 * around.parameters * places_;
    around.launches = kResnetLaunches / 3;
    blocks_.push_back(around);
    LayerForm form;
    form.width = form.attention = channels;
    form.heads = Real(unet_.num_attention_heads);
    form.mlp = 4 * channels;
    form.gated = true;  // GEGLU
    form.tokens = form.sees = places_;
    form.cross_tokens = Real(unet_.text_tokens);
    form.cross_width = Real(unet_.cross_attention_dim);
    MediaBlock layer = LayerOf(form);
    layer.count = depth;
    blocks_.push_back(layer);
  }

  const UnetShape& unet_;
  double places_;  // of the current level
  double embedding_;
  std::vector<MediaBlock> blocks_;
};

// --- diffusion transformers ---

std::vector<MediaBlock> BlocksOfDit(const DitShape& dit, const MediaSize& size) {
  const double side = std::ceil(Real(size.resolution) / Real(dit.vae_scale * dit.patch_size));
  const double frames =
      1 + std::ceil(Real(std::max<int64_t>(size.num_frames, 1) - 1) / Real(dit.vae_time_scale));
  const double picture = Square(side) * frames;
  const double text = Real(dit.text_tokens);
  const double h = Real(dit.layers.hidden_size);
  const bool runs_along = dit.joint_attention || dit.text_in_row || dit.num_single_layers > 0;

  MediaBlock ends;  // patch, text and time embeddings, and the last projection
  ends.checkpointed = false;
  const double patch = Real(dit.in_channels * dit.patch_size * dit.patch_size);
  ends.parameters = 2 * patch * h + Real(dit.text_hidden_size) * h + 2 * Square(h);
  ends.parameters += 2 * Square(h);  // final scale and shift
  if (dit.modulation_dim == 0) ends.parameters += 6 * Square(h);
  ends.matrix_operations = 4 * patch * h * picture;
  ends.kept_norms = h * picture;
  ends.kept = (h + patch) * picture;

  LayerForm form = FormOf(dit.layers, picture + (runs_along ? text : 0));
  form.streams = dit.joint_attention ? 2 : 1;
  form.modulated = true;
  form.modulation_width = Real(dit.modulation_dim);
  form.qk_norm = dit.qk_norm;
  if (dit.cross_attention_dim > 0) {
    form.cross_tokens = text;
    form.cross_width = Real(dit.cross_attention_dim);
  }
  MediaBlock layer = LayerOf(form);
  layer.count = Real(dit.layers.num_hidden_layers);
  std::vector<MediaBlock> blocks = {ends, layer};
  if (dit.num_dual_attention_layers > 0) {
    LayerForm attention = form;
    attention.streams = 1;
    attention.mlp = 0;
    attention.tokens = attention.sees = picture;
    MediaBlock dual = LayerOf(attention);
    dual.count = Real(dit.num_dual_attention_layers);
    dual.parameters -= 3 * h * form.modulation_width;  // scale, shift and gate
    dual.input = 0;                                    // checkpointed with its layer
    dual.kept_norms -= h * picture;                    // shares its layer's norm
    blocks.push_back(dual);
  }
  if (dit.num_single_layers > 0) {
    form.streams = 1;
    MediaBlock single = LayerOf(form);
    single.count = Real(dit.num_single_layers);
    single.parameters -= 3 * h * form.modulation_width;  // one scale, shift and gate for both
    single.kept_norms -= h * form.tokens;                // and one norm
    blocks.push_back(single);
  }
  return blocks;
}

// --- encoders ---

std::vector<MediaBlock> BlocksOfImageEncoder(const ImageEncoderShape& encoder,
                                             const MediaSize& size) {
  const double side = std::floor(Real(size.resolution) / Real(encoder.patch_size));
  const double h = Real(encoder.layers.hidden_size);
  MediaBlock patches;
  patches.checkpointed = false;
  patches.kept = 3 * Square(Real(size.resolution));
  patches.parameters = 3 * Square(Real(encoder.patch_size)) * h;
  patches.parameters += h * Square(Real(size.resolution) / Real(encoder.patch_size));  // positions
  patches.matrix_operations = 2 * 3 * Square(Real(encoder.patch_size)) * h * Square(side);
  LayerForm form = FormOf(encoder.layers, Square(side) + 1);
  if (encoder.window > 0) form.sees = Square(Real(encoder.window));
  MediaBlock layer = LayerOf(form);
  layer.count = Real(encoder.layers.num_hidden_layers);
  return {patches, layer};
}

std::vector<MediaBlock> BlocksOfAudioEncoder(const AudioEncoderShape& encoder,
                                             const MediaSize& size) {
  std::vector<MediaBlock> blocks;
  double places = size.audio_seconds * Real(encoder.input_rate);
  double channels = Real(encoder.input_channels);
  for (const AudioConvolution& each : encoder.convolutions) {
    const double input_places = places;
    places = std::floor(places / Real(each.stride));
    const double out = Real(each.channels);
    MediaBlock block = ConvolutionAlone({channels, out, Real(each.kernel), places}, input_places);
    block.kept += out * places;  // input of the activation
    if (encoder.normalised) block.kept_norms = out * places;
    block.launches = kConvolutionLaunches;
    block.frozen = encoder.frozen_front_end;
    blocks.push_back(block);
    channels = out;
  }
  const double h = Real(encoder.layers.hidden_size);
  if (channels != h) {  // from the convolutions' width to the layers'
    MediaBlock projection;
    projection.checkpointed = false;
    projection.parameters = channels * h;
    projection.kept_norms = channels * places;
    projection.kept = channels * places;
    projection.matrix_operations = 2 * projection.parameters * places;
    blocks.push_back(projection);
  }
  if (encoder.position_kernel > 0) {
    constexpr double kGroups = 16;  // wav2vec2's num_conv_pos_embedding_groups
    MediaBlock positions =
        ConvolutionAlone({h, h, Real(encoder.position_kernel), places, kGroups}, places);
    positions.kept += h * places;
    blocks.push_back(positions);
  }
  MediaBlock layer = LayerOf(FormOf(encoder.layers, places));
  layer.count = Real(encoder.layers.num_hidden_layers);
  blocks.push_back(layer);
  if (encoder.read_by_layers > 0) {
    // A decoder's keys and values over the encoder output; its weights count in the decoder.
    const double keys = Real(encoder.read_by_key_size);
    MediaBlock read;
    read.count = Real(encoder.read_by_layers);
    read.kept = 2 * keys * places;
    read.matrix_operations = 2 * places * 2 * h * keys;
    blocks.push_back(read);
  }
  return blocks;
}

// --- stages of convolutions ---

class StageBlocks {
 public:
  StageBlocks(const ConvolutionShape& shape, double side) : shape_(shape), side_(side) {}

  std::vector<MediaBlock> Of() {
    channels_ = 3;
    const double stem = Real(shape_.stem_channels);
    Start();
    Convolve(stem, Real(shape_.stem_kernel), shape_.stem_stride, 1);
    End();
    if (shape_.stem_pool) side_ = std::ceil(side_ / 2);
    for (const ConvolutionStage& stage : shape_.stages) Stage(stage);
    if (shape_.head_channels > 0) {
      Start();
      Convolve(Real(shape_.head_channels), 1, 1, 1);
      End();
    }
    MediaBlock head;
    head.checkpointed = false;
    head.parameters = channels_ * Real(shape_.num_labels) + Real(shape_.num_labels);
    head.matrix_operations = 2 * channels_ * Real(shape_.num_labels);
    blocks_.push_back(head);
    return std::move(blocks_);
  }

 private:
  double places() const { return Square(side_); }

  void Start() {
    block_ = {};
    block_.input = channels_ * places();
  }
  void End() { blocks_.push_back(block_); }

  // Convolution with batch norm and activation. Keeps its input, which is the previous activation,
  // and the norm's input.
  void Convolve(double out, double kernel, int64_t stride, double groups, bool activated = true) {
    const double input_places = places();
    side_ = std::ceil(side_ / Real(stride));
    block_.kept += channels_ * input_places + out * places();
    const bool in_place = kind_ != StageKind::kMbConv;  // SiLU needs its input
    if (activated && !in_place) block_.kept += out * places();
    Add(block_, {channels_, out, Square(kernel), places(), groups});
    block_.parameters += 2 * out - out;  // the norm's scale and shift; no bias before a norm
    block_.launches += kConvolutionLaunches;
    channels_ = out;
  }

  // A residual projection.
  void Shortcut(double in, double in_places, double out) {
    Add(block_, {in, out, 1, places()});
    block_.parameters += out;
    block_.kept += out * places();
    static_cast<void>(in_places);
    block_.launches += kConvolutionLaunches;
  }

  void Stage(const ConvolutionStage& stage) {
    kind_ = stage.kind;
    if (kind_ == StageKind::kConvNext || kind_ == StageKind::kWindowAttention) Downsample(stage);
    for (int64_t i = 0; i < stage.blocks; ++i) {
      const int64_t stride = i == 0 ? stage.stride : 1;
      switch (stage.kind) {
        case StageKind::kPlain:
          Start();
          Convolve(Real(stage.channels), Real(stage.kernel), stride, 1);
          End();
          break;
        case StageKind::kBasic:
        case StageKind::kBottleneck:
          Residual(stage, stride);
          break;
        case StageKind::kMbConv:
          MbConv(stage, stride);
          break;
        case StageKind::kConvNext:
          ConvNext(stage);
          break;
        case StageKind::kWindowAttention:
          Window(stage);
          break;
      }
    }
  }

  void Residual(const ConvolutionStage& stage, int64_t stride) {
    Start();
    const double in = channels_;
    const double in_places = places();
    const double out = Real(stage.channels);
    if (stage.kind == StageKind::kBasic) {
      Convolve(out, Real(stage.kernel), stride, 1);
      Convolve(out, Real(stage.kernel), 1, 1);
    } else {
      const double inner = out / Real(stage.expansion);
      Convolve(inner, 1, 1, 1);
      Convolve(inner, Real(stage.kernel), stride, 1);
      Convolve(out, 1, 1, 1);
    }
    if (in != out || stride > 1) Shortcut(in, in_places, out);
    End();
  }

  void MbConv(const ConvolutionStage& stage, int64_t stride) {
    Start();
    const double in = channels_;
    const double inner = in * Real(stage.expansion);
    if (stage.expansion > 1) Convolve(inner, 1, 1, 1);
    Convolve(inner, Real(stage.kernel), stride, inner);
    const double squeezed = std::max(1.0, std::floor(in / 4));
    block_.parameters += 2 * inner * squeezed + inner + squeezed;  // squeeze and excitation
    block_.kept += inner * places();                               // and its scaled input
    Convolve(Real(stage.channels), 1, 1, 1, false);
    End();
  }

  void ConvNext(const ConvolutionStage& stage) {
    Start();
    const double c = channels_;
    const double wide = c * Real(stage.expansion);
    const double n = places();
    Add(block_, {c, c, Square(Real(stage.kernel)), n, c});
    block_.parameters += 2 * c * wide + wide + c + 3 * c;
    block_.matrix_operations += 2 * 2 * c * wide * n;
    block_.kept += c * n;                   // input of the convolution
    block_.kept_norms += c * n;             // input of the norm
    block_.kept_for_mlp += (c + wide) * n;  // inputs of both matrices
    block_.kept += wide * n;                // input of the activation
    block_.kept_for_weights += c * n;       // input of the layer scale
    block_.mlp_sides += 2 * (c + wide);
    block_.launches = 3 * kConvolutionLaunches;
    End();
  }

  // A norm and a convolution (or linear layer) that halves the side; the stem is the first.
  void Downsample(const ConvolutionStage& stage) {
    const double out = Real(stage.channels);
    if (stage.stride == 1 && channels_ == out) return;
    Start();
    block_.kept_norms = channels_ * places();
    block_.kept = channels_ * places();
    const double in = channels_;
    side_ = std::ceil(side_ / Real(stage.stride));
    const bool linear = stage.kind == StageKind::kWindowAttention;
    Add(block_, {in, out, Square(Real(stage.stride)), places()});
    if (linear) std::swap(block_.matrix_operations, block_.convolution_operations);
    block_.launches = kConvolutionLaunches;
    channels_ = out;
    End();
  }

  void Window(const ConvolutionStage& stage) {
    constexpr double kHeadDim = 32;  // Swin's
    LayerForm form;
    form.width = form.attention = channels_;
    form.heads = channels_ / kHeadDim;
    form.mlp = channels_ * Real(stage.expansion);
    form.tokens = places();
    form.sees = Square(Real(stage.kernel));
    MediaBlock layer = LayerOf(form);
    layer.kept += 2 * layer.scores;  // position biases prevent a fused kernel
    // Tokens are copied into windows and back, and rolled there and back in every second layer;
    // the biases are added to the scores, and in every second layer a mask.
    layer.passed = 3 * channels_ * places() + 1.5 * layer.scores;
    layer.scores = 0;
    blocks_.push_back(layer);
  }

  const ConvolutionShape& shape_;
  double side_;
  double channels_ = 3;
  StageKind kind_ = StageKind::kPlain;
  MediaBlock block_;
  std::vector<MediaBlock> blocks_;
};

}  // namespace

std::vector<MediaBlock> ExpandBlocks(const MediaNetwork& network, const MediaSize& size) {
  if (const auto* unet = std::get_if<UnetShape>(&network.shape)) {
    return UnetBlocks(*unet, std::ceil(Real(size.resolution) / Real(unet->vae_scale))).Of();
  }
  if (const auto* dit = std::get_if<DitShape>(&network.shape)) return BlocksOfDit(*dit, size);
  if (const auto* image = std::get_if<ImageEncoderShape>(&network.shape)) {
    return BlocksOfImageEncoder(*image, size);
  }
  if (const auto* audio = std::get_if<AudioEncoderShape>(&network.shape)) {
    return BlocksOfAudioEncoder(*audio, size);
  }
  const auto& convolutions = std::get<ConvolutionShape>(network.shape);
  return StageBlocks(convolutions, Real(size.resolution)).Of();
}

}  // namespace gpuadvise
