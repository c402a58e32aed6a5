#include "common/scheduler/reservation_access.h"

#include <algorithm>

#include "common/slurm/policy.h"

namespace gpuadvise {
namespace {

bool IsIn(const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  if (names.front().starts_with("-")) {  // a deny list
    return std::find(names.begin(), names.end(), "-" + name) == names.end();
  }
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool Admits(const Reservation& reservation, const ReservationCaller& caller) {
  return IsIn(caller.user, reservation.users) && IsIn(caller.account, reservation.accounts) &&
         IsIn(caller.partition, reservation.allowed_partitions) &&
         IsIn(caller.qos, reservation.allowed_qos);
}

std::vector<std::string> MagnetsFor(const Snapshot& snapshot, const ReservationCaller& caller) {
  std::vector<std::string> names;
  for (const Reservation& reservation : snapshot.reservations) {
    if (!HasFlag(reservation.flags, "MAGNETIC")) continue;
    const bool groups_alone =
        !reservation.groups.empty() && reservation.users.empty() && reservation.accounts.empty();
    if (!groups_alone && Admits(reservation, caller)) names.push_back(reservation.name);
  }
  return names;
}

}  // namespace gpuadvise
