#include "daemon/base/secret_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace gpuadvise::daemon {
namespace {

Result<std::string> Stamp(const std::string& file, mode_t refused) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", file, std::strerror(errno)));
  }
  if ((info.st_mode & refused) != 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} is a secret that other users may read or change; run: chmod 600 {}",
                            file, file));
  }
  return fmt::format("{}:{}:{}.{}:{};", info.st_dev, info.st_ino, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_size);
}

}  // namespace

Result<std::string> StampOf(const std::string& file) { return Stamp(file, 0); }

Result<std::string> StampOfSecret(const std::string& file) {
  return Stamp(file, S_IRWXO | S_IWGRP);
}

}  // namespace gpuadvise::daemon
