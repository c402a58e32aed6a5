#include "daemon/collect/slurm_cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <random>
#include <unordered_set>
#include <utility>

#include "common/base/text.h"
#include "common/process/run_program.h"
#include "daemon/collect/accounting_text.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/scontrol_jobs.h"
#include "daemon/collect/sdiag.h"
#include "daemon/collect/slurm_conf.h"
#include "daemon/collect/slurm_values.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {
namespace {

constexpr size_t kMostBytes = size_t{512} << 20;
constexpr size_t kMostAskedAgain = 2'000;  // a command line of 22 KB
constexpr size_t kMostAskedAlone = 50;     // a process and an RPC each, within one deadline
constexpr int kNotFoundStatus = 127;       // as in a shell

std::string WhyNoAnswer(const ProgramEnd& end) {
  const bool missing = end.error == ENOENT || end.error == EACCES ||
                       (end.end.exit_code == kNotFoundStatus && end.errors.empty());
  if (missing) return "cannot be run; is it installed and in PATH?";
  if (end.error != 0) return fmt::format("cannot be started: {}", std::strerror(end.error));
  if (end.end.signal != 0) return "was ended by a signal";
  const std::string first_line = OneLine(end.errors.substr(0, end.errors.find('\n')), 300);
  const bool denied = ContainsIgnoringCase(first_line, "permission denied");
  return fmt::format("ended with status {}: {}{}", end.end.exit_code, first_line,
                     denied ? "; where PrivateData hides this, make the user of gpuadvised an "
                              "operator: sacctmgr add user NAME account=ANY adminlevel=operator"
                            : "");
}

class SlurmCliSource : public Source {
 public:
  explicit SlurmCliSource(SlurmCliOptions options) : options_(std::move(options)) {}

  Result<Poll> Step() override;

 private:
  Result<std::string> Run(std::vector<std::string> words,
                          std::vector<std::string> environment = {});
  Result<std::string> ListJobs(const std::string& mark, std::vector<std::string> words);
  Result<void> LoadJobs(Poll& poll);
  void LoadDoubled(const JobList& list, ReadJobs& read, LeftOut& left_out);
  Result<std::string> Table(std::string_view name);
  Result<void> LoadTables(Poll& poll);
  Result<void> LoadPolicy(Snapshot& snapshot);
  void LoadLicenses(SchedulerConfig& config);
  void LoadHealth(SchedulerHealth& health);
  void LoadAccounting(const ClusterConfig& config, Snapshot& snapshot);

