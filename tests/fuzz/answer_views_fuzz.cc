// JSON of a daemon that nobody trusts: every table and page of it is text that a terminal can show.
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/daemon_client.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "client/views/experiment_words.h"
#include "client/views/job_detail.h"
#include "client/views/jobs_table.h"
#include "tests/fuzz/fuzz_input.h"
#include "yaml/text_check.h"

namespace {

using namespace gpuadvise;
using namespace gpuadvise::client;

void RequireShown(const std::string& text) {
  Require(PrintableOutput(text, false) == text, "nothing in it steers a terminal or is not seen");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto answer = ReadApiAnswer(200, std::string(AsText(data, size)));
  if (!answer) return 0;
  constexpr int64_t kNow = 1790000000;
  const TerminalStyle style{80, false};
  RequireShown(ClusterAndAge(*answer) + DataDoubt(*answer));
  RequireShown(AdviceText(*answer, {.all = true, .now = kNow, .style = style}));
  RequireShown(AdviceText(*answer, {.all = false, .now = kNow, .style = style}));
  const auto& jobs = ListOf(*answer, "jobs");
  for (const std::string& line : JobsTable(jobs, kNow, 80)) RequireShown(line);
  RequireShown(JobsRecord(jobs));
  RequireShown(JobsCsv(FilteredJobs(jobs, {.state = "ended", .gpu = "a", .name = "x"})));
  RequireShown(JobsCsv(jobs));
  for (const auto& job : jobs) {
    if (job.is_object()) RequireShown(JobDetailText(job, kNow, style));
  }
  return 0;
}
