#include "client/commands/submission.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "client/terminal/printable.h"
#include "common/api/frame.h"

namespace gpuadvise::client {

using nlohmann::json;

Result<int64_t> JobIdFrom(const std::string& printed) {
  const size_t line = printed.find_last_not_of(" \n\r\t");
  const size_t start = line == std::string::npos ? 0 : printed.rfind('\n', line) + 1;
  int64_t id = 0;
  const auto code = std::from_chars(printed.data() + start, printed.data() + printed.size(), id).ec;
  if (code == std::errc() && id > 0) return id;
  return Fail(ErrorCode::kInternal, "sbatch printed no job id; check with `squeue --me`");
}

void TellDaemon(Api& api, const Choice& choice, int64_t job_id, const std::string& outcome_folder,
                const SweepPart& sweep, Console& console) {
  const std::string& advice = choice.advice.advice_id;
  const api::Strategy& strategy = choice.strategy;
  json became = {{"job_id", job_id}, {"rank", strategy.cluster_rank.value_or(strategy.rank)}};
  if (!outcome_folder.empty()) became["output_dir"] = outcome_folder;
  if (sweep.job_id != 0) {
    became["sweep"] = {{"job_id", sweep.job_id}, {"runs", sweep.runs}, {"moved", sweep.moved}};
  }
  const Result<json> told = api.Post("/v1/advice/" + advice + "/submitted", became);
  if (!told) {
    console.Complain("gpuadvise: the job was submitted, but gpuadvised could not be informed: " +
                     told.error().message);
    return;
  }
  for (const std::string& warning : FromJson<api::Frame>(*told, ShownText).warnings) {
    console.Complain("gpuadvise: " + Printable(warning));
  }
}

}  // namespace gpuadvise::client
