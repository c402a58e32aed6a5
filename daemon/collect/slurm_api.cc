// Nodes, partitions, reservations and the configuration are few, and their structures change with
// every release. So libslurm prints them to memory in the text format that all releases share, and
// scontrol.h reads it. Jobs (slurm_api_jobs.h), associations and QOS, whose text has only two
// digits, are read from the structures.
#include "daemon/collect/slurm_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include "daemon/collect/scontrol.h"
#include "daemon/collect/slurm_api_jobs.h"
#include "daemon/collect/slurm_api_policy.h"
#include "daemon/collect/slurm_api_program.h"
#include "daemon/collect/slurm_compat.h"
#include "daemon/collect/slurm_conf.h"
#include "daemon/collect/slurm_values.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {
namespace {

constexpr uint16_t kShow = SHOW_ALL | SHOW_DETAIL | SHOW_LOCAL | SHOW_MIXED;

// Text that `print` writes to a stream.
template <typename Print>
std::string Printed(Print print) {
  char* data = nullptr;
  size_t size = 0;
  FILE* stream = ::open_memstream(&data, &size);
  if (stream == nullptr) return {};
  print(stream);
  std::fclose(stream);
  std::string text(data, size);
  std::free(data);
  return text;
}

// ---- the source ----------------------------------------------------------------------------

// "22.05.8": of the headers; the library's file name guarantees the same release.
std::string OwnRelease() {
  return fmt::format("{}.{:02}.{}", SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                     SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
                     SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER));
}

// Why libslurm may fail on this host: "" or a clause with the remedy. Set once, before the first
// call of libslurm. Never destroyed: it is read at process exit.
std::string& Doubt() {
  static auto* doubt = new std::string;
  return *doubt;
}

// libslurm ends the process if it cannot load its plugins, for example of another release.
bool starting = true;
void SayDoubtAtExit() {
  if (starting) fmt::print(stderr, "gpuadvise-collect-api: {}\n", Doubt());
}

Error CannotAsk(const char* what) {
  const char* why = slurm_strerror(errno);
  return {ErrorCode::kUnavailable,
          fmt::format("slurmctld does not report its {}: {}{}{}", what, why,
                      Doubt().empty() ? "" : "; ", Doubt()),
          ""};
}

// One table. Asks with the time of the last answer and reads only a changed table.
template <typename Message>
class UpdatedTable {
 public:
  // `load(time, &message)` and `free(message)` are libslurm's. `read(message)` returns
  // Result<void> and is called only if the table has changed.
  template <typename Load, typename Free, typename Read>
  Result<void> Poll(const char* what, Load load, Free free, Read read) {
    Message* message = nullptr;
    if (load(updated_, &message) != SLURM_SUCCESS) {
      if (errno == SLURM_NO_CHANGE_IN_DATA) return {};
      return tl::unexpected(CannotAsk(what));
    }
    updated_ = message->last_update;
    Result<void> was_read = read(*message);
    free(message);
    return was_read;
  }
  void Forget() { updated_ = 0; }

 private:
  time_t updated_ = 0;
};

class SlurmApiSource : public Source {
 public:
  explicit SlurmApiSource(const SlurmApiOptions& options) : options_(options) {}

  Result<Poll> Step() override;

 private:
  Result<void> LoadNodes(Snapshot& snapshot);
  Result<void> LoadJobs(Snapshot& snapshot);
  Result<void> LoadPartitions(Snapshot& snapshot);
  Result<void> LoadReservations(Snapshot& snapshot);
  Result<void> LoadPolicy(Snapshot& snapshot);
  Result<void> LoadAll(Snapshot& snapshot);

  const SlurmApiOptions options_;
  Snapshot last_;
  bool has_last_ = false;
  std::optional<std::chrono::steady_clock::time_point> policy_time_;
  UpdatedTable<node_info_msg_t> nodes_;
  UpdatedTable<job_info_msg_t> jobs_;
  UpdatedTable<partition_info_msg_t> partitions_;
  UpdatedTable<reserve_info_msg_t> reservations_;
};

Result<void> SlurmApiSource::LoadNodes(Snapshot& snapshot) {
  CountRequest();
  return nodes_.Poll(
      "nodes", [](time_t since, node_info_msg_t** m) { return slurm_load_node(since, m, kShow); },
      slurm_free_node_info_msg,
      [&](node_info_msg_t& message) {
        snapshot.nodes = ParseNodes(
            Printed([&](FILE* stream) { slurm_print_node_info_msg(stream, &message, 0); }));
        return Result<void>();
      });
}

Result<void> SlurmApiSource::LoadJobs(Snapshot& snapshot) {
  CountRequest();
  return jobs_.Poll(
      "jobs", [](time_t since, job_info_msg_t** m) { return slurm_load_jobs(since, m, kShow); },
      slurm_free_job_info_msg,
      [&](job_info_msg_t& message) -> Result<void> {
        Result<std::vector<Job>> jobs = JobsOf(message, snapshot.nodes);
        if (!jobs) return tl::unexpected<Error>(std::move(jobs.error()));
        snapshot.jobs = std::move(*jobs);
        return {};
      });
}

