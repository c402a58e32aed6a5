#include "client/preflight/quota.h"

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace gpuadvise::client {
namespace {

constexpr double kMost = 4e18;

// "23800000", "23.8G", "1000*" (over the quota) in bytes; `unit`: bytes of a bare number.
std::optional<int64_t> Amount(std::string word, double unit) {
  if (word.ends_with('*')) word.pop_back();
  if (word.empty() || word[0] < '0' || word[0] > '9') return {};
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  double scale = unit;
  switch (*end) {
    case 'K':
    case 'k':
      scale = 1024;
      break;
    case 'M':
      scale = 1024.0 * 1024;
      break;
    case 'G':
      scale = 1024.0 * 1024 * 1024;
      break;
    case 'T':
      scale = 1024.0 * 1024 * 1024 * 1024;
      break;
    default:
      --end;
  }
  if (end[1] != '\0' || !std::isfinite(number) || number * scale > kMost) return {};
  return static_cast<int64_t>(number * scale);
}

std::vector<std::string> SplitColumns(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// `words` without the file system's name: blocks quota limit [grace] [files quota limit [grace]].
std::optional<DiskQuota> ParseRow(const std::string& name, const std::vector<std::string>& words) {
  if (words.size() < 3) return {};
  const auto used = Amount(words[0], 1024);
  const auto soft = Amount(words[1], 1024);
  const auto hard = Amount(words[2], 1024);
  if (!used || !soft || !hard) return {};
  DiskQuota row{name, *used, *soft, *hard, 0, 0};
  // The grace column exists if the quota is exceeded, and always with -p.
  const size_t files = words.size() >= 8 || words[0].ends_with('*') ? 4 : 3;
  if (words.size() < files + 3) return row;
  row.used_files = Amount(words[files], 1).value_or(0);
  row.hard_files = Amount(words[files + 2], 1).value_or(0);
  return row;
}

}  // namespace

std::vector<DiskQuota> ParseQuota(const std::string& printed) {
  std::vector<DiskQuota> quotas;
  std::istringstream lines(printed);
  std::string name_alone;  // of a row on two lines
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = SplitColumns(line);
    if (words.size() == 1) {
      name_alone = words[0];
      continue;
    }
    const bool broken = !name_alone.empty();
    const std::string name = broken ? name_alone : words.empty() ? "" : words[0];
    if (!broken && !words.empty()) words.erase(words.begin());
    name_alone.clear();
    if (auto row = ParseRow(name, words)) quotas.push_back(*row);
  }
  return quotas;
}

std::optional<DiskQuota> QuotaOf(const std::vector<DiskQuota>& quotas,
                                 const std::string& mount_source, const std::string& mount_point) {
  for (const DiskQuota& quota : quotas) {
    if (quota.file_system == mount_source || quota.file_system == mount_point) return quota;
  }
  return {};
}

}  // namespace gpuadvise::client
