#include "tests/fakes/shipped_catalogues.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/yaml/yaml_document.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"

namespace gpuadvise {
namespace {

template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

GpuCatalogue Catalogue() {
  return Must(GpuCatalogue::FromJson(Must(ParseYaml(DefaultGpusYaml(), "gpus.yaml")).root));
}

}  // namespace

const GpuNaming& ShippedGpus() {
  static const GpuNaming naming(Catalogue(), SiteGpus{{{"gpu2080", "rtx2080ti"}}, {}, {}});
  return naming;
}

const nlohmann::json& ShippedModelsJson() {
  static const nlohmann::json document = Must(ParseYaml(DefaultModelsYaml(), "models.yaml")).root;
  return document;
}

const ModelPresets& ShippedModels() {
  static const ModelPresets presets = Must(ModelPresets::FromJson(ShippedModelsJson()));
  return presets;
}

}  // namespace gpuadvise