Result<void> SlurmApiSource::LoadPartitions(Snapshot& snapshot) {
  CountRequest();
  return partitions_.Poll(
      "partitions",
      [](time_t since, partition_info_msg_t** m) { return slurm_load_partitions(since, m, kShow); },
      slurm_free_partition_info_msg,
      [&](partition_info_msg_t& message) {
        snapshot.partitions = ParsePartitions(Printed([&](FILE* stream) {
          for (uint32_t i = 0; i < message.record_count; ++i)
            slurm_print_partition_info(stream, &message.partition_array[i], 0);
        }));
        return Result<void>();
      });
}

Result<void> SlurmApiSource::LoadReservations(Snapshot& snapshot) {
  CountRequest();
  return reservations_.Poll("reservations", slurm_load_reservations,
                            slurm_free_reservation_info_msg, [&](reserve_info_msg_t& message) {
                              snapshot.reservations = ParseReservations(Printed([&](FILE* stream) {
                                slurm_print_reservation_info_msg(stream, &message, 0);
                              }));
                              return Result<void>();
                            });
}

Result<void> LoadLicenses(SchedulerConfig& config) {
  license_info_msg_t* message = nullptr;
  if (slurm_load_licenses(0, &message, SHOW_ALL) != SLURM_SUCCESS)
    return tl::unexpected(CannotAsk("licences"));
  config.licenses.clear();
  for (uint32_t i = 0; i < message->num_lic; ++i) {
    const slurm_license_info_t& license = message->lic_array[i];
    if (license.name == nullptr) continue;
    config.licenses.push_back(
        {license.name, license.total, license.in_use, license.reserved, license.remote != 0});
  }
  slurm_free_license_info_msg(message);
  std::sort(config.licenses.begin(), config.licenses.end(),
            [](const License& a, const License& b) { return a.name < b.name; });
  return {};
}

Result<void> SlurmApiSource::LoadPolicy(Snapshot& snapshot) {
  const auto now = std::chrono::steady_clock::now();
  if (policy_time_ && now - *policy_time_ < options_.policy_interval) return {};
  slurm_conf_t* conf = nullptr;
  CountRequest();
  if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
    return tl::unexpected(CannotAsk("configuration"));
  ClusterConfig config =
      ParseConfig(Printed([&](FILE* stream) { slurm_print_ctl_conf(stream, conf); }));
  slurm_compat::FreeConf(conf);
  snapshot.cluster = std::move(config.cluster);
  snapshot.config = std::move(config.config);
  CountRequest();
  if (auto loaded = LoadLicenses(snapshot.config); !loaded) return loaded;
  if (config.has_accounting) CountRequest();
  const std::string level = config.has_accounting ? LoadAccounting(snapshot, OwnName()) : "";
  snapshot.config.hidden =
      HiddenFrom(SeesAll(config.slurm_user), level, snapshot.config.private_data);
  policy_time_ = now;
  return {};
}

Result<void> SlurmApiSource::LoadAll(Snapshot& snapshot) {
  if (auto loaded = LoadPolicy(snapshot); !loaded) return loaded;
  if (auto loaded = LoadNodes(snapshot); !loaded) return loaded;
  if (auto loaded = LoadPartitions(snapshot); !loaded) return loaded;
  if (auto loaded = LoadReservations(snapshot); !loaded) return loaded;
  return LoadJobs(snapshot);
}

Result<Poll> SlurmApiSource::Step() {
  Poll poll;
  poll.snapshot = last_;
  poll.snapshot.source = "slurm-api";
  if (auto loaded = LoadAll(poll.snapshot); !loaded) {
    nodes_.Forget();  // this step's data is discarded
    partitions_.Forget();
    reservations_.Forget();
    jobs_.Forget();
    policy_time_.reset();
    return tl::unexpected(loaded.error());
  }
  SpellTypesAsNodes(poll.snapshot);
  poll.snapshot.taken_at = std::time(nullptr);
  SortCanonically(poll.snapshot);
  DropDuplicates(poll.snapshot, poll.left_out);
  poll.changed = has_last_ ? ChangedTables(last_, poll.snapshot) : TableSet::All();
  last_ = poll.snapshot;
  has_last_ = true;
  return poll;
}

}  // namespace

SourceResult MakeSlurmApiSource(const SlurmApiOptions& options) {
  const auto conf = FindSlurmConf();
  if (!conf) return tl::unexpected(conf.error());
  Doubt() = OtherRelease(OwnRelease(), HostsRelease(options.bin_dir));
  if (!Doubt().empty()) std::atexit(SayDoubtAtExit);
  slurm_init(conf->empty() ? nullptr : conf->c_str());
  starting = false;
  return std::make_unique<SlurmApiSource>(options);
}

}  // namespace gpuadvise::collect
