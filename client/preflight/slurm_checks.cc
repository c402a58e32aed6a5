// What Slurm and the daemon say about a job before it is submitted: whether the site takes it,
// whether the caller may run there, whether its time limit is long enough. Pure functions.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "client/api/answer_reader.h"
#include "client/preflight/preflight.h"
#include "client/sbatch/job_launch.h"
#include "client/sbatch/job_words.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "common/base/date_time.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMostReasons = 3;

// What was said without sbatch's own prefixes, each sentence once.
std::string WordsOfSlurm(const std::string& said) {
  std::vector<std::string> sentences;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    for (const char* prefix : {"sbatch: ", "error: ", "allocation failure: "}) {
      if (line.starts_with(prefix)) line.erase(0, std::string_view(prefix).size());
    }
    const bool again = std::find(sentences.begin(), sentences.end(), line) != sentences.end();
    if (!line.empty() && !again) sentences.push_back(Clipped(Printable(line), 300));
  }
  std::string words;
  for (const std::string& sentence : sentences) words += (words.empty() ? "" : "; ") + sentence;
  return words.empty() ? "nothing" : words;
}

// Slurm says these where what is asked for is impossible, and where it is only in use or down.
bool MayBeBusy(const std::string& words) {
  for (const char* busy : {"Requested node configuration is not available",
                           "Requested nodes are busy", "Required node not available"}) {
    if (words.find(busy) != std::string::npos) return true;
  }
  return false;
}

// "Job 5 to start at 2026-11-21T20:14:19 using …".
std::optional<int64_t> StartSaid(const std::string& words, int64_t now) {
  constexpr std::string_view kMark = "to start at ";
  const size_t mark = words.find(kMark);
  if (mark == std::string::npos) return {};
  const size_t start = mark + kMark.size();
  const auto date_time = ParseDateTime(words.substr(start, words.find(' ', start) - start), now);
  if (!date_time) return {};
  return *date_time;
}

std::string In(const json& strategy, const char* key) {
  return DurationInWords(NumberOf(strategy, key));
}

// The reasons of the first row that every other row has too.
std::vector<std::string> SharedReasons(const json& rejected) {
  if (rejected.size() < 2) return {};
  std::vector<std::string> shared = TextsOf(rejected.front(), "reasons");
  for (const json& row : rejected) {
    const std::vector<std::string> reasons = TextsOf(row, "reasons");
    std::erase_if(shared, [&](const std::string& reason) {
      return std::find(reasons.begin(), reasons.end(), reason) == reasons.end();
    });
  }
  return shared;
}

// Why nothing is left to choose: first what is the matter with all rows.
std::vector<Check> RejectionChecks(const json& rejected) {
  std::vector<std::string> findings;
  const std::vector<std::string> shared = SharedReasons(rejected);
  for (const std::string& reason : shared) findings.push_back("all of them: " + reason);
  for (const json& row : rejected) {
    for (const std::string& reason : TextsOf(row, "reasons")) {
      const bool said = std::find(shared.begin(), shared.end(), reason) != shared.end();
      if (!said) findings.push_back(StrategyName(row) + ": " + reason);
    }
  }
  if (findings.empty()) {
    findings.push_back("nothing on this cluster can run it; `gpuadvise advise --all` says more");
  }
  if (findings.size() > kMostReasons) findings.resize(kMostReasons);
  std::vector<Check> checks;
  for (std::string& finding : findings) {
    checks.push_back({Health::kError, "strategies", std::move(finding)});
  }
  return checks;
}

}  // namespace

Check SiteCheck(const Result<SbatchVerdict>& verdict, const json& strategy, int64_t now) {
  if (!verdict) return {Health::kError, "slurm", verdict.error().message};
  const std::string words = WordsOfSlurm(verdict->said);
  if (!verdict->accepted && MayBeBusy(words)) {
    return {Health::kWarning, "slurm",
            "sbatch --test-only says: " + words +
                "; it also says so when nodes are only busy, drained or down"};
  }
  if (!verdict->accepted) {
    return {Health::kError, "slurm",
            "sbatch --test-only rejects the job: " + words + "; correct that, or ask the site"};
  }
  const auto start = StartSaid(words, now);
  if (!start) return {Health::kOk, "slurm", "sbatch --test-only accepts the job"};
  return {Health::kOk, "slurm",
          fmt::format("sbatch --test-only accepts the job and estimates a start {}, from time "
                      "limits alone; forecast: {}",
                      ClockTime(*start, now), PromiseSentence(strategy, now))};
}

std::vector<Check> AccessChecks(const json& answer, const json& strategy) {
  if (!strategy.empty()) {
    std::vector<std::string> parts = {"partition " + TextOf(strategy, "partition")};
    for (const char* key : {"account", "qos"}) {
      const std::string value = TextOf(strategy, key);
      if (!value.empty()) parts.push_back((key[0] == 'q' ? "QOS " : "account ") + value);
    }
    return {{Health::kOk, "access", JoinNames(parts) + ": yours to use"}};
  }
  return RejectionChecks(ListOf(answer, "rejected"));
}

Check TimeLimitCheck(const json& spec, const json& strategy) {
  const int64_t limit = IntOf(strategy, "time_limit_seconds");
  const std::string within = In(strategy, "time_limit_seconds");
  if (const int64_t links = IntOf(strategy, "links", 1); links > 1) {
    return {Health::kOk, "time limit",
            fmt::format("runs in {} links of {}, each from the last checkpoint", links, within)};
  }
  const bool over = IntOf(strategy, "run_p50_seconds") > limit;
  if (!over && IntOf(strategy, "run_p90_seconds") <= limit) {
    return {Health::kOk, "time limit",
            fmt::format("{}; the run takes {}", within,
                        DurationRange(NumberOf(strategy, "run_p50_seconds"),
                                      NumberOf(strategy, "run_p90_seconds")))};
  }
  const std::string what =
      over ? fmt::format("the run takes {}, over its limit of {}", In(strategy, "run_p50_seconds"),
                         within)
           : fmt::format("one run in ten takes longer than {}, over its limit of {}",
                         In(strategy, "run_p90_seconds"), within);
  if (Resumes(spec)) {
    return {Health::kOk, "time limit", what + "; it resumes from its last checkpoint"};
  }
  return {over ? Health::kError : Health::kWarning, "time limit",
          what + "; save checkpoints and set training.resume, or use a longer -t or more GPUs"};
}

}  // namespace gpuadvise::client
