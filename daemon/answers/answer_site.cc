// GET /v1/site: what the forecast makes of the cluster's slurm.conf.
#include "common/api/nodes.h"
#include "common/slurm/site_keys.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

nlohmann::json AnswerSite(const Snapshot& snapshot, std::vector<std::string> problems) {
  api::Site site;
  site.slurm_version = snapshot.config.slurm_version;
  site.hidden = snapshot.config.hidden;
  site.problems = std::move(problems);
  for (const SiteSetting& each : FindSiteSettings(snapshot)) {
    site.settings.push_back(
        {each.place, each.key, each.value, std::string(ToWords(each.treatment)), each.effect});
  }
  return ToJson(site);
}

}  // namespace gpuadvise::daemon
