#include "bench/measured_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

namespace gpuadvise {
namespace {

std::vector<std::string> Split(const std::string& line, char by) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string TextOf(const Row& row, const std::string& key) {
  const auto found = row.find(key);
  return found == row.end() ? "" : found->second;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

std::vector<Row> ReadRows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = Split(line, ',');
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = Split(line, ',');
    Row row;
    for (size_t i = 0; i < std::min(header.size(), cells.size()); ++i) row[header[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

double NumberOf(const Row& row, const std::string& key, double without) {
  const std::string text = TextOf(row, key);
  return text.empty() ? without : std::stod(text);
}

TrainingSetup SetupOf(const Row& row) {
  const auto whole = [&](const char* key, double without) {
    return static_cast<int64_t>(NumberOf(row, key, without));
  };
  TrainingSetup setup;
  setup.precision = PrecisionFromWord(row.at("precision")).value();
  const std::string& checkpointing = row.at("checkpointing");
  setup.checkpointing = checkpointing == "full"        ? Checkpointing::kFull
                        : checkpointing == "selective" ? Checkpointing::kSelective
                                                       : Checkpointing::kNone;
  setup.micro_batch = whole("micro_batch", 1);
  setup.seq_length = whole("seq_length", 1);
  setup.gpus = whole("gpus", NumberOf(row, "gpus_per_node", 1) * NumberOf(row, "nodes", 1));
  setup.pure_half = whole("pure_half", 0) != 0;
  setup.deepspeed = whole("deepspeed", 0) != 0;
  setup.zero_stage = static_cast<int>(whole("zero_stage", 0));
  setup.method = MethodFromWord(row.at("method")).value();
  setup.lora_rank = whole("lora_rank", 8);
  setup.target_modules = Words(TextOf(row, "target_modules"));
  setup.modules_to_save = Words(TextOf(row, "modules_to_save"));
  if (row.count("optim") > 0) setup.optim = row.at("optim");
  setup.flash_attention = whole("flash_attention", 1) != 0;
  setup.compiled = whole("compiled", 0) != 0;
  setup.chunked_cross_entropy = whole("chunked", 0) != 0;
  setup.use_liger_kernel = whole("use_liger_kernel", 0) != 0;
  setup.upcast_logits = whole("upcast_logits", 1) != 0;
  setup.reentrant = whole("reentrant", 1) != 0;
  setup.double_quantized = whole("double_quantized", 0) != 0;
  setup.lora_dropout = NumberOf(row, "lora_dropout", 0);
  const std::string base = TextOf(row, "base_weights");
  setup.base_weights = base == "gptq4"  ? BaseWeights::kGptq4
                       : base == "int8" ? BaseWeights::kInt8
                       : base == "nf4"  ? BaseWeights::kNf4
                       : base == "fp32" ? BaseWeights::kFp32
                                        : BaseWeights::kAuto;
  const std::string offload = TextOf(row, "offload");
  setup.offload = offload == "all"         ? Offload::kAll
                  : offload == "optimizer" ? Offload::kOptimizer
                                           : Offload::kNone;
  setup.activation_offload = whole("activation_offload", 0) != 0;
  setup.optimizer_in_backward = whole("optimizer_in_backward", 0) != 0;
  const std::string trainer = TextOf(row, "trainer");
  setup.trainer = trainer == "dpo"   ? Trainer::kDpo
                  : trainer == "ppo" ? Trainer::kPpo
                                     : Trainer::kSft;
  setup.context_parallel = whole("context_parallel", 1);
  setup.accumulates = whole("accumulation", 1) > 1;
  setup.repeats_key_values = whole("repeats_key_values", 0) != 0;
  setup.software_year = NumberOf(row, "software_year", 0);
  setup.mean_seq_length = NumberOf(row, "mean_seq_length", 0);
  setup.fp8 = whole("fp8", 0) != 0;
  setup.media.size.resolution = whole("resolution", 0);
  setup.media.size.num_frames = whole("num_frames", 0);
  setup.media.size.audio_seconds = NumberOf(row, "audio_seconds", 0);
  setup.media.cache_latents = whole("cache_latents", 0) != 0;
  setup.media.cache_text_encoder_outputs = whole("cache_text_encoder_outputs", 0) != 0;
  setup.media.use_ema = whole("use_ema", 0) != 0;
  setup.tf32 = true;  // NVIDIA's containers, in which the rows in fp32 were measured, allow it
  return setup;
}

ModelShape ShapeOf(const Row& row, const ModelPreset& preset) {
  ModelShape shape = *preset.shape;
  if (NumberOf(row, "gelu_new", 1) == 0) shape.layers.gelu_new = false;
  return shape;
}

std::string RepositoryOf(const Row& row) {
  const std::string& source = row.at("source");
  return source.substr(0, source.find('/', source.find('/') + 1));
}

std::string FamilyOf(const Row& row) {
  const std::string& preset = row.at("preset");
  return preset.substr(0, preset.find_first_of("-.0123456789"));
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

void ErrorTable::Print(const std::string& title) const {
  fmt::print("{:<44} {:>4} {:>8} {:>8} {:>8}\n", title + ", error in %", "rows", "median", "p90",
             "bias");
  for (const auto& [name, errors] : groups_) {
    std::vector<double> sizes;
    for (const double error : errors) sizes.push_back(std::abs(error));
    fmt::print("{:<44} {:>4} {:>8.1f} {:>8.1f} {:>+8.1f}\n", name, sizes.size(),
               100 * Quantile(sizes, 0.5), 100 * Quantile(sizes, 0.9), 100 * Quantile(errors, 0.5));
  }
  fmt::print("\n");
}

}  // namespace gpuadvise
