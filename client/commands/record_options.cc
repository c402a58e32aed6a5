#include "client/commands/record_options.h"

#include "client/commands/help_text.h"
#include "client/commands/option_checks.h"

namespace gpuadvise::client {

void AddQueueOptions(CLI::App* queue, QueueCommand* command) {
  queue->add_option("-u,--user", command->user, "Only these users' (me: your own)")
      ->option_text("NAME,...");
  queue->add_flag("--me", command->me, "Only your own");
  queue->add_option("-j,--jobs", command->jobs, "Only these jobs")->option_text("JOBID,...");
  queue->add_option("-p,--partition", command->partition, "Only of these partitions")
      ->option_text("NAME,...");
  queue
      ->add_option("-t,--states,--state", command->state,
                   "Only in these states: pending, running, PD, R … (all: every state)")
      ->option_text("STATE,...");
  queue->add_flag("--start", command->start, "Only pending jobs, with Slurm's own estimate");
  queue->add_flag("-l,--long", command->is_long, "All columns, whatever the width");
  queue->add_option("-O,--Format", command->format, "These columns: names as in squeue -O")
      ->option_text("NAME,...");
  queue->footer(kQueueFooter);
}

void AddLogsOptions(CLI::App* logs, LogsCommand* command) {
  logs->add_option("JOBID", command->job_id, "Job id, or JOBID_TASK of an array")
      ->required()
      ->check(CLI::Validator(CheckJobOrTask, "", ""));
  logs->add_flag("-f,--follow", command->follow, "Go on printing until the job ends");
  logs->add_option("-n,--lines", command->lines, "Only the last N lines")
      ->option_text("N")
      ->check(CLI::Range(0, 1'000'000));
  logs->add_flag("--path", command->path_only, "Print the file's path only");
}

void AddEffOptions(CLI::App* eff, EffCommand* command) {
  eff->add_option("JOBID", command->job_id, "Job id, or JOBID_TASK of an array")
      ->check(CLI::Validator(CheckJobOrTask, "", ""));
  eff->add_option("-u,--user", command->user, "This user's jobs (me: your own, the default)")
      ->option_text("NAME");
  eff->add_option("-S,--since", command->since,
                  "Jobs since: 7d, yesterday, fri, 2026-11-27 (default 7d)")
      ->option_text("DATE");
  eff->footer(kEffFooter);
}

}  // namespace gpuadvise::client