  const SlurmCliOptions options_;
  std::optional<Snapshot> last_;
  std::optional<std::chrono::steady_clock::time_point> policy_time_;
};

Result<std::string> SlurmCliSource::Run(std::vector<std::string> words,
                                        std::vector<std::string> environment) {
  if (!options_.bin_dir.empty()) words.front() = options_.bin_dir + "/" + words.front();
  CountRequest();
  return AskSlurm(std::move(words), options_.deadline, std::move(environment));
}

// Passes the format in the environment: any user can read command lines.
Result<std::string> SlurmCliSource::ListJobs(const std::string& mark,
                                             std::vector<std::string> words) {
  words.insert(words.begin(), {"squeue", "-a", "--local", "-h", "-t", "all"});
  return Run(std::move(words), {"SQUEUE_FORMAT2=" + JobListFormat(mark)});
}

Result<void> SlurmCliSource::LoadJobs(Poll& poll) {
  const auto jobs = Table("job");
  if (!jobs) return tl::unexpected(jobs.error());
  // Listed second: newer jobs are not in the text, and jobs that end meanwhile are still listed.
  const std::string mark = DrawMark();
  const auto listed = ListJobs(mark, {});
  if (!listed) return tl::unexpected(listed.error());
  JobList list;
  if (auto added = AddListedJobs(*listed, mark, list); !added) return added;
  ReadJobs read = ParseJobs(*jobs, list);
  std::string tasks;
  if (std::vector<int64_t>& ids = read.unlisted_tasks; !ids.empty()) {
    const size_t too_many = ids.size() - std::min(ids.size(), kMostAskedAgain);
    ids.resize(ids.size() - too_many);
    const auto more = ListJobs(mark, {"-r", "-j", fmt::format("{}", fmt::join(ids, ","))});
    tasks = more.value_or("");  // an error means that the jobs are gone
    if (auto added = AddListedJobs(tasks, mark, list); !added) return added;
    read = ParseJobs(*jobs, list);
    if (too_many > 0) {
      poll.left_out.Add(
          fmt::format("{} tasks that squeue joins were not asked for: no more than "
                      "{} are in a poll",
                      too_many, kMostAskedAgain));
    }
  }
  LoadDoubled(list, read, poll.left_out);
  poll.snapshot.jobs = std::move(read.jobs);
  poll.left_out.Add(std::move(read.left_out));
  return {};
}

// Asks for each job with more than one record alone; a random choice if there are too many. The
// others keep their last state, so that nobody can hide jobs by faking many records.
void SlurmCliSource::LoadDoubled(const JobList& list, ReadJobs& read, LeftOut& left_out) {
  std::vector<int64_t>& ids = read.doubled;
  std::shuffle(ids.begin(), ids.end(), std::minstd_rand(std::random_device{}()));
  const auto until = std::chrono::steady_clock::now() + options_.deadline;
  size_t asked = 0;
  while (asked < std::min(ids.size(), kMostAskedAlone) &&
         std::chrono::steady_clock::now() < until) {
    const int64_t id = ids[asked++];
    const auto text = Run({"scontrol", "-a", "--local", "-d", "show", "job", std::to_string(id)});
    if (text) AddJobShownAlone(*text, id, list, read);
  }
  const std::unordered_set<int64_t> others(ids.begin() + static_cast<std::ptrdiff_t>(asked),
                                           ids.end());
  if (others.empty()) return;
  left_out.Add(fmt::format(
      "{} jobs that have more than one record stay as they were: {} are asked for alone in a poll",
      others.size(), asked));
  if (!last_) return;
  for (const Job& job : last_->jobs) {
    if (others.contains(job.id) && IsListedAs(job, list)) read.jobs.push_back(job);
  }
}

// Output of `scontrol show NAME`: complete records, or a line that there are none. Rejects a
// truncated record, which could pass for one without allocations.
Result<std::string> SlurmCliSource::Table(std::string_view name) {
  auto text = Run({"scontrol", "-a", "--local", "-d", "show", std::string(name)});
  const bool whole =
      !text || text->empty() || text->ends_with("\n\n") || text->find('=') == std::string::npos;
  if (whole) return text;
  return Fail(ErrorCode::kUnavailable,
              fmt::format("scontrol show {} ends inside a record; is it Slurm's own?", name));
}

Result<void> SlurmCliSource::LoadTables(Poll& poll) {
  Snapshot& snapshot = poll.snapshot;
  const auto nodes = Table("node");
  if (!nodes) return tl::unexpected(nodes.error());
  snapshot.nodes = ParseNodes(*nodes);
  const auto partitions = Table("partition");
  if (!partitions) return tl::unexpected(partitions.error());
  snapshot.partitions = ParsePartitions(*partitions);
  const auto reservations = Table("reservation");
  if (!reservations) return tl::unexpected(reservations.error());
  snapshot.reservations = ParseReservations(*reservations);
  if (snapshot.nodes.empty() || snapshot.partitions.empty()) {
    return Fail(ErrorCode::kUnavailable,
                "scontrol shows no node or no partition; is it Slurm's own scontrol?");
  }
  if (const int64_t unseen = CountUnseenNodes(snapshot); unseen > 0) {
    poll.left_out.Add(
        fmt::format("{} of the partitions' nodes are not shown: PrivateData=cloud shows nodes of a "
                    "cloud that are powered down",
                    unseen));
  }
  return LoadJobs(poll);
}

// Accounting is optional: the cluster stays visible if slurmdbd is down.
void SlurmCliSource::LoadAccounting(const ClusterConfig& config, Snapshot& snapshot) {
  const auto assoc_mgr = Run({"scontrol", "show", "assoc_mgr"});
  if (!assoc_mgr) return;
  snapshot.config.hidden =
      HiddenFrom(SeesAll(config.slurm_user), AdminLevelOf(*assoc_mgr, OwnName()),
                 snapshot.config.private_data);
  const std::string cluster = "cluster=" + snapshot.cluster;
  const auto shares = Run({"sshare", "-a", "-m", "-P", "-o", std::string(kShareColumns)});
  const auto associations = Run(
      {"sacctmgr", "-P", "show", "assoc", cluster, "format=" + std::string(kAssociationColumns)});
  const auto qos = Run({"sacctmgr", "-P", "show", "qos", "format=" + std::string(kQosColumns)});
  const auto text = [](const Result<std::string>& result) {
    return result ? std::string_view(*result) : std::string_view();
  };
  const AccountingText all = {*assoc_mgr, text(shares), text(associations), text(qos)};
  snapshot.associations = ParseAssociations(all);
  snapshot.qos = ParseQos(all);
  MakeLimitsAbsolute(snapshot);
}

// Optional, like accounting.
void SlurmCliSource::LoadLicenses(SchedulerConfig& config) {
  const auto text = Run({"scontrol", "show", "license"});
  if (text) config.licenses = ParseLicenses(*text);
}

// Optional, too; a site may deny it.
void SlurmCliSource::LoadHealth(SchedulerHealth& health) {
  const auto text = Run({"sdiag"});
  if (text) health = ParseSdiag(*text);
  if (!text) health.problem = text.error().message;
}

Result<void> SlurmCliSource::LoadPolicy(Snapshot& snapshot) {
  const auto now = std::chrono::steady_clock::now();
  if (policy_time_ && now - *policy_time_ < options_.policy_interval) return {};
  const auto text = Run({"scontrol", "show", "config"});
  if (!text) return tl::unexpected(text.error());
  ClusterConfig config = ParseConfig(*text);
  snapshot.cluster = std::move(config.cluster);
  snapshot.config = config.config;
  snapshot.config.hidden = HiddenFrom(SeesAll(config.slurm_user), "", config.config.private_data);
  if (config.has_licenses) LoadLicenses(snapshot.config);
  if (config.has_accounting) LoadAccounting(config, snapshot);
  LoadHealth(snapshot.config.health);
  policy_time_ = now;
  return {};
}

Result<Poll> SlurmCliSource::Step() {
  const auto conf = FindSlurmConf();
  const bool is_named = std::getenv("SLURM_CONF") != nullptr;  // else the tools find it themselves
  if (!conf && is_named) return tl::unexpected(conf.error());
  Poll poll;
  if (last_) poll.snapshot = *last_;
  poll.snapshot.source = "slurm-cli";
  if (auto loaded = LoadTables(poll); !loaded) return tl::unexpected(loaded.error());
  // Loaded after the nodes, because relative limits are shares of their TRES.
  if (auto loaded = LoadPolicy(poll.snapshot); !loaded) return tl::unexpected(loaded.error());
  SpellTypesAsNodes(poll.snapshot);
  poll.snapshot.taken_at = std::time(nullptr);
  SortCanonically(poll.snapshot);
  DropDuplicates(poll.snapshot, poll.left_out);
  poll.changed = last_ ? ChangedTables(*last_, poll.snapshot) : TableSet::All();
  last_ = poll.snapshot;
  return poll;
}

}  // namespace

