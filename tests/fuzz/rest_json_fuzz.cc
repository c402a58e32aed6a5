// What slurmrestd answers: any JSON is read without harm, and what is read keeps its bounds.
#include "daemon/collect/rest_json.h"
#include "daemon/collect/rest_policy.h"
#include "daemon/collect/sdiag.h"
#include "daemon/collect/slurm_rest.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::collect;
  const Result<RestJson> answer = ReadRestJson(AsText(data, size));
  if (!answer) return 0;
  Snapshot snapshot;
  LeftOut left_out;
  snapshot.nodes = RestNodes(*answer);
  snapshot.jobs = RestJobs(*answer, {0, snapshot.nodes}, left_out);
  for (const Job& job : snapshot.jobs) {
    Require(job.id > 0, "a job has an id");
    Require(job.array_task_count >= 1, "a job stands for one at least");
  }
  snapshot.partitions = RestPartitions(*answer);
  RestReservations(*answer);
  RestLicenses(*answer);
  DefaultPartitionOf(*answer);
  snapshot.associations = RestAssociations(*answer, *answer, "lab");
  for (const Association& association : snapshot.associations) {
    Require(association.id > 0, "an association has an id");
  }
  snapshot.qos = RestQos(*answer);
  CountUses(RestUses(*answer), snapshot);
  ConfigOf(RestConfKeys(*answer));
  const SchedulerHealth health = RestHealth(*answer);
  Require(health.rpcs.value_or(0) >= 0 && health.rpcs.value_or(0) <= int64_t{1} << 50,
          "RPCs are counted");
  (void)ChooseRestPaths(*answer);
  return 0;
}
