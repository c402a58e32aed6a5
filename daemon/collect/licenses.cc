#include "daemon/collect/licenses.h"

#include <string>

#include "common/base/text.h"
#include "daemon/collect/slurm_text.h"

namespace gpuadvise::collect {

namespace {

TresCounts CountsIn(std::string_view list, char separator) {
  TresCounts counts;
  for (std::string_view part : SplitAt(list, separator)) {
    part = Trim(part);
    const size_t colon = part.rfind(':');
    const std::string name(part.substr(0, colon));
    const int64_t count =
        colon == std::string_view::npos ? 1 : ToInteger(part.substr(colon + 1), 0);
    if (!name.empty() && count > 0) counts[name] += count;
  }
  return counts;
}

}  // namespace

void FillLicenses(std::string_view text, JobRequest& request) {
  const std::string_view list = OrNothing(text);
  request.any_license = list.find('|') != std::string_view::npos;
  request.licenses = CountsIn(list, request.any_license ? '|' : ',');
}

TresCounts LicensesOf(std::string_view text) { return CountsIn(OrNothing(text), ','); }

}  // namespace gpuadvise::collect
