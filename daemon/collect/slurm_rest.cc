#include "daemon/collect/slurm_rest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/net/http_call.h"
#include "common/slurm/policy.h"
#include "daemon/collect/accounting_text.h"
#include "daemon/collect/rest_policy.h"
#include "daemon/collect/scontrol.h"
#include "daemon/collect/sdiag.h"
#include "daemon/collect/slurm_conf_file.h"
#include "daemon/collect/slurm_values.h"

namespace gpuadvise::collect {
namespace {

constexpr size_t kMostAnswerBytes = size_t{512} << 20;
constexpr int kOldestRead = 40;
constexpr int kNewestRead = 45;
// A table, its path and the newest readable version.
struct RestTableName {
  const char* name;
  const char* folder;
  const char* ending = "/";  // required by slurmrestd; differs between tables
  int newest = kNewestRead;
  bool is_needed = true;
};
constexpr std::array kRestTables = {
    RestTableName{"nodes", "slurm"},
    RestTableName{"jobs", "slurm", "/", 44},
    RestTableName{"partitions", "slurm", "/?flags=ALL"},  // includes hidden ones
    RestTableName{"reservations", "slurm"},
    RestTableName{"licenses", "slurm", "/", kNewestRead, false},
    RestTableName{"shares", "slurm", "", kNewestRead, false},
    RestTableName{"conf", "slurm", "", kNewestRead, false},
    RestTableName{"diag", "slurm", "/", kNewestRead, false},
    RestTableName{"associations", "slurmdb", "/", kNewestRead, false},
    RestTableName{"qos", "slurmdb", "/", kNewestRead, false},
};

constexpr int kOk = 200;
constexpr int kNotModified = 304;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kNoNetworkAuthentication = 511;  // slurmctld rejects the token

// The N of "v0.0.N"; 0 for anything else.
int ParseVersion(std::string_view word) {
  constexpr std::string_view kStart = "v0.0.";
  if (!word.starts_with(kStart) || word.size() > kStart.size() + 4) return 0;
  return static_cast<int>(ToInteger(word.substr(kStart.size())));
}

// "/slurm/v0.0.42/nodes/" in its parts.
struct OfferedPath {
  std::string_view folder;
  int version = 0;
  std::string_view table;
};
OfferedPath SplitOfferedPath(std::string_view path) {
  const std::vector<std::string_view> parts = SplitAt(path, '/');
  const bool is_table = parts.size() == 4 || (parts.size() == 5 && parts[4].empty());
  if (!is_table || !parts[0].empty()) return {};
  return {parts[1], ParseVersion(parts[2]), parts[3]};
}

// The version to request of a table offered in `versions`: the newest up to `newest`, else the
// oldest above it; 0: none.
int ChooseVersion(const std::set<int>& versions, int newest) {
  int best = 0;
  for (const int version : versions) {
    if (version < kOldestRead) continue;
    if (version <= newest || best == 0) best = version;
  }
  return best;
}

// The server's description of an error.
std::string WhySlurmrestd(const HttpAnswer& answer) {
  const Result<RestJson> document = ReadRestJson(answer.body);
  const RestJson* first = nullptr;
  if (document) {
    const RestJson& errors = RestTable(*document, "errors");
    if (!errors.empty()) first = &errors.front();
  }
  if (first == nullptr) {
    const std::string line = OneLine(answer.body, 160);
    return line.empty() ? fmt::format("status {}", answer.status)
                        : fmt::format("status {}: {}", answer.status, line);
  }
  const std::string what = RestText(*first, "description");
  const std::string why = RestText(*first, "error");
  if (what.empty() || why.empty()) return OneLine(what + why, 300);
  return OneLine(fmt::format("{}: {}", what, why), 300);
}

class SlurmRestSource : public Source {
 public:
  SlurmRestSource(SlurmRestOptions options, HttpPlace place)
      : options_(std::move(options)), place_(std::move(place)) {}

  Result<Poll> Step() override;

