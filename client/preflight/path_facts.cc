#include "client/preflight/path_facts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace gpuadvise::client {
namespace {

using Kind = PathFacts::Kind;

Kind KindOnDisk(const struct stat& found) {
  if (S_ISDIR(found.st_mode)) return Kind::kFolder;
  return S_ISREG(found.st_mode) ? Kind::kFile : Kind::kOther;
}

bool May(const std::string& path, int how) {
  return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
}

std::string Parent(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

void FindExistingParent(PathFacts* facts) {
  std::string above = facts->path;
  struct stat found {};
  do {
    above = Parent(above);
  } while (::stat(above.c_str(), &found) != 0 && above != "/");
  facts->above = above;
  facts->above_writable = S_ISDIR(found.st_mode) && May(above, W_OK | X_OK);
}

int64_t InBytes(uint64_t blocks, uint64_t block_bytes) {
  constexpr uint64_t kMost = INT64_MAX;
  if (block_bytes != 0 && blocks > kMost / block_bytes) return INT64_MAX;
  return static_cast<int64_t>(blocks * block_bytes);
}

void AddSpace(const std::string& folder, PathFacts* facts) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return;
  facts->space =
      DiskSpace{InBytes(disk.f_bavail, disk.f_frsize), InBytes(disk.f_blocks, disk.f_frsize),
                disk.f_files > 0 && disk.f_favail == 0};
  std::ifstream file("/proc/self/mountinfo");
  std::ostringstream text;
  text << file.rdbuf();
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                         &std::free);
  const Mount mount = MountOf(text.str(), real == nullptr ? folder : real.get());
  facts->mount_point = mount.point;
  facts->mount_source = mount.source;
}

// Decodes octal escapes of mountinfo: "\040" is a blank.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool octal = text[i] == '\\' && i + 3 < text.size() &&
                       std::all_of(text.begin() + static_cast<long>(i) + 1,
                                   text.begin() + static_cast<long>(i) + 4,
                                   [](char c) { return c >= '0' && c <= '7'; });
    if (!octal) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
    i += 3;
  }
  return plain;
}

bool LiesIn(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

PathFacts LookAtPath(const std::string& path) {
  PathFacts facts;
  facts.path = path;
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      FindExistingParent(&facts);
      AddSpace(facts.above, &facts);
    } else {
      facts.trouble = std::strerror(errno);
    }
    return facts;
  }
  facts.kind = KindOnDisk(found);
  const int enter = facts.kind == Kind::kFolder ? X_OK : 0;
  facts.readable = May(path, R_OK | enter);
  facts.writable = May(path, W_OK | enter);
  facts.executable = May(path, X_OK);
  if (facts.kind == Kind::kFolder) AddSpace(path, &facts);
  return facts;
}

Mount MountOf(const std::string& mountinfo, const std::string& path) {
  Mount best;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::string point;
    for (int i = 0; i < 5 && words >> word; ++i) point = word;
    while (words >> word && word != "-") {
    }
    std::string source;
    if (!(words >> word >> source)) continue;
    point = Unescaped(point);
    if (!LiesIn(path, point) || point.size() < best.point.size()) continue;
    best = {point, Unescaped(source)};
  }
  return best;
}

}  // namespace gpuadvise::client
