#include "yaml/yaml_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpuadvise {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> OpenError(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return Fail(ErrorCode::kNotFound, path + ": there is no such file; check the name");
  }
  return BadInput(path + ": cannot be read (" + std::strerror(error) + "); check its permissions");
}

}  // namespace

Result<std::string> ReadTextFile(const std::string& path, size_t max_bytes) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return OpenError(path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return BadInput(path + ": a directory; name the file in it");
  }
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return OpenError(path, errno);
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > max_bytes) {
      return BadInput(path + ": larger than " + std::to_string(max_bytes / 1024) +
                      " KiB; is this the right file?");
    }
  }
}

Result<YamlDocument> LoadYamlFile(const std::string& path, EmptyYaml empty) {
  Result<std::string> text = ReadTextFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  return ParseYaml(*text, path, empty);
}

}  // namespace gpuadvise
