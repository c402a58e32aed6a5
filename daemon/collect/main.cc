// gpuadvise-collect: polls a cluster and prints its state, one record per line.
#include <fmt/format.h>
#include <getopt.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/process/last_words.h"
#include "common/slurm/snapshot_records.h"
#include "daemon/collect/accounting.h"
#include "daemon/collect/collect_loop.h"
#include "daemon/collect/idle_gpus.h"
#include "daemon/collect/replay.h"
#include "daemon/collect/sim.h"
#include "daemon/collect/slurm_api.h"
#include "daemon/collect/slurm_cli.h"
#include "daemon/collect/slurm_rest.h"

namespace gpuadvise::collect {
namespace {

struct Arguments {
  std::string source;
  std::string file;
  bool once = false;
  double interval_seconds = 30;
  double policy_interval_seconds = 300;
  std::string slurm_conf;
  std::string slurm_bin_dir;
  SlurmRestOptions rest;
  SimOptions sim;
  AccountingOptions accounting;
  IdleGpusOptions idle;
};

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

constexpr std::string_view kSources[] = {"slurm-api", "slurm-cli", "slurm-rest",
                                         "sim",       "replay",    "accounting"};

// An option, and where its value goes: a flag, a text, or a number of what kind.
struct Option {
  const char* name;
  std::variant<bool*, std::string*, double*, int64_t*, uint64_t*> place;
  const char* about;
};

std::vector<Option> OptionsOf(Arguments& to) {
  return {{"once", &to.once, "print one batch and end"},
          {"poll-interval", &to.interval_seconds, "seconds between polls, .05 to 86400 (30)"},
          {"policy-interval", &to.policy_interval_seconds,
           "seconds between polls of configuration, associations and QOS (300)"},
          {"slurm-conf", &to.slurm_conf, "slurm.conf, instead of SLURM_CONF"},
          {"bin-dir", &to.slurm_bin_dir, "where Slurm's programs are found, instead of PATH"},
          {"url", &to.rest.url,
           "slurm-rest: unix:/PATH, http://HOST:PORT or https://HOST:PORT of slurmrestd"},
          {"jwt-file", &to.rest.token_file, "slurm-rest: file with a token for it"},
          {"rest-user", &to.rest.user, "slurm-rest: whose token it is, where it does not say"},
          {"ca-file", &to.rest.ca_file, "slurm-rest: certificates that https is checked with"},
          {"prometheus", &to.idle.prometheus, "URL of a Prometheus that knows of idle GPUs"},
          {"idle-gpus-query", &to.idle.query, "what it is asked: idle GPUs by node"},
          {"since", &to.accounting.since, "accounting: from here, unix seconds"},
          {"until", &to.accounting.until, "accounting: to here, unix seconds"},
          {"seed", &to.sim.seed, "sim: which world (1)"},
          {"speed", &to.sim.speed, "sim: simulated seconds a second (1)"},
          {"jobs-dir", &to.sim.jobs_dir, "sim: folder of jobs that people submitted"}};
}

void PrintHelp(const std::vector<Option>& options) {
  fmt::print(
      "Prints what a Slurm cluster looks like as JSON records, one a line.\n"
      "Usage: gpuadvise-collect [OPTIONS] {} [FILE]\n"
      "FILE: the recording, for replay\n\n",
      fmt::join(kSources, "|"));
  for (const Option& each : options) {
    const bool flag = std::holds_alternative<bool*>(each.place);
    fmt::print("  --{:24}{}\n", std::string(each.name) + (flag ? "" : " VALUE"), each.about);
  }
}

int RefuseUsage(const std::string& why) {
  fmt::print(stderr, "gpuadvise-collect: {}; see --help\n", why);
  return 2;
}

bool Read(const char* /*none*/, bool& flag) { return flag = true; }

bool Read(const char* text, std::string& place) {
  place = text;
  return true;
}

// All of `text`; false: it is no such number.
template <typename Number>
bool Read(const char* text, Number& number) {
  const char* end = text + std::strlen(text);
  const auto [rest, status] = std::from_chars(text, end, number);
  return status == std::errc() && rest == end;
}

bool Take(const Option& option, const char* value) {
  return std::visit([&](auto* place) { return Read(value, *place); }, option.place);
}

bool IsInterval(double seconds) { return seconds >= 0.05 && seconds <= 86400; }

// Reads the command line. Returns the exit status, or nullopt to continue with `arguments`.
std::optional<int> ReadArguments(int argc, char** argv, Arguments& arguments) {
  constexpr int kFirst = 256;  // behind all letters
  const std::vector<Option> options = OptionsOf(arguments);
  std::vector<option> known;
  for (size_t i = 0; i < options.size(); ++i) {
    const bool flag = std::holds_alternative<bool*>(options[i].place);
    known.push_back({options[i].name, flag ? no_argument : required_argument, nullptr,
                     kFirst + static_cast<int>(i)});
  }
  known.push_back({"help", no_argument, nullptr, 'h'});
  known.push_back({nullptr, 0, nullptr, 0});
  for (int code = 0; (code = getopt_long(argc, argv, "h", known.data(), nullptr)) != -1;) {
    if (code == 'h') return PrintHelp(options), 0;
    if (code < kFirst) return 2;  // getopt_long has said why
    const Option& option = options[static_cast<size_t>(code - kFirst)];
    if (!Take(option, optarg)) {
      return RefuseUsage(fmt::format("--{} {}: not a number", option.name, optarg));
    }
  }
  for (const double seconds : {arguments.interval_seconds, arguments.policy_interval_seconds}) {
    if (!IsInterval(seconds)) {
      return RefuseUsage(fmt::format("{} s between polls; .05 to 86400 are possible", seconds));
    }
  }
  if (optind < argc) arguments.source = argv[optind++];
  if (std::find(std::begin(kSources), std::end(kSources), arguments.source) == std::end(kSources)) {
    return RefuseUsage(fmt::format("a source is needed: {}", fmt::join(kSources, ", ")));
  }
  if (optind < argc) arguments.file = argv[optind++];
  if (optind < argc) return RefuseUsage(fmt::format("{} was not expected", argv[optind]));
  return std::nullopt;
}

SourceResult MakeSource(const Arguments& arguments) {
  const auto policy_interval = Milliseconds(arguments.policy_interval_seconds);
  if (arguments.source == "slurm-api")
    return MakeSlurmApiSource({policy_interval, arguments.slurm_bin_dir});
  if (arguments.source == "slurm-cli") {
    SlurmCliOptions options;
    options.bin_dir = arguments.slurm_bin_dir;
    options.policy_interval = policy_interval;
    return MakeSlurmCliSource(options);
  }
  if (arguments.source == "slurm-rest") {
    SlurmRestOptions options = arguments.rest;
    options.policy_interval = policy_interval;
    if (const char* conf = std::getenv("SLURM_CONF"); conf != nullptr) options.slurm_conf = conf;
    return MakeSlurmRestSource(options);
  }
  if (arguments.source == "replay") {
    if (arguments.file.empty()) return BadInput("replay needs the recorded file: replay FILE");
    return MakeReplaySource(arguments.file);
  }
  return MakeSimSource(arguments.sim, [] { return static_cast<UnixSeconds>(std::time(nullptr)); });
}

// The user's environment must not change which cluster is asked or how Slurm prints.
void TidyEnvironment(const Arguments& arguments) {
  if (!arguments.slurm_conf.empty()) ::setenv("SLURM_CONF", arguments.slurm_conf.c_str(), 1);
  ::setenv("SLURM_BITSTR_LEN", "0", 1);  // no truncation of array tasks
  ::setenv("SLURM_TIME_FORMAT", "%s", 1);
  ::setenv("TZ", "UTC", 1);
  ::unsetenv("SLURM_CLUSTERS");
}

// Must not outlive the daemon, which would keep polling slurmctld.
void TieToParent() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { ::_exit(0); });
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int Complain(const Error& error) {
  std::fprintf(stderr, "gpuadvise-collect: %s\n", error.message.c_str());
  return 1;
}

// Reports the error as a record, as a running source does.
int RefuseSource(const Arguments& arguments, const Error& error) {
  if (!arguments.once) {
    fmt::print("{}\n", ErrorRecord(error.message));
    std::fflush(stdout);
  }
  return Complain(error);
}

int Account(const Arguments& arguments) {
  AccountingOptions options = arguments.accounting;
  options.bin_dir = arguments.slurm_bin_dir;
  const Result<void> printed = PrintAccounting(options, stdout);
  return printed ? 0 : Complain(printed.error());
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<int> status = ReadArguments(argc, argv, arguments)) return *status;
  TieToParent();
  TidyEnvironment(arguments);
  if (arguments.source == "accounting") return Account(arguments);
  SourceResult source = MakeSource(arguments);
  if (!source) return RefuseSource(arguments, source.error());
  const std::unique_ptr<Source> whole = WithIdleGpus(std::move(*source), arguments.idle);
  LoopOptions options;
  options.source_name = arguments.source;
  options.interval = Milliseconds(arguments.interval_seconds);
  options.once = arguments.once;
  return RunCollectLoop(*whole, options);
}

}  // namespace
}  // namespace gpuadvise::collect

int main(int argc, char** argv) {
  gpuadvise::ReportUncaughtExceptions("gpuadvise-collect");
  return gpuadvise::collect::Main(argc, argv);
}
