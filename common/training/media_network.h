// Networks whose samples are pictures, films or sound: what they are made of, and what a sample
// costs them in training.
//
// Idea. Whatever the family, such a network is a row of blocks, and what a sample costs is the sum
// over them: numbers that autograd keeps, operations, parameters. So each family is written out as
// blocks once (media_blocks.cc), for a sample of a given size, and everything else (memory, time,
// adapters) asks for the sum. The families:
//   unet           Stable Diffusion 1, 2 and XL: ResNet blocks and transformer blocks over latents
//   dit            SD3, FLUX, PixArt, Wan, CogVideoX …: transformer blocks over patches of latents
//   image_encoder  ViT, DINOv2, CLIP, SigLIP, SAM: transformer blocks over patches of pixels
//   audio_encoder  Whisper, wav2vec2, HuBERT: convolutions over sound, then transformer blocks
//   convolutions   ResNet, ConvNeXt, EfficientNet, Swin: stages that halve the picture
// Counted from PyTorch's own rules: a convolution and a normalisation keep their input also where
// their weights are frozen, a linear layer only where its weight is trained (Bhatia & Dangel 2024);
// under autocast normalisations work in fp32 and keep a copy of that size; adaptive layer norms
// keep what they scale only where the scale is trained.
// Values; pure. Sizes of samples are sides in pixels, frames and seconds.
#pragma once

#include <cstdint>
#include <optional>
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

// How the samples of a training are, beside their text.
struct MediaSettings {
  MediaSize size;
  bool cache_latents = false;               // made beforehand: no VAE is held
  bool cache_text_encoder_outputs = false;  // the same of text encoders
  bool use_ema = false;                     // a second copy of what is trained, in fp32
  friend bool operator==(const MediaSettings&, const MediaSettings&) = default;
};

// What of a network is trained, and in which numbers.
struct MediaTraining {
  MediaSettings samples;
  double number_bytes = 2;
  double norm_bytes = 4;         // of what normalisations keep
  bool weights = true;           // all of them, else adapters on
  double attention_adapted = 1;  // this share of attention's projections, and
  bool mlp_adapted = false;      // on all other linear layers
  bool flash_attention = true;
};

// What a network and one sample cost. Operations are those of a forward pass, two a multiplication
// with addition.
struct SampleWork {
  double parameters = 0;         // without text encoders and VAE
  double frozen_parameters = 0;  // of those, never trained
  double adapter_parameters_per_rank = 0;
  double kept_bytes = 0;          // by autograd, without checkpointing
  double checkpointed_bytes = 0;  // with it: inputs of blocks
  double largest_block_bytes = 0;
  // What would be kept with all weights trained: it passes through memory in any case.
  double passing_bytes = 0;
  double convolution_passing_bytes = 0;  // the same of blocks that are convolutions
  double matrix_operations = 0;
  double convolution_operations = 0;
  double attention_operations = 0;
  double frozen_operations = 0;  // of text encoders and VAE
  double encode_bytes = 0;       // that the VAE needs while it makes the sample's latents
  double companion_bytes = 0;    // of text encoders and VAE, whatever the batch
  double layers_to_launch = 0;   // kernels, in transformer layers that have as many
};

// The size that counts: what is asked for, else what the model was made for.
MediaSize SizeOfSample(const MediaNetwork& network, const MediaSize& asked);

SampleWork WorkOfSample(const MediaNetwork& network, const MediaTraining& training);

// Of the network, without its text encoders and VAE.
double MediaParameters(const MediaNetwork& network);

// "1024 × 1024 pixels a sample: give training.resolution", for each size that was not asked for.
std::vector<std::string> AssumedSizes(const MediaNetwork& network, const MediaSize& asked);

}  // namespace gpuadvise
