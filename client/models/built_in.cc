#include "client/models/built_in.h"

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"
#include "yaml/yaml_document.h"
#include "yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// The catalogue's entries in an answer of GET /v1/gpus.
json EntriesOf(const json& of_cluster) {
  json entries = json::array();
  for (const json& row : ListOf(of_cluster, "gpus")) {
    const json& entry = ObjectOf(row, "catalogue");
    if (entry.contains("id")) entries.push_back(entry);
  }
  return entries;
}

// The user's file; an empty document where there is none.
Result<YamlDocument> OwnDocument(const std::string& path) {
  return path.empty() ? YamlDocument{} : LoadYamlFile(path);
}

// The error with the file's line.
tl::unexpected<Error> Placed(Error error, const std::string& path, const YamlDocument& own) {
  if (!path.empty()) error.message = Describe(error, path, own);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<GpuCatalogue> KnownCards(const json& of_cluster, const std::string& gpus_file,
                                std::string* trouble) {
  const Result<YamlDocument> document = ParseYaml(DefaultGpusYaml(), "gpus.yaml");
  if (!document) return tl::unexpected<Error>(document.error());
  const Result<YamlDocument> own = OwnDocument(gpus_file);
  if (!own) return tl::unexpected<Error>(own.error());
  Result<GpuCatalogue> without_cluster = GpuCatalogue::FromJson(document->root, own->root);
  if (!without_cluster) return Placed(std::move(without_cluster.error()), gpus_file, *own);
  json entries = EntriesOf(of_cluster);
  if (entries.empty()) return without_cluster;
  for (const json& entry : ListOf(own->root, "gpus")) entries.push_back(entry);
  auto catalogue = GpuCatalogue::FromJson(document->root, {{"gpus", entries}});
  if (catalogue) return catalogue;
  // A daemon of another version may say what this client cannot read: then without it, aloud.
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
