// Whom a reservation admits, and which ones attract jobs that do not name them. Pure.
// https://slurm.schedmd.com/reservations.html
#pragma once

#include <string>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Who would run in a reservation, and how.
struct ReservationCaller {
  std::string user;
  std::string account;
  std::string qos;
  std::string partition;
};

// Users, accounts, partitions and QOS. Who is in its groups is not known: it counts as admitted.
bool Admits(const Reservation& reservation, const ReservationCaller& caller);

// Names of the reservations with the flag MAGNETIC that admit the caller: Slurm runs a job that
// names none in one of these, or outside. Those for groups alone are left out.
std::vector<std::string> MagnetsFor(const Snapshot& snapshot, const ReservationCaller& caller);

}  // namespace gpuadvise
