#include "client/jobs_filter.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/answer_reader.h"
#include "client/experiment_words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "RTX 4090" and "rtx-4090" are the same GPU.
std::string LettersAndDigits(const std::string& text) {
  std::string kept;
  for (const char c : Lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) kept += c;
  }
  return kept;
}

bool IsInState(const json& job, const std::string& state) {
  if (state == "failed") return HasFailed(job);
  if (state == "ok") return StateWords(job) == "ok";
  return TextOf(job, "state") == state;
}

bool IsWanted(const json& job, const JobsFilter& filter) {
  if (!job.is_object()) return false;
  if (!filter.state.empty() && !IsInState(job, filter.state)) return false;
  if (!filter.gpu.empty()) {
    const std::string gpu = LettersAndDigits(TextOf(job, "gpu"));
    if (gpu.find(LettersAndDigits(filter.gpu)) == std::string::npos) return false;
  }
  if (Lower(TextOf(job, "name")).find(Lower(filter.name)) == std::string::npos) return false;
  return !filter.since || MomentOf(job, "submitted_at").value_or(-1) >= *filter.since;
}

}  // namespace

json FilteredJobs(const json& jobs, const JobsFilter& filter) {
  std::vector<const json*> wanted;
  for (const json& job : jobs) {
    if (IsWanted(job, filter)) wanted.push_back(&job);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const json* a, const json* b) {
    return MomentOf(*a, "submitted_at").value_or(0) > MomentOf(*b, "submitted_at").value_or(0);
  });
  if (filter.limit && wanted.size() > static_cast<size_t>(*filter.limit)) {
    wanted.resize(static_cast<size_t>(*filter.limit));
  }
  json kept = json::array();
  for (const json* job : wanted) kept.push_back(*job);
  return kept;
}

}  // namespace gpuadvise
