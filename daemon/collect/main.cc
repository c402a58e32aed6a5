// gpuadvise-collect: polls a cluster and prints its state, one record per line.
#include <fmt/format.h>
#include <getopt.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "common/process/last_words.h"
#include "common/slurm/snapshot_records.h"
#include "daemon/collect/accounting.h"
#include "daemon/collect/collect_loop.h"
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
};

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

constexpr const char* kHelp =
    R"(Prints what a Slurm cluster looks like as JSON records, one a line.
Usage: {} [OPTIONS] source [file]

Positionals:
  source TEXT:{{slurm-api,slurm-cli,slurm-rest,sim,replay,accounting}} REQUIRED
                              slurm-api, slurm-cli, slurm-rest, sim, replay or accounting
  file TEXT                   the recording, for replay

Options:
  -h,--help                   Print this help message and exit
  --once                      print one batch and end
  --interval,--poll-interval FLOAT:FLOAT in [0.05 - 86400]=30
                              seconds between polls
  --policy-interval FLOAT:FLOAT in [0.05 - 86400]=300
                              seconds between polls of configuration, associations and QOS
  --slurm-conf TEXT           slurm.conf, instead of SLURM_CONF
  --slurm-bin-dir,--bin-dir TEXT
                              where scontrol, squeue, sshare and sacctmgr are found, instead of PATH
  --url TEXT                  slurm-rest: unix:/PATH, http://HOST:PORT or https://HOST:PORT of slurmrestd
  --jwt-file TEXT             slurm-rest: file with a token for it
  --rest-user TEXT            slurm-rest: whose token it is, where it does not say
  --ca-file TEXT              slurm-rest: certificates that https is checked with
  --since INT                 accounting: from here, unix seconds
  --until INT                 accounting: to here, unix seconds
  --seed UINT=1               sim: which world
  --speed FLOAT=1             sim: simulated seconds a second
  --jobs-dir TEXT             sim: folder of jobs that people submitted

)";

// Exit status for an invalid command line, by kind of error.
constexpr int kNoNumber = 104;
constexpr int kNotAllowed = 105;
constexpr int kMissing = 106;
constexpr int kUnexpected = 109;
constexpr int kNoValue = 114;

enum OptionCode {
  kHelpAsked = 'h',
  kOnce = 256,
  kInterval,
  kPolicyInterval,
  kSlurmConf,
  kBinDir,
  kUrl,
  kJwtFile,
  kRestUser,
  kCaFile,
  kSince,
  kUntil,
  kSeed,
  kSpeed,
  kJobsDir
};

// Of options with two names, error messages use the first.
const option kOptions[] = {{"help", no_argument, nullptr, kHelpAsked},
                           {"once", no_argument, nullptr, kOnce},
                           {"interval", required_argument, nullptr, kInterval},
                           {"poll-interval", required_argument, nullptr, kInterval},
                           {"policy-interval", required_argument, nullptr, kPolicyInterval},
                           {"slurm-conf", required_argument, nullptr, kSlurmConf},
                           {"slurm-bin-dir", required_argument, nullptr, kBinDir},
                           {"bin-dir", required_argument, nullptr, kBinDir},
                           {"url", required_argument, nullptr, kUrl},
                           {"jwt-file", required_argument, nullptr, kJwtFile},
                           {"rest-user", required_argument, nullptr, kRestUser},
                           {"ca-file", required_argument, nullptr, kCaFile},
                           {"since", required_argument, nullptr, kSince},
                           {"until", required_argument, nullptr, kUntil},
                           {"seed", required_argument, nullptr, kSeed},
                           {"speed", required_argument, nullptr, kSpeed},
                           {"jobs-dir", required_argument, nullptr, kJobsDir},
                           {nullptr, 0, nullptr, 0}};

std::string NameOfOption(int code) {
  const option* found = kOptions;
  while (found->name != nullptr && found->val != code) ++found;
  return found->name == nullptr ? fmt::format("-{:c}", code) : fmt::format("--{}", found->name);
}

const char* KindOfValue(int code) {
  if (code == kSeed) return "UINT";
  if (code == kSince || code == kUntil) return "INT";
  return code == kInterval || code == kPolicyInterval || code == kSpeed ? "FLOAT" : "TEXT";
}

int RefuseUsage(int status, const std::string& why) {
  fmt::print(stderr, "{}\nRun with --help for more information.\n", why);
  return status;
}

// Parses all of optarg as a number with a function such as strtol.
template <typename Number, typename Parse>
std::optional<int> ReadNumber(int code, Parse parse, Number& number) {
  char* end = nullptr;
  number = parse(optarg, &end);
  if (end != optarg && *end == '\0') return std::nullopt;
  return RefuseUsage(kNoNumber,
                     fmt::format("Could not convert: {} = {}", NameOfOption(code), optarg));
}

