// Any text is read as sacct's rows; a job's name, whatever is in it, is a name and no row. And any
// line is read as a job of the collector's accounting.
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/text.h"
#include "common/slurm/accounted_job.h"
#include "common/slurm/snapshot_json.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  const std::string_view text = AsText(data, size);
  int64_t unreadable = 0;
  ParseSacct(text, "|", unreadable);
  const std::string mark = "@no-one-knows@";
  const std::string row =
      "12|4_3|1790000000|1790000010|1790000100|1790003700|120|2|16|cpu=16,gres/"
      "gpu=8|ann|lab|gpu|normal|"
      "COMPLETED|n[1-2]|NAME|\n";
  if (text.find('@') == std::string_view::npos) {
    const std::string marked = ReplaceAll(row, "|", mark);
    const auto jobs = ParseSacct(ReplaceAll(marked, "NAME", text) + marked, mark, unreadable);
    Require(jobs.size() == 2 && unreadable == 0, "no row is invented or lost");
    Require(jobs[0].record.name == text, "a name is taken as it is");
    JobRecord same = jobs[0].record;
    same.name = "NAME";
    Require(same == jobs[1].record, "and changes nothing else");
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (const auto job = FromJson<JobRecord>(json)) {
    const auto again = FromJson<JobRecord>(ToJson(*job));
    Require(again.has_value() && *again == *job, "read(write(x)) == x");
  }
  return 0;
}
