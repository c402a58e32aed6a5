#include "common/models/media_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/models/media_blocks.h"

namespace gpuadvise {
namespace {

// Per pixel at the VAE's widest point: four tensors of 128 channels (diffusers' AutoencoderKL:
// hidden states, normalised copy, convolution output, residual), in half precision.
constexpr double kEncodeBytesPerPixel = 4 * 128 * 2;
// Convolutions of the same encoder, 128 to 512 channels wide: 1.1e12 for 512 × 512 pixels.
constexpr double kEncodeOperationsPerPixel = 4.1e6;
constexpr double kCompanionBytes = 2;

double KeptBytes(const MediaBlock& block, const MediaTraining& training) {
  if (block.frozen) return 0;
  double numbers = block.kept;
  double norms = block.kept_norms;
  if (training.weights) {
    numbers += block.kept_for_weights;
    norms += block.kept_norms_for_weights;
  }
  if (!training.weights) numbers += training.attention_adapted * block.kept_for_attention;
  if (training.weights || training.mlp_adapted) numbers += block.kept_for_mlp;
  if (!training.flash_attention) numbers += 2 * block.scores;
  return training.number_bytes * numbers + training.norm_bytes * norms;
}

int64_t TextTokensOf(const MediaNetwork& network) {
  if (const auto* unet = std::get_if<UnetShape>(&network.shape)) return unet->text_tokens;
  const auto* dit = std::get_if<DitShape>(&network.shape);
  return dit != nullptr ? dit->text_tokens : 0;
}

// Adds text encoders and VAE, unless precomputed.
void AddCompanions(const MediaNetwork& network, const MediaTraining& training,
                   const MediaSize& size, SampleWork& work) {
  if (!training.samples.cache_text_encoder_outputs) {
    work.companion_bytes += kCompanionBytes * network.text_encoder_params;
    work.frozen_operations +=
        2 * network.text_encoder_params * static_cast<double>(TextTokensOf(network));
  }
  if (network.vae_params == 0 || training.samples.cache_latents) return;
  work.companion_bytes += kCompanionBytes * network.vae_params;
  if (size.num_frames > 1) return;  // video is encoded in advance, in pieces
  const auto side = static_cast<double>(size.resolution);
  work.encode_bytes = kEncodeBytesPerPixel * side * side;
  work.frozen_operations += kEncodeOperationsPerPixel * side * side;
}

}  // namespace

MediaSize ResolveSampleSize(const MediaNetwork& network, const MediaSize& asked) {
  MediaSize size = network.made_for;
  if (asked.resolution > 0) size.resolution = asked.resolution;
  if (asked.num_frames > 0) size.num_frames = asked.num_frames;
  const auto* audio = std::get_if<AudioEncoderShape>(&network.shape);
  if (asked.audio_seconds > 0 && !(audio != nullptr && audio->padded)) {
    size.audio_seconds = asked.audio_seconds;
  }
  return size;
}

SampleWork CountSampleWork(const MediaNetwork& network, const MediaTraining& training) {
  const MediaSize size = ResolveSampleSize(network, training.samples.size);
  MediaTraining whole = training;
  whole.weights = true;
  SampleWork work;
  for (const MediaBlock& block : ExpandBlocks(network, size)) {
    const double kept = KeptBytes(block, training);
    const double inputs = block.checkpointed ? training.number_bytes * block.input : kept;
    const double mlp = training.mlp_adapted ? block.mlp_sides : 0;
    work.parameters += block.count * block.parameters;
    work.kept_bytes += block.count * kept;
    (block.frozen ? work.frozen_parameters : work.checkpointed_bytes) +=
        block.count * (block.frozen ? block.parameters : inputs);
    // While a block is computed, everything that full training keeps passes through memory.
    const double passing = KeptBytes(block, whole);
    work.largest_block_bytes = std::max(work.largest_block_bytes, passing);
    (block.convolution_operations > 0 ? work.convolution_passing_bytes : work.passing_bytes) +=
        block.count * (passing + training.number_bytes * block.passed);
    work.adapter_parameters_per_rank +=
        block.count * (training.attention_adapted * block.attention_sides + mlp);
    work.matrix_operations += block.count * block.matrix_operations;
    work.convolution_operations += block.count * block.convolution_operations;
    work.attention_operations += block.count * block.attention_operations;
    work.layers_to_launch += block.count * block.launches;
  }
  AddCompanions(network, training, size, work);
  return work;
}

double MediaParameters(const MediaNetwork& network) {
  return CountSampleWork(network, {}).parameters;
}

std::vector<std::string> AssumedSizes(const MediaNetwork& network, const MediaSize& asked) {
  const MediaSize& own = network.made_for;
  std::vector<std::string> assumed;
  const auto* audio = std::get_if<AudioEncoderShape>(&network.shape);
  if (audio == nullptr && asked.resolution == 0) {
    assumed.push_back(
        fmt::format("{0} × {0} pixels a sample: give training.resolution", own.resolution));
  }
  if (own.num_frames > 1 && asked.num_frames == 0) {
    assumed.push_back(fmt::format("{} frames a sample: give training.num_frames", own.num_frames));
  }
  if (audio != nullptr && audio->padded) {
    if (asked.audio_seconds > 0 && asked.audio_seconds != own.audio_seconds) {
      assumed.push_back(
          fmt::format("{:g} seconds of sound a sample: the model pads every sample to that length",
                      own.audio_seconds));
    }
  } else if (audio != nullptr && asked.audio_seconds == 0) {
    assumed.push_back(fmt::format("{:g} seconds of sound a sample: give training.audio_seconds",
                                  own.audio_seconds));
  }
  return assumed;
}

}  // namespace gpuadvise
