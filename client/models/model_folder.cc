#include "client/models/model_folder.h"

#include <unistd.h>

#include <filesystem>

#include "client/models/safetensors.h"
#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<json> ReadJsonFile(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  Result<json> object = ParseJsonObject(*text);
  if (!object) return BadInput(path + ": " + object.error().message + "; check the file");
  return object;
}

// Describes a folder without a config.json.
std::string WhatIsThere(const std::string& folder) {
  if (Exists(folder + "/adapter_config.json")) {
    const Result<json> adapter = ReadJsonFile(folder + "/adapter_config.json");
    const auto base = adapter ? adapter->find("base_model_name_or_path") : json::const_iterator();
    const bool named = adapter && base != adapter->end() && base->is_string();
    return folder + ": contains adapters only; ask about their base model" +
           (named ? ", " + base->get<std::string>() : "");
  }
  return folder +
         ": not a model folder (no config.json); give the folder that holds it, or a training file";
}

// The trained part of a diffusers folder; any other folder itself.
std::string TrainedPart(const std::string& folder) {
  if (Exists(folder + "/config.json") || !Exists(folder + "/model_index.json")) return folder;
  for (const char* part : {"/unet", "/transformer"}) {
    if (Exists(folder + part + "/config.json")) return folder + part;
  }
  return folder;
}

}  // namespace

Result<FolderModel> ReadModelFolder(const std::string& named) {
  const std::string folder = TrainedPart(named);
  const std::string config_path = folder + "/config.json";
  if (!Exists(config_path)) return BadInput(WhatIsThere(folder));
  Result<json> config = ReadJsonFile(config_path);
  if (!config) return tl::unexpected<Error>(config.error());
  FolderModel found;
  found.model["hf_config"] = *std::move(config);
  const Result<std::optional<WeightCount>> weights = CountWeights(folder);
  if (!weights) {
    found.trouble = weights.error().message + "; parameters are counted from config.json";
  } else if (*weights && (*weights)->packed) {
    found.trouble = folder + ": quantised weights; parameters are counted from config.json";
  } else if (*weights && (*weights)->parameters >= 1) {
    found.model["params"] = (*weights)->parameters;
  }
  return found;
}

std::string SnapshotInHubCache(const std::string& cache, const std::string& model) {
  std::error_code error;
  const fs::path folder = fs::path(cache) / ("models--" + ReplaceAll(model, "/", "--"));
  fs::path newest;
  fs::file_time_type newest_time;
  for (const auto& each : fs::directory_iterator(folder / "snapshots", error)) {
    std::error_code unknown;
    const bool is_model = fs::exists(each.path() / "config.json", unknown) ||
                          fs::exists(each.path() / "model_index.json", unknown);
    if (!is_model) continue;
    const fs::file_time_type time = fs::last_write_time(each.path(), unknown);
    if (newest.empty() || time > newest_time) {
      newest = each.path();
      newest_time = time;
    }
  }
  return newest.string();
}

}  // namespace gpuadvise::client
