// A temporary folder, removed with its contents on destruction.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>

namespace gpuadvise {

class ScratchFolder {
 public:
  // `pattern`: a path ending in XXXXXX. Accessible to this user only.
  explicit ScratchFolder(std::string pattern) : path_(std::move(pattern)) {
    made_ = ::mkdtemp(path_.data()) != nullptr;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  bool made() const { return made_; }  // otherwise errno has the cause
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

}  // namespace gpuadvise
