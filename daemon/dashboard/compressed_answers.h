// Answers of the API, compressed for browsers: lists of nodes, jobs and waits shrink to less than a
// tenth (bench/performance.md).
//
// An answer that many share is compressed once, as long as anybody has it. Safe from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "daemon/base/api_types.h"

namespace gpuadvise::daemon {

// As a file of gzip.
std::string Gzip(std::string_view bytes);

// Whether a browser with this Accept-Encoding understands gzip.
bool TakesGzip(std::string_view accept_encoding);

class CompressedAnswers {
 public:
  static constexpr size_t kLeastBytes = 1024;  // shorter answers stay as they are

  // Compresses the body of `response` where it is worth it and the browser takes it.
  void Compress(const ApiRequest& request, ApiResponse& response);

 private:
  using Text = std::shared_ptr<const std::string>;
  Text CompressedShared(const Text& text);

  std::mutex mutex_;  // guards all below
  std::map<std::weak_ptr<const std::string>, Text, std::owner_less<>> known_;
};

}  // namespace gpuadvise::daemon
