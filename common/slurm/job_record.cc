#include "common/slurm/job_record.h"

#include <fmt/format.h>

namespace gpuadvise {

JobRecord RecordOf(const Job& job) {
  const JobRequest& request = job.request;
  JobRecord record;
  record.id = job.id;
  record.array_job_id = job.array_job_id;
  record.name = job.name;
  record.user = job.user;
  record.account = job.account;
  record.qos = job.qos;
  if (!request.partitions.empty()) record.partition = request.partitions.front();
  record.nodes = request.nodes_min;
  record.cpus = request.cpus;
  for (const GpuCount& gpu : request.gpus_per_node) {
    record.gpus += gpu.count * request.nodes_min;
    if (record.gpu.empty()) record.gpu = gpu.type;
  }
  for (const GpuCount& gpu : request.gpus_total) {
    record.gpus += gpu.count;
    if (record.gpu.empty()) record.gpu = gpu.type;
  }
  record.limit_seconds = request.time_limit_seconds;
  record.submit = job.submit_time.value_or(0);
  record.eligible = job.eligible_time.value_or(record.submit);
  if (job.state != JobState::kPending) record.start = job.start_time;
  return record;
}

std::string MakeBurstKey(const JobRecord& job) {
  if (job.array_job_id != 0) return fmt::format("{}", job.array_job_id);
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", job.user, job.partition, job.gpu, job.nodes, job.cpus,
                     job.gpus, job.limit_seconds.value_or(0));
}

}  // namespace gpuadvise
