#include "client/models/named_model.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/models/model_folder.h"
#include "client/terminal/printable.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

enum class PathKind { kNothing, kFile, kFolder };

PathKind FindPathKind(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return PathKind::kNothing;
  return S_ISDIR(about.st_mode) ? PathKind::kFolder : PathKind::kFile;
}

// Whether it looks like a file name rather than a model's.
bool IsMeantAsFile(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml") || word.ends_with(".json") ||
         word.starts_with('/') || word.starts_with("./") || word.starts_with("../") ||
         word.starts_with("~") || std::count(word.begin(), word.end(), '/') > 1;
}

std::string LastPart(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

NamedTraining OnlyModel(json model, const std::string& name, std::vector<std::string> notes) {
  json spec = {{"name", LastPart(name)}, {"model", std::move(model)}, {"training", json::object()}};
  return {TrainFile::FromSpec(std::move(spec), name), false, std::move(notes)};
}

Result<NamedTraining> ReadFolder(const std::string& folder, const std::string& name,
                                 std::vector<std::string> notes) {
  Result<FolderModel> found = ReadModelFolder(folder);
  if (!found) return tl::unexpected<Error>(std::move(found.error()));
  if (!found->trouble.empty()) notes.push_back(std::move(found->trouble));
  return OnlyModel(std::move(found->model), name, std::move(notes));
}

Result<NamedTraining> Unknown(const std::string& word, const ModelPresets& presets) {
  const bool is_id = std::count(word.begin(), word.end(), '/') == 1;
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("no training file, folder or known model '{}'{}; `gpuadvise models` lists known "
                  "models; for others give {}",
                  Printable(word), presets.NearTo(word),
                  is_id ? "its config.json, in a folder or in the Hub's cache (hf download " +
                              Printable(word) + " config.json)"
                        : "a folder with its config.json"));
}

// Finds a model by its name.
Result<NamedTraining> ByName(const std::string& word, const NamedModelPlaces& places) {
  if (const ModelPreset* preset = places.presets.Find(word)) {
    return OnlyModel({{"preset", preset->name}}, word, {});
  }
  const bool is_id = std::count(word.begin(), word.end(), '/') == 1;
  if (is_id && !places.hub_cache.empty()) {
    const std::string snapshot = SnapshotInHubCache(places.hub_cache, word);
    if (!snapshot.empty()) return ReadFolder(snapshot, word, {});
  }
  if (const ModelPreset* preset = places.presets.FindForm(word)) {
    return OnlyModel(
        {{"preset", preset->name}}, word,
        {fmt::format("{}: counted as the preset {}, which has its shape by its name; for "
                     "another shape give a folder with its config.json",
                     Printable(word), preset->name)});
  }
  return Unknown(word, places.presets);
}

}  // namespace

Result<NamedTraining> FindTraining(const std::string& word, const std::string& section,
                                   const NamedModelPlaces& places, int64_t now) {
  const PathKind kind = word == "-" ? PathKind::kFile : FindPathKind(word);
  if (kind == PathKind::kFile || (kind == PathKind::kNothing && IsMeantAsFile(word))) {
    Result<TrainFile> file = TrainFile::Load(word, section, now);
    if (!file) return tl::unexpected<Error>(std::move(file.error()));
    return NamedTraining{*std::move(file), true, {}};
  }
  if (!section.empty()) {
    return BadInput(fmt::format("--section selects a part of a training file, but '{}' is not one",
                                Printable(word)));
  }
  if (kind == PathKind::kNothing) return ByName(word, places);
  const ModelPreset* preset = places.presets.Find(word);
  const bool has_config = FindPathKind(word + "/config.json") != PathKind::kNothing;
  if (has_config || preset == nullptr) return ReadFolder(word, word, {});
  return OnlyModel(
      {{"preset", preset->name}}, word,
      {fmt::format("{}: read as the preset; the folder of that name has no config.json",
                   Printable(word))});
}

}  // namespace gpuadvise::client