double ParseDouble(const char* text, char** end) { return std::strtod(text, end); }
int64_t ParseInteger(const char* text, char** end) { return std::strtoll(text, end, 0); }
uint64_t ParseUnsigned(const char* text, char** end) { return std::strtoull(text, end, 0); }

std::optional<int> ReadInterval(int code, double& seconds) {
  char* end = nullptr;
  seconds = std::strtod(optarg, &end);
  if (end != optarg && *end == '\0' && seconds >= 0.05 && seconds <= 86400) return std::nullopt;
  return RefuseUsage(kNotAllowed, fmt::format("{}: Value {} not in range 0.050000 to 86400.000000",
                                              NameOfOption(code), optarg));
}

// Handles one option of getopt_long(). Returns the exit status, or nullopt to continue.
std::optional<int> ReadOption(int code, char** argv, Arguments& arguments) {
  switch (code) {
    case kHelpAsked:
      fmt::print(kHelp, argv[0]);
      return 0;
    case kOnce:
      arguments.once = true;
      return std::nullopt;
    case kInterval:
      return ReadInterval(code, arguments.interval_seconds);
    case kPolicyInterval:
      return ReadInterval(code, arguments.policy_interval_seconds);
    case kSlurmConf:
      arguments.slurm_conf = optarg;
      return std::nullopt;
    case kBinDir:
      arguments.slurm_bin_dir = optarg;
      return std::nullopt;
    case kUrl:
      arguments.rest.url = optarg;
      return std::nullopt;
    case kJwtFile:
      arguments.rest.token_file = optarg;
      return std::nullopt;
    case kRestUser:
      arguments.rest.user = optarg;
      return std::nullopt;
    case kCaFile:
      arguments.rest.ca_file = optarg;
      return std::nullopt;
    case kSince:
      return ReadNumber(code, ParseInteger, arguments.accounting.since);
    case kUntil:
      return ReadNumber(code, ParseInteger, arguments.accounting.until);
    case kSeed:
      return ReadNumber(code, ParseUnsigned, arguments.sim.seed);
    case kSpeed:
      return ReadNumber(code, ParseDouble, arguments.sim.speed);
    case kJobsDir:
      arguments.sim.jobs_dir = optarg;
      return std::nullopt;
    case ':':
      return RefuseUsage(kNoValue, fmt::format("{}: 1 required {} missing", NameOfOption(optopt),
                                               KindOfValue(optopt)));
    default:  // one letter, or a word
      return RefuseUsage(
          kUnexpected,
          fmt::format("The following argument was not expected: {}",
                      optopt > 0 && optopt < kOnce ? NameOfOption(optopt) : argv[optind - 1]));
  }
}

std::optional<int> ReadPositionals(int argc, char** argv, Arguments& arguments) {
  if (optind >= argc) return RefuseUsage(kMissing, "source is required");
  arguments.source = argv[optind++];
  constexpr std::string_view kSources[] = {"slurm-api", "slurm-cli", "slurm-rest",
                                           "sim",       "replay",    "accounting"};
  if (std::find(std::begin(kSources), std::end(kSources), arguments.source) == std::end(kSources)) {
    return RefuseUsage(
        kNotAllowed,
        fmt::format("source: {} not in {{slurm-api,slurm-cli,slurm-rest,sim,replay,accounting}}",
                    arguments.source));
  }
  if (optind < argc) arguments.file = argv[optind++];
  if (optind >= argc) return std::nullopt;
  return RefuseUsage(kUnexpected,
                     fmt::format("The following argument was not expected: {}", argv[optind]));
}

// Reads the command line. Returns the exit status, or nullopt to continue with `arguments`.
std::optional<int> ReadArguments(int argc, char** argv, Arguments& arguments) {
  opterr = 0;
  for (int code = 0; (code = getopt_long(argc, argv, ":h", kOptions, nullptr)) != -1;) {
    if (const std::optional<int> status = ReadOption(code, argv, arguments)) return status;
  }
  return ReadPositionals(argc, argv, arguments);
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
  LoopOptions options;
  options.source_name = arguments.source;
  options.interval = Milliseconds(arguments.interval_seconds);
  options.once = arguments.once;
  return RunCollectLoop(**source, options);
}

}  // namespace
}  // namespace gpuadvise::collect

int main(int argc, char** argv) {
  gpuadvise::ReportUncaughtExceptions("gpuadvise-collect");
  return gpuadvise::collect::Main(argc, argv);
}
