#include "daemon/settings/machine_check.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/net/http_call.h"
#include "common/process/name_service.h"

namespace gpuadvise::daemon {

std::vector<std::string> MissingOnThisMachine(const Settings& settings) {
  std::vector<std::string> sentences;
  const auto lacks = [&](const char* key, const std::string& value, const char* what) {
    sentences.push_back(
        fmt::format("{} is {}, and this machine has no such {}; create it or correct "
                    "the setting",
                    key, value, what));
  };
  const auto need = [&](const char* key, const std::string& path, bool is_folder) {
    if (path.empty()) return;
    std::error_code trouble;  // a folder that the caller may not read may have it
    const auto kind = std::filesystem::status(path, trouble).type();
    const bool is_gone = kind == std::filesystem::file_type::not_found;
    const bool is_other = !trouble && is_folder != (kind == std::filesystem::file_type::directory);
    if (is_gone || is_other) lacks(key, path, is_folder ? "folder" : "file");
  };
  const auto need_url = [&](const char* key, const std::string& url) {
    if (url.empty()) return;
    const Result<HttpPlace> place = ReadHttpPlace(url);
    if (!place) sentences.push_back(fmt::format("{}: {}", key, place.error().message));
  };
  if (const std::string& group = settings.socket_group; !group.empty() && !GroupId(group)) {
    lacks("socket_group", group, "group");
  }
  if (const std::string& user = settings.trusted_proxy.user;
      !user.empty() && UserIds({user}).empty()) {
    lacks("trusted_proxy.user", user, "user");
  }
  const bool asks_slurm = settings.source != "sim" && !settings.source.starts_with("replay:");
  if (asks_slurm) {
    need("slurm_conf", settings.slurm_conf, false);
    need("slurm_bin_dir", settings.slurm_bin_dir, true);
    need("slurmrestd.token_file", settings.slurmrestd.token_file, false);
    need("slurmrestd.ca_file", settings.slurmrestd.ca_file, false);
  }
  need("simulation.jobs_dir", settings.simulation.jobs_dir, true);
  need_url("slurmrestd.url", settings.slurmrestd.url);
  need_url("prometheus", settings.prometheus);
  return sentences;
}

}  // namespace gpuadvise::daemon
