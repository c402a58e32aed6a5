// Jobs, from `scontrol -a -d show job` held against what squeue lists.
//
// Most of a job's text is what its user wrote: scontrol prints names, comments and paths as they
// are, line breaks too, so that they can look like further fields or like the record of somebody
// else's job. squeue prints each such text between marks that its author cannot know, because every
// call draws its own. So only ids that squeue lists are taken, of the user that it lists; a text
// that it lists is cut out of scontrol's by its exact bytes; and behind the last field that is read
// nothing is. Of an id that has more than one such record none is: that job is to be asked for
// alone, where it comes first and nobody else's text stands before it. A record that cannot be read
// costs itself alone. Pure functions, any thread; views point into the texts given, which must
// outlive them.
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

// squeue's format (`-O`, SQUEUE_FORMAT2) with `mark` behind each field. REQUIRES: `mark` begins
// with no digit and has no comma.
std::string JobListFormat(std::string_view mark);

// By job id: what squeue lists of it, under the names that scontrol has for the fields.
using JobList = std::unordered_map<int64_t, TextRecord>;

// Adds what `squeue -h` printed in that format. Jobs that are there already stay as they are.
// Errors: kUnavailable when it is no such list or was cut off.
Result<void> AddListedJobs(std::string_view text, std::string_view mark, JobList& list);

struct ReadJobs {
  std::vector<Job> jobs;  // in the order of the text, without those that have ended
  // Tasks of listed arrays with a record of their own that are not in the list: squeue may print
  // the waiting tasks of an array as one. To be listed by themselves and read again; left out until
  // then. Each once, and in such an order that the first thousands are not all of one text.
  std::vector<int64_t> unlisted_tasks;
  // Jobs that have more than one record; left out until AddJobShownAlone.
  std::vector<int64_t> doubled;
  LeftOut left_out;
};
ReadJobs ParseJobs(std::string_view text, const JobList& list);

// Adds listed job `id` as `scontrol -d show job ID` printed it: by the record at the beginning of
// `text`, whatever follows. Nothing where that is another job's, another user's, or has ended.
void AddJobShownAlone(std::string_view text, int64_t id, const JobList& list, ReadJobs& read);

// Whether the list has the job with its user and state.
bool IsListedAs(const Job& job, const JobList& list);

// How many CPUs "0-3,6" names.
int64_t CountCpuIds(std::string_view ids);

}  // namespace gpuadvise::collect