 private:
  Result<HttpAnswer> Get(const std::string& target) const;
  Result<RestJson> Read(const std::string& target, const HttpAnswer& answer) const;
  Result<RestJson> GetJson(const std::string& target) const;
  Result<RestJson> GetTable(const std::string& table) const;
  bool Offers(const std::string& table) const { return paths_->path_of.contains(table); }
  Error Refused(const HttpAnswer& answer) const;
  Result<void> Discover();
  Result<void> LoadTables(Poll& poll);
  Result<void> LoadJobs(Poll& poll);
  void LoadConf(Poll& poll);
  Result<void> LoadPolicy(Poll& poll);
  void LoadAccounting(Poll& poll);
  void LoadHealth(SchedulerHealth& health);
  void FillPartitions(Poll& poll) const;

  const SlurmRestOptions options_;
  const HttpPlace place_;
  std::optional<RestPaths> paths_;
  std::optional<SlurmConfFile> conf_file_;
  std::string cluster_;
  std::string release_;
  bool has_accounting_ = false;
  std::optional<Snapshot> last_;
  int64_t jobs_updated_ = 0;
  std::string default_partition_;  // derived from jobs, if nothing else gives it
  std::vector<RestUse> uses_;
  std::optional<std::chrono::steady_clock::time_point> policy_time_;
};

// ---- requests ----------------------------------------------------------------------------------

Error SlurmRestSource::Refused(const HttpAnswer& answer) const {
  const std::string wants = fmt::format("slurmrestd at {} ", options_.url);
  if (options_.token_file.empty()) {
    return {ErrorCode::kUnavailable,
            fmt::format("{}answers {}: it wants a token; set slurmrestd.token_file to a file with "
                        "one (scontrol token lifespan=SECONDS)",
                        wants, answer.status),
            ""};
  }
  return {
      ErrorCode::kUnavailable,
      fmt::format("{}refuses the token in {} ({}): it has expired, or is of another cluster or "
                  "user; make a new one with `scontrol token lifespan=SECONDS` and put it there",
                  wants, options_.token_file, answer.status),
      ""};
}

Result<HttpAnswer> SlurmRestSource::Get(const std::string& target) const {
  HttpCall call{.place = place_,
                .target = target,
                .ca = options_.ca_file,
                .deadline = options_.deadline,
                .most_body_bytes = kMostAnswerBytes};
  if (!options_.user.empty()) call.fields.emplace_back("X-SLURM-USER-NAME", options_.user);
  if (!options_.token_file.empty()) {
    std::ifstream file(options_.token_file);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
      return Fail(ErrorCode::kUnavailable, fmt::format("the token's file {} cannot be read: {}",
                                                       options_.token_file, std::strerror(errno)));
    }
    const std::string token = RestTokenIn(text);
    if (token.empty()) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{} holds no token; write what `scontrol token` prints to it",
                              options_.token_file));
    }
    call.fields.emplace_back("X-SLURM-USER-TOKEN", token);
  }
  CountRequest();
  Result<HttpAnswer> answer = CallHttp(call);
  if (!answer) {
    return Fail(answer.error().code, fmt::format("slurmrestd at {} cannot be asked: {}",
                                                 options_.url, answer.error().message));
  }
  if (answer->status == kUnauthorized || answer->status == kForbidden ||
      (answer->status == kNoNetworkAuthentication && !options_.token_file.empty())) {
    return tl::unexpected(Refused(*answer));
  }
  if (answer->status >= 300 && answer->status < 400 && answer->status != kNotModified) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("slurmrestd at {} sends {} elsewhere ({}), which is not followed; set "
                            "slurmrestd.url to where it is",
                            options_.url, target, OneLine(answer->Field("location"), 120)));
  }
  return answer;
}

// The answer to `target` as JSON, unless the server reports an error.
Result<RestJson> SlurmRestSource::Read(const std::string& target, const HttpAnswer& answer) const {
  const std::string_view path = std::string_view(target).substr(0, target.find('?'));
  const auto fail = [&](const std::string& why) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("slurmrestd at {} does not return {}: {}", options_.url, path, why));
  };
  if (answer.status == kNotModified) return RestJson::object();
  if (answer.status != kOk) return fail(WhySlurmrestd(answer));
  Result<RestJson> document = ReadRestJson(answer.body);
  if (!document) return fail(document.error().message);
  if (!RestTable(*document, "errors").empty()) return fail(WhySlurmrestd(answer));
  return document;
}

