// Outcomes that jobs left in a folder of the site, because no socket reached them: picked up now
// and again, each as from the user who owns the file.
//
// The folder is the site's setting, shared and writable for all (mode 1777). What lies in it is
// anybody's: only small regular files are read, no link is followed, nothing is waited for, and an
// outcome counts only for a job of the file's owner. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/runs/outcome.h"

namespace gpuadvise::daemon {

class OutcomeFolder {
 public:
  // Takes an outcome of the user's; whether it was one of the user's jobs.
  using Take = std::function<bool(Outcome outcome, int64_t uid)>;

  OutcomeFolder(std::string folder, Take take)
      : folder_(std::move(folder)), take_(std::move(take)) {}

  // Reads what is new; how many were taken.
  int64_t PickUp();

  static constexpr size_t kMostFiles = 100'000;
  static constexpr size_t kMostFilesOfOne = 1'000;  // of one user

 private:
  bool PickUpFile(const std::string& name);

  std::string folder_;
  Take take_;
  std::map<std::string, int64_t> seen_;  // name -> time of its last change, nanoseconds
};

}  // namespace gpuadvise::daemon
