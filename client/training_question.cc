#include "client/training_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/answer_reader.h"
#include "common/words.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"
#include "yaml/yaml_document.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// Where neither the command line, nor the file, nor a cluster says which.
constexpr const char* kUsualGpus[] = {"rtx2080ti", "rtx3090",   "rtx4090",  "l40s",
                                      "a100-40gb", "a100-80gb", "h100-80gb"};

Result<GpuCatalogue> Catalogue() {
  const Result<YamlDocument> document = ParseYaml(DefaultGpusYaml(), "gpus.yaml");
  if (!document) return tl::unexpected<Error>(document.error());
  return GpuCatalogue::FromJson(document->root);
}

Result<ModelPresets> Presets() {
  const Result<YamlDocument> document = ParseYaml(DefaultModelsYaml(), "models.yaml");
  if (!document) return tl::unexpected<Error>(document.error());
  return ModelPresets::FromJson(document->root);
}

Result<std::vector<const GpuModel*>> Named(const std::vector<std::string>& names,
                                           const GpuCatalogue& catalogue) {
  std::vector<const GpuModel*> gpus;
  for (const std::string& name : names) {
    const GpuModel* gpu = catalogue.Resolve(name);
    if (gpu == nullptr) {
      std::vector<std::string> known;
      for (const GpuModel& model : catalogue.models()) known.push_back(model.id);
      return BadInput(
          fmt::format("no GPU called '{}' is known{}; names are like rtx4090, l40s or "
                      "a100-80gb",
                      name, DidYouMean(name, known)));
    }
    if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
  }
  return gpus;
}

// The cluster's, where a daemon answers.
std::vector<const GpuModel*> OfCluster(Api& api, const GpuCatalogue& catalogue) {
  std::vector<const GpuModel*> gpus;
  const Result<json> answer = api.Get("/v1/gpus");
  if (!answer) return gpus;
  for (const json& row : ListOf(*answer, "gpus")) {
    const GpuModel* gpu = catalogue.Resolve(TextOf(row, "gpu"));
    if (gpu != nullptr) gpus.push_back(gpu);
  }
  return gpus;
}

Result<std::vector<const GpuModel*>> GpusFor(const std::vector<std::string>& names,
                                             const TrainSpec& spec, const GpuCatalogue& catalogue,
                                             Api& api) {
  if (!names.empty()) return Named(names, catalogue);
  std::vector<const GpuModel*> gpus = OfCluster(api, catalogue);
  if (!gpus.empty()) return gpus;
  if (!spec.resources.gpus.empty()) return Named(spec.resources.gpus, catalogue);
  return Named({std::begin(kUsualGpus), std::end(kUsualGpus)}, catalogue);
}

}  // namespace

Result<TrainingQuestion> TrainingQuestion::Load(const TrainingSource& source, Api& api,
                                                int64_t now) {
  Result<TrainFile> file = TrainFile::Load(source.file, source.section, now);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  Result<TrainSpec> spec = ParseTrainSpec(file->spec(), "");
  if (!spec) return file->Refuse(spec.error().message, spec.error().pointer);
  Result<GpuCatalogue> catalogue = Catalogue();
  if (!catalogue) return tl::unexpected<Error>(std::move(catalogue.error()));
  Result<ModelPresets> presets = Presets();
  if (!presets) return tl::unexpected<Error>(std::move(presets.error()));
  auto held = std::make_shared<const GpuCatalogue>(std::move(*catalogue));
  auto gpus = GpusFor(source.gpus, *spec, *held, api);
  if (!gpus) return tl::unexpected<Error>(std::move(gpus.error()));
  return TrainingQuestion{std::move(*file), std::move(*spec), std::move(*presets), std::move(held),
                          std::move(*gpus)};
}

Error TrainingQuestion::Placed(const Error& error) const {
  return file.Refuse(error.message, error.pointer).value();
}

}  // namespace gpuadvise
