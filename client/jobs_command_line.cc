#include "client/jobs_command_line.h"

#include <CLI/App.hpp>

namespace gpuadvise {
namespace {

constexpr const char* kJobsFooter =
    "\nOutcomes that lie in the output folders of your own jobs are reported first.\n"
    "--import exits 1 when a file was not taken.\n";

constexpr const char* kWatchFooter =
    "\nExits 0 when the job ended well, 1 when it did not; with --once 0 while it waits or runs.\n";

void AddFilter(CLI::App* jobs, JobsCommand& command) {
  jobs->add_option("-t,--state", command.filter.state,
                   "Only pending, running, ended, ok or failed ones")
      ->option_text("STATE")
      ->check(CLI::IsMember({"pending", "running", "ended", "ok", "failed"}));
  jobs->add_option("--gpu", command.filter.gpu, "Only on this GPU")->option_text("NAME");
  jobs->add_option("--name", command.filter.name, "Only with this in their name")
      ->option_text("TEXT");
  jobs->add_option("--since", command.since, "Submitted since: 7d, yesterday, fri, 2026-11-27")
      ->option_text("TIME");
  jobs->add_option("--limit", command.filter.limit, "The N newest of them")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
}

void AddSocket(CLI::App* command, std::string* socket) {
  command->add_option("--socket", *socket, "Socket of gpuadvised")->option_text("PATH");
}

}  // namespace

CLI::App* AddJobs(CLI::App& app, JobsCommand& command, CheckWord check_job_id,
                  std::string* socket) {
  CLI::App* jobs = app.add_subcommand("jobs", "Your experiments: forecast beside real, loss, cost");
  jobs->add_option("JOBID", command.job_id, "Everything about this one")
      ->check(CLI::Validator(check_job_id, "", ""));
  AddFilter(jobs, command);
  jobs->add_option("--import", command.import_paths,
                   "Report outcome files, or folders with one; without PATH those of your jobs")
      ->option_text("[PATH ...]")
      ->expected(0, 100'000);
  jobs->add_flag("--csv", command.csv, "Every field as CSV");
  jobs->add_flag("--json", command.json, "Print the API's JSON");
  AddSocket(jobs, socket);
  jobs->footer(kJobsFooter);
  return jobs;
}

CLI::App* AddWatch(CLI::App& app, WatchCommand& command, CheckWord check_job_id,
                   std::string* socket) {
  CLI::App* watch =
      app.add_subcommand("watch", "Follow a job: its start, its progress, how it ended");
  watch->add_option("JOBID", command.job_id, "The job's number")
      ->required()
      ->check(CLI::Validator(check_job_id, "", ""));
  watch
      ->add_option("--interval", command.interval_seconds,
                   "Look every so many seconds (default 30, at least 5)")
      ->option_text("SECONDS")
      ->check(CLI::Range(5, 86'400));
  watch->add_flag("--once", command.once, "Look once");
  watch->add_flag("--json", command.json, "One JSON object a look");
  AddSocket(watch, socket);
  watch->footer(kWatchFooter);
  return watch;
}

}  // namespace gpuadvise
