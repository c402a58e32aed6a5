// JSON of a daemon that nobody trusts: every table and page of it is text that a terminal can show.
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/daemon_client.h"
#include "client/terminal/printable.h"
#include "client/views/advice_view.h"
#include "client/views/experiment_words.h"
#include "client/views/job_detail.h"
#include "client/views/jobs_table.h"
#include "common/yaml/text_check.h"
#include "tests/fuzz/fuzz_input.h"

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
  const auto advice = ReadAnswer<api::Advice>(*answer);
  RequireShown(ClusterAndAge(advice.frame) + DataDoubt(advice.frame));
  RequireShown(AdviceText(advice, {.all = true, .now = kNow, .style = style}));
  RequireShown(AdviceText(advice, {.all = false, .now = kNow, .style = style}));
  const auto jobs = ReadExperiments(*answer);
  for (const std::string& line : JobsTable(jobs, kNow, 80)) RequireShown(line);
  RequireShown(JobsRecord(jobs));
  const auto& rows = ListOf(*answer, "jobs");
  RequireShown(JobsCsv(FilteredJobs(rows, {.state = "ended", .gpu = "a", .name = "x"})));
  RequireShown(JobsCsv(rows));
  for (const auto& job : jobs) RequireShown(JobDetailText(job, kNow, style));
  return 0;
}
