// Reads the caller's disk quotas from the output of `quota`.
//
// Linux's quota prints a table of 1-KiB blocks and of files; sites wrap it, newer versions print
// units (23.8G), older ones break long lines. Skips all other lines, so it never fails. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuadvise::client {

struct DiskQuota {
  std::string file_system;  // "/dev/sda1", "server:/home", or its mount point
  int64_t used_bytes = 0;
  int64_t soft_bytes = 0;  // may be exceeded during the grace period; 0: none
  int64_t hard_bytes = 0;  // 0: none
  int64_t used_files = 0;
  int64_t hard_files = 0;  // 0: none

  friend bool operator==(const DiskQuota&, const DiskQuota&) = default;
};

// The rows of `printed`, the output of `quota -w -p` or `quota -w`.
std::vector<DiskQuota> ParseQuota(const std::string& printed);

// The row of the file system that is `mount_source` or is mounted at `mount_point`.
std::optional<DiskQuota> QuotaOf(const std::vector<DiskQuota>& quotas,
                                 const std::string& mount_source, const std::string& mount_point);

}  // namespace gpuadvise::client
