// Jobs from `scontrol -a -d show job`, verified against squeue.
//
// Most of a job's text is written by its user. scontrol prints names, comments and paths verbatim,
// including line breaks, so that they can look like more fields or like a record of another user's
// job. squeue can print such texts between marks that their authors cannot know, because each call
// draws its own. Therefore a record is accepted only if squeue lists its id and user; a text that
// squeue lists is cut out of scontrol's output by its exact bytes; and nothing is read after the
// last needed field. If an id has several such records, none is accepted: the caller asks for that
// job alone, so that its own record comes first, before any foreign text. An unreadable record
// affects no other. Pure functions, any thread; views point into the texts, which must outlive
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/snapshot_order.h"
#include "daemon/collect/slurm_text.h"

namespace gpuadvise::collect {

// squeue's format (`-O`, SQUEUE_FORMAT2) with `mark` after each field. REQUIRES: `mark` does not
// begin with a digit and has no comma.
std::string JobListFormat(std::string_view mark);

// squeue's fields by job id, under scontrol's field names.
using JobList = std::unordered_map<int64_t, TextRecord>;

// Adds the output of `squeue -h` in that format; keeps jobs already in `list`. Errors:
// kUnavailable if it is not such a list or is truncated.
Result<void> AddListedJobs(std::string_view text, std::string_view mark, JobList& list);

struct ReadJobs {
  std::vector<Job> jobs;  // not ended, in the order of the text
  // Tasks of listed arrays that have their own record but are not in the list, because squeue may
  // print the waiting tasks of an array as one. Left out until the caller lists them by id and
  // reads again. Unique, and ordered so that no single text fills the first thousands.
  std::vector<int64_t> unlisted_tasks;
  // Jobs with more than one record; left out until AddJobShownAlone.
  std::vector<int64_t> doubled;
  LeftOut left_out;
};
ReadJobs ParseJobs(std::string_view text, const JobList& list);

// Adds listed job `id` from the output of `scontrol -d show job ID`: reads only the record at the
// beginning of `text`. Adds nothing if that is another job's or user's, or has ended.
void AddJobShownAlone(std::string_view text, int64_t id, const JobList& list, ReadJobs& read);

// Whether `list` has the job with the same user and state.
bool IsListedAs(const Job& job, const JobList& list);

// Number of CPUs in "0-3,6".
int64_t CountCpuIds(std::string_view ids);

}  // namespace gpuadvise::collect
