#include "client/preflight/hub_login.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// Prefixes of models whose licence must be accepted on the Hub.
constexpr std::array<std::string_view, 9> kGated = {"meta-llama/",
                                                    "google/gemma",
                                                    "google/paligemma",
                                                    "google/medgemma",
                                                    "bigcode/starcoder",
                                                    "black-forest-labs/FLUX.1-dev",
                                                    "stabilityai/stable-diffusion-3",
                                                    "pyannote/",
                                                    "CohereLabs/"};

std::string GetValue(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

bool HoldsText(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  return static_cast<bool>(file >> word);
}

bool IsTrue(std::string_view value) {
  constexpr std::array<std::string_view, 4> kTrue = {"1", "on", "yes", "true"};
  return IsOneOf(LowerCase(value), kTrue);
}

std::string HubHome(const Variables& variables) {
  if (const std::string home = GetValue(variables, "HF_HOME"); !home.empty()) return home;
  std::string cache = GetValue(variables, "XDG_CACHE_HOME");
  if (cache.empty()) cache = GetValue(variables, "HOME") + "/.cache";
  return cache + "/huggingface";
}

}  // namespace

HubLogin LookForHubLogin(const Variables& variables) {
  const std::string home = HubHome(variables);
  HubLogin login;
  login.offline = IsTrue(GetValue(variables, "HF_HUB_OFFLINE"));
  login.cache = GetValue(variables, "HF_HUB_CACHE");
  if (login.cache.empty()) login.cache = home + "/hub";
  login.token_file = GetValue(variables, "HF_TOKEN_PATH");
  if (login.token_file.empty()) login.token_file = home + "/token";
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (login.token_from.empty() && !GetValue(variables, name).empty()) login.token_from = name;
  }
  if (login.token_from.empty() && HoldsText(login.token_file)) login.token_from = login.token_file;
  return login;
}

bool IsInHubCache(const std::string& cache, const std::string& model) {
  std::string folder = model;
  const size_t slash = folder.find('/');
  if (slash != std::string::npos) folder.replace(slash, 1, "--");
  std::error_code error;
  const std::filesystem::directory_iterator versions(cache + "/models--" + folder + "/snapshots",
                                                     error);
  return !error && versions != std::filesystem::directory_iterator();
}

bool IsGated(const std::string& model) {
  return std::any_of(kGated.begin(), kGated.end(),
                     [&](std::string_view family) { return model.starts_with(family); });
}

}  // namespace gpuadvise::client
