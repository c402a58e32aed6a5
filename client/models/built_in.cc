#include "client/models/built_in.h"

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "common/yaml/yaml_document.h"
#include "common/yaml/yaml_file.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json CatalogueEntries(const api::Gpus& of_cluster) {
  json entries = json::array();
  for (const api::GpuType& gpu : of_cluster.gpus) {
    if (gpu.catalogue.contains("id")) entries.push_back(gpu.catalogue);
  }
  return entries;
}

// The user's file; an empty document if there is none.
Result<YamlDocument> OwnDocument(const std::string& path) {
  return path.empty() ? YamlDocument{} : LoadYamlFile(path);
}

// Adds the file's line to `error`.
tl::unexpected<Error> Placed(Error error, const std::string& path, const YamlDocument& own) {
  if (!path.empty()) error.message = Describe(error, path, own);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<GpuCatalogue> KnownCards(const api::Gpus& of_cluster, const std::string& gpus_file,
                                std::string* trouble) {
  const Result<YamlDocument> document = ParseYaml(DefaultGpusYaml(), "gpus.yaml");
  if (!document) return tl::unexpected<Error>(document.error());
  const Result<YamlDocument> own = OwnDocument(gpus_file);
  if (!own) return tl::unexpected<Error>(own.error());
  Result<GpuCatalogue> without_cluster = GpuCatalogue::FromJson(document->root, own->root);
  if (!without_cluster) return Placed(std::move(without_cluster.error()), gpus_file, *own);
  json entries = CatalogueEntries(of_cluster);
  if (entries.empty()) return without_cluster;
  for (const json& entry : ListOf(own->root, "gpus")) entries.push_back(entry);
  auto catalogue = GpuCatalogue::FromJson(document->root, {{"gpus", entries}});
  if (catalogue) return catalogue;
  // A daemon of another version may use a newer format: continues without it, with a warning.
  *trouble = "the daemon's GPUs cannot be read (" + catalogue.error().message +
             "): the built-in catalogue is used; install the same version of both";
  return without_cluster;
}

Result<ModelPresets> KnownPresets(const std::string& models_file) {
  Result<YamlDocument> document = ParseYaml(DefaultModelsYaml(), "models.yaml");
  if (!document) return tl::unexpected<Error>(document.error());
  const Result<YamlDocument> own = OwnDocument(models_file);
  if (!own) return tl::unexpected<Error>(own.error());
  document->root.merge_patch(own->root);
  Result<ModelPresets> presets = ModelPresets::FromJson(document->root);
  if (!presets) return Placed(std::move(presets.error()), models_file, *own);
  return presets;
}

}  // namespace gpuadvise::client
