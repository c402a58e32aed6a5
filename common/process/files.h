// Reads and writes small files as a whole. Blocking, from any thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/process/descriptor.h"

namespace gpuadvise {

struct OpenedFile {
  Descriptor descriptor;
  struct stat about {};
};

// Requirements on a file in a folder that others can write to.
struct FileLimits {
  size_t max_bytes = 0;
  std::string_view kind;       // for the error: "outcome"
  std::optional<uid_t> owner;  // nullopt: any
};

// Opens the regular file at `path` for reading, without following links or blocking. Errors:
// kNotFound; kBadInput for a link, for other file types, a wrong owner or a file too long;
// kUnavailable. Messages do not contain the file name.
Result<OpenedFile> OpenRegularFile(const std::string& path, const FileLimits& limits);

// Reads the rest of the file; stops somewhat beyond `max_bytes`. Errors: errno, EAGAIN if
// non-blocking and empty.
tl::expected<std::string, int> ReadAll(const Descriptor& file, size_t max_bytes);

// For pipes and terminals: waits for input even on a non-blocking descriptor. Errors: errno,
// ETIMEDOUT if there is no end within `patience` (nullopt: unlimited).
tl::expected<std::string, int> ReadAllWithin(const Descriptor& file, size_t max_bytes,
                                             std::optional<std::chrono::milliseconds> patience);

// Errors: false, with errno.
bool WriteAll(const Descriptor& file, std::string_view text);

// Atomically replaces the file at `path` by `text` with permissions `mode`, through a new file with
// an unpredictable name, so that links are never followed. Errors: kUnavailable, with the file and
// the cause.
Result<void> ReplaceFile(const std::string& path, std::string_view text, mode_t mode);

}  // namespace gpuadvise
