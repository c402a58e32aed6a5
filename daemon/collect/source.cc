#include "daemon/collect/source.h"

#include <unistd.h>

#include "common/process/name_service.h"

namespace gpuadvise::collect {

TableSet ChangedTables(const Snapshot& before, const Snapshot& after) {
  TableSet changed;
  if (before.nodes != after.nodes) changed.Add(Table::kNodes);
  if (before.jobs != after.jobs) changed.Add(Table::kJobs);
  if (before.partitions != after.partitions) changed.Add(Table::kPartitions);
  if (before.reservations != after.reservations) changed.Add(Table::kReservations);
  if (before.config != after.config) changed.Add(Table::kConfig);
  if (before.associations != after.associations) changed.Add(Table::kAssociations);
  if (before.qos != after.qos) changed.Add(Table::kQos);
  return changed;
}

std::string OwnName() { return UserName(::geteuid()); }

bool SeesAll(std::string_view slurm_user) {
  return ::geteuid() == 0 || (!slurm_user.empty() && OwnName() == slurm_user);
}

}  // namespace gpuadvise::collect