Result<RestJson> SlurmRestSource::GetJson(const std::string& target) const {
  const Result<HttpAnswer> answer = Get(target);
  if (!answer) return tl::unexpected(answer.error());
  return Read(target, *answer);
}

Result<RestJson> SlurmRestSource::GetTable(const std::string& table) const {
  return GetJson(paths_->path_of.at(table));
}

// Asks for the server's paths unless they are known. Asks again after any failure, because the
// server may have another release by then.
Result<void> SlurmRestSource::Discover() {
  if (paths_) return {};
  std::optional<RestJson> description;
  for (const char* place : {"/openapi/v3", "/openapi"}) {
    const Result<HttpAnswer> answer = Get(place);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->status == kNotFound) continue;
    Result<RestJson> read = Read(place, *answer);
    if (!read) return tl::unexpected(read.error());
    description = std::move(*read);
    break;
  }
  if (!description) {
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("{} is not slurmrestd: it has neither /openapi/v3 nor /openapi", options_.url));
  }
  Result<RestPaths> paths = ChooseRestPaths(*description);
  if (!paths) {
    return Fail(paths.error().code,
                fmt::format("slurmrestd at {} {}", options_.url, paths.error().message));
  }
  paths_ = std::move(*paths);
  return {};
}

// ---- tables ------------------------------------------------------------------------------------

Result<void> SlurmRestSource::LoadJobs(Poll& poll) {
  std::string target = paths_->path_of.at("jobs");
  if (last_ && jobs_updated_ > 0) target += fmt::format("?update_time={}", jobs_updated_);
  const Result<RestJson> answer = GetJson(target);
  if (!answer) return tl::unexpected(answer.error());
  // slurmrestd reports an unchanged table as empty without a time, or omits it.
  const int64_t updated = RestCount(*answer, "last_update");
  if (updated == 0 && last_ && jobs_updated_ > 0) return {};
  const RestJobsContext context{std::time(nullptr), poll.snapshot.nodes};
  poll.snapshot.jobs = RestJobs(*answer, context, poll.left_out);
  uses_ = RestUses(*answer);
  default_partition_ = DefaultPartitionOf(*answer);
  jobs_updated_ = updated;
  return {};
}

// Before v0.0.45 partitions have no flags; a slurm.conf has them, and jobs show the default.
void SlurmRestSource::FillPartitions(Poll& poll) const {
  const std::string& path = paths_->path_of.at("partitions");
  if (ParseVersion(SplitAt(path, '/')[2]) >= 45) {
    for (Partition& partition : poll.snapshot.partitions) {
      if (partition.preempt_mode == "CLUSTER_GLOBAL") {
        partition.preempt_mode = poll.snapshot.config.preempt_mode;
      } else if (partition.preempt_mode == "DISABLED") {
        partition.preempt_mode = "OFF";
      }
    }
    return;
  }
  for (Partition& partition : poll.snapshot.partitions) {
    if (conf_file_) {
      FillFlags(*conf_file_, partition);
    } else {
      partition.is_default = partition.name == default_partition_;
    }
  }
}

Result<void> SlurmRestSource::LoadTables(Poll& poll) {
  const Result<RestJson> nodes = GetTable("nodes");
  if (!nodes) return tl::unexpected(nodes.error());
  poll.snapshot.nodes = RestNodes(*nodes);
  cluster_ = RestText(*nodes, "meta/slurm/cluster");
  release_ = RestText(*nodes, "meta/slurm/release");
  has_accounting_ =
      RestText(*nodes, "meta/plugin/accounting_storage") == "accounting_storage/slurmdbd";
  const Result<RestJson> partitions = GetTable("partitions");
  if (!partitions) return tl::unexpected(partitions.error());
  poll.snapshot.partitions = RestPartitions(*partitions);
  const Result<RestJson> reservations = GetTable("reservations");
  if (!reservations) return tl::unexpected(reservations.error());
  poll.snapshot.reservations = RestReservations(*reservations);
  if (poll.snapshot.nodes.empty() || poll.snapshot.partitions.empty()) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("slurmrestd at {} shows no node or no partition; may its user see them "
                            "(PrivateData)?",
                            options_.url));
  }
  if (const int64_t unseen = CountUnseenNodes(poll.snapshot); unseen > 0) {
    poll.left_out.Add(
        fmt::format("{} of the partitions' nodes are not shown: PrivateData=cloud shows nodes of a "
                    "cloud that are powered down",
                    unseen));
  }
  return LoadJobs(poll);
}

