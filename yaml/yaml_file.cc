#include "yaml/yaml_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "process/files.h"

namespace gpuadvise {
namespace {

// A pipe of this process, which it was given to read; a FIFO lies in a folder for anybody.
bool IsOwnPipe(std::string_view path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

tl::unexpected<Error> OpenError(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Fail(ErrorCode::kNotFound, path + ": there is no such file; check the name");
  }
  if (error == ETIMEDOUT) {
    return BadInput(path + ": nobody writes to this pipe, or it does not end; name a file");
  }
  return BadInput(path + ": cannot be read (" + std::strerror(error) + "); check its permissions");
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes,
                                 std::chrono::milliseconds patience) {
  if (path.empty()) return BadInput("the name of a file is empty; name the file");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return OpenError(path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return BadInput(path + ": a directory; name the file in it");
  }
  if ((S_ISFIFO(info.st_mode) && !IsOwnPipe(path)) || S_ISBLK(info.st_mode)) {
    return BadInput(path + ": no regular file; name a file, or a pipe as <(command)");
  }
  auto text = ReadAllWithin(file, max_bytes, patience);
  if (!text) return OpenError(path, text.error());
  if (text->size() <= max_bytes) return *std::move(text);
  return BadInput(path + ": larger than " + std::to_string(max_bytes / 1024) +
                  " KiB; is this the right file?");
}

Result<YamlDocument> LoadYamlFile(const std::string& path, EmptyYaml empty) {
  Result<std::string> text = ReadTextFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  return ParseYaml(*text, path, empty);
}

}  // namespace gpuadvise
