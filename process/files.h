// Small files, read and written whole. Blocking, from any thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "process/descriptor.h"

namespace gpuadvise {

struct OpenedFile {
  Descriptor descriptor;
  struct stat about {};
};

// What a file must be in a folder where anybody may have put it.
struct FileLimits {
  size_t max_bytes = 0;
  std::string_view kind;       // for the error: "outcome"
  std::optional<uid_t> owner;  // nullopt: anybody
};

// Opens the regular file at `path` for reading: no link is followed, and nothing that lies there
// makes the caller wait. Errors: kNotFound where there is none, kBadInput for a link, for what is
// no regular file, somebody else's or too long, kUnavailable; none of them names the file.
Result<OpenedFile> OpenRegularFile(const std::string& path, const FileLimits& limits);

// The rest of the file; a longer one than `max_bytes` is cut off somewhere beyond them. Errors:
// errno, EAGAIN where it is non-blocking and nothing is there yet.
tl::expected<std::string, int> ReadAll(const Descriptor& file, size_t max_bytes);

// The same of what may keep the reader waiting, a pipe or a terminal; it waits also where reading
// does not block. Errors: errno, ETIMEDOUT when it has not come to its end within `patience`
// (nullopt: no limit).
tl::expected<std::string, int> ReadAllWithin(const Descriptor& file, size_t max_bytes,
                                             std::optional<std::chrono::milliseconds> patience);

// Errors: false, with errno.
bool WriteAll(const Descriptor& file, std::string_view text);

// The file at `path` becomes `text` with the permissions `mode`, whole or not at all: through a new
// file beside it of a name that nobody knows before, so that a link in the way is never followed.
// Errors: kUnavailable, naming the file and what is wrong.
Result<void> ReplaceFile(const std::string& path, std::string_view text, mode_t mode);

}  // namespace gpuadvise
