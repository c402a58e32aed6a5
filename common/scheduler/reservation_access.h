// Which jobs a reservation admits, and which reservations attract jobs (MAGNETIC). Pure.
// https://slurm.schedmd.com/reservations.html
#pragma once

#include <string>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

struct ReservationCaller {
  std::string user;
  std::string account;
  std::string qos;
  std::string partition;
};

// Checks users, accounts, partitions and QOS. Group members are unknown and count as admitted.
bool Admits(const Reservation& reservation, const ReservationCaller& caller);

// MAGNETIC reservations that admit the caller: Slurm runs a job that names none in one of these, or
// outside. Those for groups only are omitted.
std::vector<std::string> MagnetsFor(const Snapshot& snapshot, const ReservationCaller& caller);

}  // namespace gpuadvise
