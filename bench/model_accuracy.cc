// How right the memory model is: each row of bench/data/memory_measurements.csv is counted and
// compared with what was measured. Prints the error by source and over all.
//
//     cmake --build --preset release --target model_accuracy
//     build/release/bin/model_accuracy bench/data/memory_measurements.csv [--rows]
//
// The rows are published measurements, each with its source; `statistic` says what was read:
// allocated (and active) is less than reserved, which is less than what nvidia-smi shows. So the
// same parts are compared: without what the framework adds, without its context, or all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/gpu_catalogue.h"
#include "common/memory_model.h"
#include "common/model_presets.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"
#include "yaml/yaml_document.h"

namespace gpuadvise {
namespace {

constexpr double kGib = 1 << 30;

using Row = std::map<std::string, std::string>;

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

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TrainingSetup SetupOf(const Row& row) {
  const auto whole = [&](const char* key) { return std::stoll(row.at(key)); };
  TrainingSetup setup;
  setup.precision = row.at("precision");
  const std::string& checkpointing = row.at("checkpointing");
  setup.checkpointing = checkpointing == "full"        ? Checkpointing::kFull
                        : checkpointing == "selective" ? Checkpointing::kSelective
                                                       : Checkpointing::kNone;
  setup.micro_batch = whole("micro_batch");
  setup.seq_length = whole("seq_length");
  setup.gpus = whole("gpus");
  setup.pure_half = whole("pure_half") != 0;
  setup.deepspeed = whole("deepspeed") != 0;
  setup.zero_stage = static_cast<int>(whole("zero_stage"));
  setup.method = row.at("method");
  setup.lora_rank = whole("lora_rank");
  setup.target_modules = Words(row.at("target_modules"));
  setup.modules_to_save = Words(row.at("modules_to_save"));
  setup.optim = row.at("optim");
  setup.flash_attention = whole("flash_attention") != 0;
  setup.compiled = whole("compiled") != 0;
  setup.chunked_cross_entropy = whole("chunked") != 0;
  return setup;
}

/// "owner/name" of "owner/name/path/of/file".
std::string RepositoryOf(const std::string& source) {
  return source.substr(0, source.find('/', source.find('/') + 1));
}

/// What the statistic of the row would have shown.
double ShownBytes(const MemoryParts& parts, const std::string& statistic) {
  const double own = parts.total() - parts.framework;
  if (statistic == "allocated" || statistic == "active") return own;
  return statistic == "reserved" ? own * (1 + kFragmentationShare) : parts.total();
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

struct Errors {
  std::vector<double> signed_errors;
  void Print(const std::string& name) const {
    std::vector<double> sizes;
    for (const double error : signed_errors) sizes.push_back(std::abs(error));
    fmt::print("{:<38} {:>4} {:>8.1f} {:>8.1f} {:>+8.1f}\n", name, sizes.size(),
               100 * Quantile(sizes, 0.5), 100 * Quantile(sizes, 0.9),
               100 * Quantile(signed_errors, 0.5));
  }
};

int Run(const std::string& path, bool print_rows) {
  const auto gpus_yaml = ParseYaml(DefaultGpusYaml(), "gpus.yaml");
  const auto models_yaml = ParseYaml(DefaultModelsYaml(), "models.yaml");
  const auto catalogue = GpuCatalogue::FromJson(gpus_yaml->root);
  const auto presets = ModelPresets::FromJson(models_yaml->root);
  std::map<std::string, Errors> by_source;
  std::map<std::string, Errors> by_grade;
  int oom = 0;
  int oom_called_fitting = 0;
  int ran = 0;
  int ran_called_fitting = 0;
  for (const Row& row : ReadRows(path)) {
    const ModelPreset* preset = presets->Find(row.at("preset"));
    if (preset == nullptr || !preset->shape) continue;
    const MemoryParts parts = PeakMemory(*preset->shape, SetupOf(row));
    const GpuModel* gpu = catalogue->Resolve(row.at("gpu"));
    const bool fits = gpu != nullptr && parts.total() <= UsableBytes(*gpu);
    const std::string& outcome = row.at("outcome");
    if (gpu != nullptr && outcome == "oom") {
      ++oom;
      if (fits) ++oom_called_fitting;
    }
    if (gpu != nullptr && outcome != "oom") {
      ++ran;
      if (fits) ++ran_called_fitting;
    }
    std::string error_text = outcome;
    if (outcome == "measured") {
      const double measured = std::stod(row.at("measured_gib"));
      const double shown = ShownBytes(parts, row.at("statistic")) / kGib;
      const double error = shown / measured - 1;
      by_source[row.at("grade") + " " + RepositoryOf(row.at("source"))].signed_errors.push_back(
          error);
      by_grade[row.at("grade")].signed_errors.push_back(error);
      error_text = fmt::format("{:+.1f} % {:.1f} {:.1f}", 100 * error, shown, measured);
    }
    if (print_rows) {
      fmt::print("{:<22} {} {} {} {} seq {} batch {} {} zero {} gpus {}{}\n", error_text,
                 row.at("source").substr(0, 24), row.at("preset"), row.at("method"),
                 row.at("precision"), row.at("seq_length"), row.at("micro_batch"),
                 row.at("checkpointing"), row.at("zero_stage"), row.at("gpus"),
                 fits ? "" : " (does not fit)");
    }
  }
  fmt::print("{:<38} {:>4} {:>8} {:>8} {:>8}\n", "peak memory, error in %", "rows", "median", "p90",
             "bias");
  for (const auto& [source, errors] : by_source) errors.Print(source);
  for (const auto& [grade, errors] : by_grade) errors.Print("all of grade " + grade);
  fmt::print("called fitting: {} of {} that ran, {} of {} that ran out\n", ran_called_fitting, ran,
             oom_called_fitting, oom);
  return 0;
}

}  // namespace
}  // namespace gpuadvise

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: model_accuracy memory_measurements.csv [--rows]\n");
    return 2;
  }
  return gpuadvise::Run(argv[1], argc > 2);
}
