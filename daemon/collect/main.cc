// gpuadvise-collect: prints what a cluster looks like, one record a line, again and again.
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "daemon/collect/accounting.h"
#include "daemon/collect/collect_loop.h"
#include "daemon/collect/replay.h"
#include "daemon/collect/sim.h"
#include "daemon/collect/slurm_api.h"
#include "daemon/collect/slurm_cli.h"

namespace gpuadvise {
namespace {

struct Arguments {
  std::string source;
  std::string file;
  bool once = false;
  double interval_seconds = 30;
  double policy_interval_seconds = 300;
  std::string slurm_conf;
  std::string slurm_bin_dir;
  SimOptions sim;
  AccountingOptions accounting;
};

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void Declare(CLI::App& app, Arguments& arguments) {
  app.add_option("source", arguments.source, "slurm-api, slurm-cli, sim, replay or accounting")
      ->required()
      ->check(CLI::IsMember({"slurm-api", "slurm-cli", "sim", "replay", "accounting"}));
  app.add_option("file", arguments.file, "the recording, for replay");
  app.add_flag("--once", arguments.once, "print one batch and end");
  app.add_option("--interval,--poll-interval", arguments.interval_seconds, "seconds between polls")
      ->check(CLI::Range(0.05, 86400.0))
      ->capture_default_str();
  app.add_option("--policy-interval", arguments.policy_interval_seconds,
                 "seconds between polls of configuration, associations and QOS")
      ->check(CLI::Range(0.05, 86400.0))
      ->capture_default_str();
  app.add_option("--slurm-conf", arguments.slurm_conf, "slurm.conf, instead of SLURM_CONF");
  app.add_option("--slurm-bin-dir,--bin-dir", arguments.slurm_bin_dir,
                 "where slurm-cli finds scontrol, sshare and sacctmgr, instead of PATH");
  app.add_option("--since", arguments.accounting.since, "accounting: from here, unix seconds");
  app.add_option("--until", arguments.accounting.until, "accounting: to here, unix seconds");
  app.add_option("--seed", arguments.sim.seed, "sim: which world")->capture_default_str();
  app.add_option("--speed", arguments.sim.speed, "sim: simulated seconds a second")
      ->capture_default_str();
}

SourceResult MakeSource(const Arguments& arguments) {
  const auto policy_interval = Milliseconds(arguments.policy_interval_seconds);
  if (arguments.source == "slurm-api") return MakeSlurmApiSource({policy_interval});
  if (arguments.source == "slurm-cli") {
    SlurmCliOptions options;
    options.bin_dir = arguments.slurm_bin_dir;
    options.policy_interval = policy_interval;
    return MakeSlurmCliSource(options);
  }
  if (arguments.source == "replay") {
    if (arguments.file.empty()) return BadInput("replay needs the recorded file: replay FILE");
    return MakeReplaySource(arguments.file);
  }
  return MakeSimSource(arguments.sim, [] { return static_cast<UnixSeconds>(std::time(nullptr)); });
}

/// What a person's shell may hold must not change which cluster is asked and how it prints.
void TidyEnvironment(const Arguments& arguments) {
  if (!arguments.slurm_conf.empty()) ::setenv("SLURM_CONF", arguments.slurm_conf.c_str(), 1);
  ::setenv("SLURM_BITSTR_LEN", "0", 1);  // array tasks are never cut short
  ::setenv("SLURM_TIME_FORMAT", "%s", 1);
  ::setenv("TZ", "UTC", 1);
  ::unsetenv("SLURM_CLUSTERS");
}

/// Nobody may be left asking slurmctld: end with the parent, and at once when told to.
void TieToParent() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { ::_exit(0); });
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int Complain(const Error& error) {
  std::fprintf(stderr, "gpuadvise-collect: %s\n", error.message.c_str());
  return 1;
}

int Account(const Arguments& arguments) {
  AccountingOptions options = arguments.accounting;
  options.bin_dir = arguments.slurm_bin_dir;
  const Result<void> printed = PrintAccounting(options, stdout);
  return printed ? 0 : Complain(printed.error());
}

int Main(int argc, char** argv) {
  CLI::App app("Prints what a Slurm cluster looks like as JSON records, one a line.");
  Arguments arguments;
  Declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  TieToParent();
  TidyEnvironment(arguments);
  if (arguments.source == "accounting") return Account(arguments);
  SourceResult source = MakeSource(arguments);
  if (!source) return Complain(source.error());
  LoopOptions options;
  options.source_name = arguments.source;
  options.interval = Milliseconds(arguments.interval_seconds);
  options.once = arguments.once;
  return RunCollectLoop(**source, options);
}

}  // namespace
}  // namespace gpuadvise

int main(int argc, char** argv) { return gpuadvise::Main(argc, argv); }
