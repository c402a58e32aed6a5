// The state of a path and the caller's rights to it. Changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpuadvise::client {

// Space on a folder's file system for an unprivileged user.
struct DiskSpace {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
  bool no_inodes = false;  // the file system has run out of inodes
};

struct PathFacts {
  enum class Kind { kMissing, kFile, kFolder, kOther };

  std::string path;  // absolute; "": unknown
  Kind kind = Kind::kMissing;
  bool readable = false;  // folders: and may be entered
  bool writable = false;  // folders: and may be entered
  bool executable = false;
  std::string trouble;             // why it cannot be examined: "Permission denied"; "": it can
  std::string above;               // if missing: the nearest existing parent folder
  bool above_writable = false;     // so that the folders below it can be created
  std::optional<DiskSpace> space;  // of the folder, or of `above`
  std::string mount_point;         // of that file system; "": unknown
  std::string mount_source;        // "/dev/sda1", "server:/home"

  bool exists() const { return kind != Kind::kMissing; }
};

// REQUIRES: `path` is absolute.
PathFacts LookAtPath(const std::string& path);

// The mount of `path`, from the text of /proc/self/mountinfo. Pure.
struct Mount {
  std::string point;
  std::string source;
};
Mount MountOf(const std::string& mountinfo, const std::string& path);

}  // namespace gpuadvise::client
