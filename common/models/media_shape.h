// Shapes of image, video and audio networks by family, and sample sizes. media_network.h computes
// their cost. Values. Sizes are sides in pixels, frames and seconds.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gpuadvise {

// Sample size; 0: the model's native one.
struct MediaSize {
  int64_t resolution = 0;  // side in pixels; otherwise the square root of the area
  int64_t num_frames = 0;  // 1: an image
  double audio_seconds = 0;
  friend bool operator==(const MediaSize&, const MediaSize&) = default;
};

// Transformer layers over patches or audio frames.
struct MediaLayers {
  int64_t hidden_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t intermediate_size = 0;
  bool gated_mlp = false;
  friend bool operator==(const MediaLayers&, const MediaLayers&) = default;
};

// diffusers' UNet2DConditionModel. Each level after the first halves the side.
struct UnetShape {
  int64_t in_channels = 4;
  std::vector<int64_t> block_out_channels;            // by level
  std::vector<int64_t> transformer_layers_per_block;  // by level; 0: no attention
  int64_t mid_transformer_layers = 1;
  int64_t layers_per_block = 2;
  int64_t num_attention_heads = 8;
  int64_t cross_attention_dim = 768;
  int64_t text_tokens = 77;
  int64_t added_embedding = 0;  // width of SDXL's additional inputs (sizes, pooled text)
  int64_t vae_scale = 8;        // pixels per latent and side
  friend bool operator==(const UnetShape&, const UnetShape&) = default;
};

// A diffusion transformer.
struct DitShape {
  MediaLayers layers;             // of the first kind of blocks
  int64_t num_single_layers = 0;  // blocks where text and picture share all weights, with the MLP
                                  // beside the attention (FLUX)
  int64_t num_dual_attention_layers = 0;  // of `layers`: a second attention over the picture alone
                                          // (SD 3.5 medium)
  bool joint_attention = false;           // text runs along, with weights of its own in `layers`
  bool text_in_row = false;               // text runs along, with the same weights (CogVideoX)
  int64_t cross_attention_dim = 0;        // width of cross-attended text; 0: none
  int64_t text_hidden_size = 4096;        // output width of the text encoder
  int64_t text_tokens = 256;
  int64_t in_channels = 16;
  int64_t patch_size = 2;
  int64_t modulation_dim = 0;  // width that each block's scales and shifts come from; 0: all blocks
                               // share theirs
  int64_t vae_scale = 8;
  int64_t vae_time_scale = 1;  // frames per latent; 1: an image model
  bool qk_norm = true;         // normalised queries and keys
  friend bool operator==(const DitShape&, const DitShape&) = default;
};

struct ImageEncoderShape {
  MediaLayers layers;
  int64_t patch_size = 16;
  int64_t window = 0;  // window side in patches; 0: global attention
  friend bool operator==(const ImageEncoderShape&, const ImageEncoderShape&) = default;
};

// One convolution over audio.
struct AudioConvolution {
  int64_t channels = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  friend bool operator==(const AudioConvolution&, const AudioConvolution&) = default;
};

struct AudioEncoderShape {
  MediaLayers layers;
  int64_t input_rate = 16'000;  // inputs per second: samples of the wave, or 100 mel frames
  int64_t input_channels = 1;   // mel bands
  std::vector<AudioConvolution> convolutions;
  bool normalised = false;        // layer norm after each convolution
  int64_t position_kernel = 0;    // of a convolution for positions; 0: none
  bool padded = false;            // samples are padded to the model's length (Whisper)
  int64_t read_by_layers = 0;     // decoder layers that attend to the output
  int64_t read_by_key_size = 0;   // width of their keys and values
  bool frozen_front_end = false;  // convolutions are not trained and keep nothing
  friend bool operator==(const AudioEncoderShape&, const AudioEncoderShape&) = default;
};

enum class StageKind { kPlain, kBasic, kBottleneck, kConvNext, kMbConv, kWindowAttention };

struct ConvolutionStage {
  StageKind kind = StageKind::kBottleneck;
  int64_t channels = 0;  // output channels
  int64_t blocks = 1;
  int64_t stride = 1;  // of the first block
  int64_t kernel = 3;  // for window attention: window side in patches
  int64_t expansion = 4;
  friend bool operator==(const ConvolutionStage&, const ConvolutionStage&) = default;
};

struct ConvolutionShape {
  int64_t stem_channels = 64;
  int64_t stem_kernel = 7;
  int64_t stem_stride = 2;
  bool stem_pool = false;  // halves the side once more
  std::vector<ConvolutionStage> stages;
  int64_t head_channels = 0;  // of a final 1 × 1 convolution; 0: none
  int64_t num_labels = 1000;
  friend bool operator==(const ConvolutionShape&, const ConvolutionShape&) = default;
};

struct MediaNetwork {
  std::variant<UnetShape, DitShape, ImageEncoderShape, AudioEncoderShape, ConvolutionShape> shape;
  MediaSize made_for;
  // Frozen companions in half precision, for latents and embeddings.
  double text_encoder_params = 0;
  double vae_params = 0;
  friend bool operator==(const MediaNetwork&, const MediaNetwork&) = default;
};

}  // namespace gpuadvise
