#include "client/run/host_memory.h"

#include <fstream>
#include <string>

namespace gpuadvise {
namespace {

/// "oom_kill 3" of a file.
int64_t CountIn(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  int64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

}  // namespace

int64_t KernelKills() {
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) return CountIn("/sys/fs/cgroup" + path + "/memory.events");
    if (controllers == "memory") {
      return CountIn("/sys/fs/cgroup/memory" + path + "/memory.oom_control");
    }
  }
  return 0;
}

}  // namespace gpuadvise
