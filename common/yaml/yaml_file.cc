#include "common/yaml/yaml_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/text.h"
#include "common/process/files.h"

namespace gpuadvise {
namespace {

// An open pipe passed by the shell: /dev/fd/63, /proc/4711/fd/63; unlike a FIFO in a shared folder.
bool IsHandedOver(std::string_view path) {
  if (path == "/dev/stdin" || path.starts_with("/dev/fd/")) return true;
  constexpr std::string_view kProcesses = "/proc/";
  if (!path.starts_with(kProcesses)) return false;
  path.remove_prefix(kProcesses.size());
  const std::string_view process = path.substr(0, path.find('/'));
  path.remove_prefix(process.size());
  const bool is_process = process == "self" || process == "thread-self" ||
                          std::all_of(process.begin(), process.end(), IsDigit);
  return is_process && path.starts_with("/fd/");
}

tl::unexpected<Error> OpenError(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Fail(ErrorCode::kNotFound, path + ": there is no such file; check the name");
  }
  if (error == ETIMEDOUT) {
    return BadInput(path + ": timed out waiting for the end of this pipe; name a file");
  }
  return BadInput(path + ": cannot be read (" + std::strerror(error) + "); check its permissions");
}

// The rest of `file`; `name` is for errors.
Result<std::string> ReadRest(const Descriptor& file, const std::string& name, size_t max_bytes,
                             std::chrono::milliseconds patience) {
  std::optional<std::chrono::milliseconds> limit = patience;
  if (::isatty(file.get()) == 1) limit.reset();
  auto text = ReadAllWithin(file, max_bytes, limit);
  if (!text) return OpenError(name, text.error());
  if (text->size() <= max_bytes) return *std::move(text);
  return BadInput(name + ": larger than " + std::to_string(max_bytes / 1024) +
                  " KiB; is this the right file?");
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes,
                                 std::chrono::milliseconds patience) {
  if (path.empty()) return BadInput("the file name is empty; name a file");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return OpenError(path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return BadInput(path + ": a directory; name the file in it");
  }
  if ((S_ISFIFO(info.st_mode) && !IsHandedOver(path)) || S_ISBLK(info.st_mode)) {
    return BadInput(path + ": not a regular file; name a file, or a pipe as <(command)");
  }
  return ReadRest(file, path, max_bytes, patience);
}

Result<std::string> ReadStandardInput(const std::string& name) {
  const Descriptor input(::dup(STDIN_FILENO));
  if (!input) return OpenError(name, errno);
  return ReadRest(input, name, kMaxYamlBytes, kPipePatience);
}

Result<YamlDocument> LoadYamlFile(const std::string& path, YamlRules rules) {
  Result<std::string> text = ReadTextFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  return ParseYaml(*text, path, rules);
}

}  // namespace gpuadvise