// slurmrestd has the configuration since v0.0.45; before, it comes from a slurm.conf, which must be
// of this cluster.
void SlurmRestSource::LoadConf(Poll& poll) {
  ConfKeys keys;
  if (Offers("conf")) {
    const Result<RestJson> answer = GetTable("conf");
    if (answer) keys = RestConfKeys(*answer);
    if (!answer) poll.left_out.Add(answer.error().message);
  }
  if (!options_.slurm_conf.empty()) {
    Result<SlurmConfFile> file = ReadSlurmConfFile(options_.slurm_conf);
    const std::string whose = file ? file->keys["clustername"] : "";
    if (!file) {
      poll.left_out.Add(file.error().message);
    } else if (!whose.empty() && !cluster_.empty() && whose != cluster_) {
      poll.left_out.Add(fmt::format("{} is of cluster {}, slurmrestd of {}: the file is not used",
                                    options_.slurm_conf, whose, cluster_));
    } else {
      conf_file_ = std::move(*file);
    }
  }
  SchedulerConfig config;
  if (!keys.empty()) {
    config = ConfigOf(keys).config;
  } else if (conf_file_) {
    config = ConfigOf(conf_file_->keys).config;
  } else {
    poll.left_out.Add(
        "this slurmrestd does not report the configuration (v0.0.45 does): Slurm's defaults are "
        "taken for scheduler and priority parameters, and the default partition is the one of jobs "
        "that "
        "named none; set slurm_conf to read them");
  }
  config.slurm_version = release_;
  // Only a configured user is certain; any other token may see less.
  config.hidden = HiddenFrom(options_.user == "root", "", config.private_data);
  if (keys.empty() && !conf_file_) config.hidden.emplace_back(kHiddenConf);
  poll.snapshot.cluster = cluster_;
  poll.snapshot.config = std::move(config);
}

// Accounting is optional: the cluster stays visible if slurmdbd is down.
void SlurmRestSource::LoadAccounting(Poll& poll) {
  for (const char* table : {"shares", "associations", "qos"}) {
    if (Offers(table)) continue;
    poll.left_out.Add(
        fmt::format("this slurmrestd offers no {} (is the slurmdbd plugin loaded?): "
                    "limits and fair share are not known",
                    table));
    poll.snapshot.config.hidden.emplace_back(kHiddenLimits);
    return;
  }
  const Result<RestJson> shares = GetTable("shares");
  const Result<RestJson> associations = GetTable("associations");
  const Result<RestJson> qos = GetTable("qos");
  for (const Result<RestJson>* answer : {&shares, &associations, &qos}) {
    if (*answer) continue;
    poll.left_out.Add(answer->error().message);
    return;  // keeps the last data
  }
  poll.snapshot.associations = RestAssociations(*shares, *associations, cluster_);
  poll.snapshot.qos = RestQos(*qos);
  MakeLimitsAbsolute(poll.snapshot);
}

// Optional, too; a site may deny it.
void SlurmRestSource::LoadHealth(SchedulerHealth& health) {
  if (!Offers("diag")) return;
  const Result<RestJson> answer = GetTable("diag");
  if (answer) health = RestHealth(*answer);
  if (!answer) health.problem = answer.error().message;
}

