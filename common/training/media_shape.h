// What networks over pictures, films and sound are made of, by family, and how large their samples
// are. What they cost is media_network.h's. Values. Sizes of samples are sides in pixels, frames
// and seconds.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gpuadvise {

// How large a sample is; 0: as the model was made for.
struct MediaSize {
  int64_t resolution = 0;  // pixels a side; of another form the root of its area
  int64_t num_frames = 0;  // 1: a picture
  double audio_seconds = 0;
  friend bool operator==(const MediaSize&, const MediaSize&) = default;
};

// Transformer layers over patches or over frames of sound.
struct MediaLayers {
  int64_t hidden_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t intermediate_size = 0;
  bool gated_mlp = false;
  friend bool operator==(const MediaLayers&, const MediaLayers&) = default;
};

// diffusers' UNet2DConditionModel. From its second level on a level works on half the side.
struct UnetShape {
  int64_t in_channels = 4;
  std::vector<int64_t> block_out_channels;            // of each level
  std::vector<int64_t> transformer_layers_per_block;  // of each level; 0: no attention there
  int64_t mid_transformer_layers = 1;
  int64_t layers_per_block = 2;
  int64_t num_attention_heads = 8;
  int64_t cross_attention_dim = 768;
  int64_t text_tokens = 77;
  int64_t added_embedding = 0;  // width of what SDXL is told besides (sizes, pooled text)
  int64_t vae_scale = 8;        // pixels a latent, a side
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
  int64_t cross_attention_dim = 0;        // width of the text that blocks look at; 0: they do not
  int64_t text_hidden_size = 4096;        // that the text encoder gives
  int64_t text_tokens = 256;
  int64_t in_channels = 16;
  int64_t patch_size = 2;
  int64_t modulation_dim = 0;  // width that each block's scales and shifts come from; 0: all blocks
                               // share theirs
  int64_t vae_scale = 8;
  int64_t vae_time_scale = 1;  // frames a latent; 1: a picture model
  bool qk_norm = true;         // queries and keys are normalised
  friend bool operator==(const DitShape&, const DitShape&) = default;
};

struct ImageEncoderShape {
  MediaLayers layers;
  int64_t patch_size = 16;
  int64_t window = 0;  // patches a side that see each other; 0: all
  friend bool operator==(const ImageEncoderShape&, const ImageEncoderShape&) = default;
};

// One convolution over sound.
struct AudioConvolution {
  int64_t channels = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  friend bool operator==(const AudioConvolution&, const AudioConvolution&) = default;
};

struct AudioEncoderShape {
  MediaLayers layers;
  int64_t input_rate = 16'000;  // numbers a second: samples of the wave, or 100 mel frames
  int64_t input_channels = 1;   // mel bands
  std::vector<AudioConvolution> convolutions;
  bool normalised = false;        // each convolution has a layer norm behind it
  int64_t position_kernel = 0;    // of a convolution that stands for positions; 0: none
  bool padded = false;            // every sample is padded to the model's own length (Whisper)
  int64_t read_by_layers = 0;     // layers of a decoder that look at what comes out,
  int64_t read_by_key_size = 0;   // with keys and values of this width
  bool frozen_front_end = false;  // the convolutions are not trained and keep nothing
  friend bool operator==(const AudioEncoderShape&, const AudioEncoderShape&) = default;
};

enum class StageKind { kPlain, kBasic, kBottleneck, kConvNext, kMbConv, kWindowAttention };

struct ConvolutionStage {
  StageKind kind = StageKind::kBottleneck;
  int64_t channels = 0;  // that come out
  int64_t blocks = 1;
  int64_t stride = 1;  // of the first block
  int64_t kernel = 3;  // of window attention: patches a side of a window
  int64_t expansion = 4;
  friend bool operator==(const ConvolutionStage&, const ConvolutionStage&) = default;
};

struct ConvolutionShape {
  int64_t stem_channels = 64;
  int64_t stem_kernel = 7;
  int64_t stem_stride = 2;
  bool stem_pool = false;  // halves the side once more
  std::vector<ConvolutionStage> stages;
  int64_t head_channels = 0;  // of a last 1 × 1 convolution; 0: none
  int64_t num_labels = 1000;
  friend bool operator==(const ConvolutionShape&, const ConvolutionShape&) = default;
};

struct MediaNetwork {
  std::variant<UnetShape, DitShape, ImageEncoderShape, AudioEncoderShape, ConvolutionShape> shape;
  MediaSize made_for;
  // Held beside it, frozen, in half precision: what makes latents and embeddings.
  double text_encoder_params = 0;
  double vae_params = 0;
  friend bool operator==(const MediaNetwork&, const MediaNetwork&) = default;
};

}  // namespace gpuadvise
