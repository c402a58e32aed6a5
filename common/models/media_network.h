// Training cost per sample of networks over images, video or audio.
//
// Idea. Every such network is a sequence of blocks, and the cost of a sample is their sum: numbers
// kept by autograd, operations, parameters. Each family is expanded into blocks once
// (media_blocks.cc) for a given sample size; memory, time and adapters use the sums. The families:
//   unet           Stable Diffusion 1, 2 and XL: ResNet blocks and transformer blocks over latents
//   dit            SD3, FLUX, PixArt, Wan, CogVideoX …: transformer blocks over patches of latents
//   image_encoder  ViT, DINOv2, CLIP, SigLIP, SAM: transformer blocks over patches of pixels
//   audio_encoder  Whisper, wav2vec2, HuBERT: convolutions over sound, then transformer blocks
//   convolutions   ResNet, ConvNeXt, EfficientNet, Swin: stages that halve the picture
// Counted by PyTorch's rules: convolutions and norms keep their input even with frozen weights,
// linear layers only if their weight is trained (Bhatia & Dangel 2024). Under autocast, norms work
// in fp32 and keep a copy of that size. Adaptive layer norms keep their scaled input only if the
// scale is trained. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/models/media_shape.h"

namespace gpuadvise {

// Sample settings of a training, apart from text.
struct MediaSettings {
  MediaSize size;
  bool cache_latents = false;               // precomputed: no VAE in memory
  bool cache_text_encoder_outputs = false;  // precomputed: no text encoders in memory
  bool use_ema = false;                     // a second fp32 copy of trained weights
  friend bool operator==(const MediaSettings&, const MediaSettings&) = default;
};

// What is trained, and in which precision.
struct MediaTraining {
  MediaSettings samples;
  double number_bytes = 2;
  double norm_bytes = 4;         // of what norms keep
  bool weights = true;           // all weights; otherwise adapters as below
  double attention_adapted = 1;  // share of attention's projections with adapters
  bool mlp_adapted = false;      // adapters on all other linear layers
  bool flash_attention = true;
};

// Cost of a network and one sample. Operations are for one forward pass, two per multiply-add.
struct SampleWork {
  double parameters = 0;         // without text encoders and VAE
  double frozen_parameters = 0;  // part of it that is never trained
  double adapter_parameters_per_rank = 0;
  double kept_bytes = 0;          // by autograd, without checkpointing
  double checkpointed_bytes = 0;  // with checkpointing: block inputs
  double largest_block_bytes = 0;
  // Kept if all weights were trained: passes through memory in any case.
  double passing_bytes = 0;
  double convolution_passing_bytes = 0;  // the part in convolution blocks
  double matrix_operations = 0;
  double convolution_operations = 0;
  double attention_operations = 0;
  double frozen_operations = 0;  // of text encoders and VAE
  double encode_bytes = 0;       // used by the VAE while encoding the sample
  double companion_bytes = 0;    // of text encoders and VAE, independent of the batch
  double layers_to_launch = 0;   // kernels, in equivalent transformer layers
};

// The sample size: requested, or the model's native one.
MediaSize ResolveSampleSize(const MediaNetwork& network, const MediaSize& asked);

SampleWork CountSampleWork(const MediaNetwork& network, const MediaTraining& training);

// Parameters without text encoders and VAE.
double MediaParameters(const MediaNetwork& network);

// "1024 × 1024 pixels a sample: give training.resolution", for each size not requested.
std::vector<std::string> AssumedSizes(const MediaNetwork& network, const MediaSize& asked);

}  // namespace gpuadvise
