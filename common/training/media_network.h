// Networks whose samples are pictures, films or sound: what a sample costs them in training.
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
// Pure.
#pragma once

#include <string>
#include <vector>

#include "common/training/media_shape.h"

namespace gpuadvise {

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
