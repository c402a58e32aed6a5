// Amounts of memory and disk with their unit: GB is 10^9 bytes, GiB is 2^30, never mixed.
//
// Users write "5 GB" or "21.3 GiB"; Slurm writes "30G" for 2^30 bytes ("--mem=30G"), and a bare
// number in Slurm is MiB. A user's number without a unit is refused as ambiguous. Amounts are whole
// bytes, 0 .. 2^62. Pure functions, safe from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise {

struct Bytes {
  int64_t count = 0;

  static constexpr Bytes FromMiB(int64_t mib) { return {mib << 20}; }
  // Whole MiB, rounded up: what to request from Slurm.
  constexpr int64_t MiBRoundedUp() const {
    return (count >> 20) + ((count & 0xfffff) != 0 ? 1 : 0);
  }
  constexpr double GB() const { return static_cast<double>(count) / 1e9; }
  constexpr double GiB() const { return static_cast<double>(count) / (1 << 30); }

  friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
};

// "5 GB", "1.2GB", "21.3 GiB", "512 MiB", and Slurm's letters "30G" = 30 GiB. Any case.
// Errors: kBadInput for a missing or unknown unit, a negative or too large amount.
Result<Bytes> ParseBytes(std::string_view text);

// Slurm's form: "30G", "1500M", "1.5T"; without a suffix MiB ("8192"), or `bare` if given.
Result<Bytes> ParseSlurmMemory(std::string_view text, char bare = 'M');

// "5 GB", "21.3 GB": three digits.
std::string FormatDecimalBytes(Bytes bytes);
// Exact, for sbatch: "30G" or "1500M", rounded up to whole MiB.
std::string FormatSlurmMemory(Bytes bytes);

}  // namespace gpuadvise
