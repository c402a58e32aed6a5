// GET /v1/site: what the forecast makes of the cluster's slurm.conf.
#include <nlohmann/json.hpp>

#include "common/slurm/site_keys.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

using nlohmann::json;

json AnswerSite(const Snapshot& snapshot) {
  json settings = json::array();
  for (const SiteSetting& each : SettingsOf(snapshot)) {
    settings.push_back({{"place", each.place},
                        {"key", each.key},
                        {"value", each.value},
                        {"treatment", ToWords(each.treatment)},
                        {"effect", each.effect}});
  }
  return {{"slurm_version", snapshot.config.slurm_version},
          {"settings", settings},
          {"hidden", snapshot.config.hidden}};
}

}  // namespace gpuadvise::daemon