std::string DrawMark() {
  std::random_device random;
  return fmt::format("@{:08x}{:08x}{:08x}{:08x}@", random(), random(), random(), random());
}

Result<std::string> AskSlurm(std::vector<std::string> words, std::chrono::milliseconds deadline,
                             std::vector<std::string> environment) {
  ProgramCall call;
  call.command = {std::move(words), std::move(environment)};
  for (const char* ours :
       {"SLURM_TIME_FORMAT=%s", "TZ=UTC", "LC_ALL=C", "SLURM_BITSTR_LEN=0",
        // Users set these to filter squeue's output.
        "SQUEUE_ACCOUNT", "SQUEUE_ARRAY", "SQUEUE_FORMAT", "SQUEUE_LICENSES", "SQUEUE_NAMES",
        "SQUEUE_PARTITION", "SQUEUE_QOS", "SQUEUE_USERS", "SLURM_CLUSTERS"}) {
    call.command.environment.emplace_back(ours);
  }
  call.child.group = ChildGroup::kOurs;
  call.child.dies_with_us = true;
  call.deadline = deadline;
  call.max_output_bytes = kMostBytes;
  call.ends_at_bound = true;
  ProgramEnd end = RunWithin(call);
  if (end.ok()) return std::move(end.output);
  const bool told = end.how == ProgramEnd::How::kByItself || end.how == ProgramEnd::How::kNotRun;
  if (!told) return tl::unexpected<Error>(ExplainTermination(call, end));
  return Fail(ErrorCode::kUnavailable, call.command.words.front() + " " + WhyNoAnswer(end));
}

SourceResult MakeSlurmCliSource(const SlurmCliOptions& options) {
  return std::make_unique<SlurmCliSource>(options);
}

}  // namespace gpuadvise::collect