Result<void> SlurmRestSource::LoadPolicy(Poll& poll) {
  const auto now = std::chrono::steady_clock::now();
  if (policy_time_ && now - *policy_time_ < options_.policy_interval) return {};
  LoadConf(poll);
  for (const std::string& note : paths_->notes) poll.left_out.Add(note);
  if (Offers("licenses")) {
    const Result<RestJson> licenses = GetTable("licenses");
    if (!licenses) return tl::unexpected(licenses.error());
    poll.snapshot.config.licenses = RestLicenses(*licenses);
  }
  if (has_accounting_) {
    LoadAccounting(poll);
    CountUses(uses_, poll.snapshot);
  }
  LoadHealth(poll.snapshot.config.health);
  policy_time_ = now;
  return {};
}

Result<Poll> SlurmRestSource::Step() {
  Poll poll;
  if (last_) poll.snapshot = *last_;
  poll.snapshot.source = "slurm-rest";
  const auto load = [&]() -> Result<void> {
    if (auto found = Discover(); !found) return found;
    if (auto loaded = LoadTables(poll); !loaded) return loaded;
    return LoadPolicy(poll);
  };
  if (auto loaded = load(); !loaded) {
    paths_.reset();
    jobs_updated_ = 0;  // this step's data is discarded
    policy_time_.reset();
    return tl::unexpected(loaded.error());
  }
  FillPartitions(poll);
  SpellTypesAsNodes(poll.snapshot);
  poll.snapshot.taken_at = std::time(nullptr);
  SortCanonically(poll.snapshot);
  DropDuplicates(poll.snapshot, poll.left_out);
  poll.changed = last_ ? ChangedTables(*last_, poll.snapshot) : TableSet::All();
  last_ = poll.snapshot;
  return poll;
}

}  // namespace

Result<RestPaths> ChooseRestPaths(const RestJson& description) {
  std::map<std::pair<std::string, std::string>, std::set<int>> offered;
  std::set<int> all;
  const RestJson* paths = RestValue(description, "paths");
  if (paths != nullptr && paths->is_object()) {
    for (const auto& [path, ignored] : paths->items()) {
      const OfferedPath parts = SplitOfferedPath(path);
      if (parts.version == 0) continue;
      offered[{std::string(parts.folder), std::string(parts.table)}].insert(parts.version);
      if (parts.folder == "slurm") all.insert(parts.version);
    }
  }
  RestPaths chosen;
  bool is_strange = false;
  for (const RestTableName& table : kRestTables) {
    const int version = ChooseVersion(offered[{table.folder, table.name}], table.newest);
    if (version == 0 && table.is_needed) {
      std::vector<std::string> words;
      for (const int each : all) words.push_back(fmt::format("v0.0.{}", each));
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("offers {}; gpuadvise reads v0.0.{} to v0.0.{} (Slurm 23.11 and "
                              "later): set source: slurm-cli",
                              words.empty() ? "no version of its API"
                                            : fmt::format("{}", fmt::join(words, ", ")),
                              kOldestRead, kNewestRead));
    }
    if (version == 0) continue;
    chosen.path_of[table.name] =
        fmt::format("/{}/v0.0.{}/{}{}", table.folder, version, table.name, table.ending);
    is_strange = is_strange || version > kNewestRead;
    if (version > table.newest && std::string_view(table.name) == "jobs") {
      chosen.notes.push_back(
          fmt::format("v0.0.{} of slurmrestd does not report which jobs want whole nodes; load "
                      "data_parser/v0.0.44",
                      version));
    }
  }
  if (is_strange) {
    chosen.notes.push_back(
        fmt::format("slurmrestd offers only versions newer than v0.0.{}, which "
                    "are read as if they were that one",
                    kNewestRead));
  }
  return chosen;
}

std::string RestTokenIn(std::string_view text) {
  text = Trim(text.substr(0, text.find('\n')));
  constexpr std::string_view kName = "SLURM_JWT=";
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  return std::string(text);
}

SourceResult MakeSlurmRestSource(const SlurmRestOptions& options) {
  if (options.url.empty()) {
    return BadInput("slurm-rest needs an address: --url, slurmrestd.url of the settings");
  }
  Result<HttpPlace> place = ReadHttpPlace(options.url);
  if (!place) return BadInput("slurmrestd: " + place.error().message);
  return std::make_unique<SlurmRestSource>(options, std::move(*place));
}

}  // namespace gpuadvise::collect
