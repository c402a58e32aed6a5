#include "daemon/collect/licenses.h"

#include <string>

#include "common/base/text.h"
#include "daemon/collect/slurm_text.h"

namespace gpuadvise::collect {

void FillLicenses(std::string_view text, JobRequest& request) {
  const std::string_view list = OrNothing(text);
  request.any_license = list.find('|') != std::string_view::npos;
  for (std::string_view part : SplitAt(list, request.any_license ? '|' : ',')) {
    part = Trim(part);
    const size_t colon = part.rfind(':');
    const std::string name(part.substr(0, colon));
    const int64_t count =
        colon == std::string_view::npos ? 1 : ToInteger(part.substr(colon + 1), 0);
    if (!name.empty() && count > 0) request.licenses[name] += count;
  }
}

}  // namespace gpuadvise::collect
