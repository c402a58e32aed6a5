#include "common/slurm/job_id.h"

#include "common/base/text.h"

namespace gpuadvise {
namespace {

// "5-7", "0-30:2"
bool RangeHas(std::string_view range, int64_t task) {
  const size_t dash = range.find('-');
  const size_t colon = std::min(range.find(':'), range.size());
  const auto from = WholeNumber(range.substr(0, std::min(dash, colon)));
  if (!from) return false;
  if (dash == std::string_view::npos) return *from == task;
  const auto to = WholeNumber(range.substr(dash + 1, colon - dash - 1));
  const auto step = colon < range.size() ? WholeNumber(range.substr(colon + 1)) : 1;
  return to && step && *step > 0 && task >= *from && task <= *to && (task - *from) % *step == 0;
}

}  // namespace

std::optional<JobId> ParseJobId(std::string_view text) {
  const size_t mark = text.find_first_of("_+");
  const auto id = WholeNumber(text.substr(0, mark));
  if (!id || *id < 1) return std::nullopt;
  if (mark == std::string_view::npos) return JobId{*id};
  const auto part = WholeNumber(text.substr(mark + 1));
  if (!part) return std::nullopt;
  if (text[mark] == '+') return *part < 1'000 ? std::optional(JobId{*id + *part}) : std::nullopt;
  return JobId{*id, *part};
}

bool HasTask(std::string_view tasks, int64_t task) {
  tasks = tasks.substr(0, tasks.find('%'));
  for (const std::string_view range : SplitAt(tasks, ',')) {
    if (RangeHas(range, task)) return true;
  }
  return false;
}

bool IsOf(const Job& job, const JobId& id) {
  if (id.task) return job.array_job_id == id.id && HasTask(job.array_tasks, *id.task);
  return job.id == id.id || job.array_job_id == id.id || job.het_job_id == id.id;
}

}  // namespace gpuadvise
