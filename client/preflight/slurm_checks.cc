// Checks a job against Slurm and the daemon: whether the site accepts it, the caller has access,
// and the time limit suffices. Pure functions.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
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
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMostReasons = 3;

// sbatch's message without its prefixes, each sentence once.
std::string SlurmMessage(const std::string& said) {
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

bool SaysOneOf(const std::string& words, std::initializer_list<const char*> messages) {
  return std::ranges::any_of(messages,
                             [&](const char* one) { return words.find(one) != std::string::npos; });
}

// Whether it is one of Slurm's messages for requests that are impossible or nodes busy or down.
bool MayBeBusy(const std::string& words) {
  return SaysOneOf(words, {"Requested node configuration is not available",
                           "Requested nodes are busy", "Required node not available"});
}

// Whether slurmctld has judged nothing.
bool GotNoAnswer(const std::string& words) {
  return SaysOneOf(words, {"Socket timed out", "Unable to contact slurm controller",
                           "Connection refused", "Zero Bytes were transmitted"});
}

// The time in "Job 5 to start at 2026-11-21T20:14:19 using …".
std::optional<int64_t> ParseStart(const std::string& words, int64_t now) {
  constexpr std::string_view kMark = "to start at ";
  const size_t mark = words.find(kMark);
  if (mark == std::string::npos) return {};
  const size_t start = mark + kMark.size();
  const auto date_time = ParseDateTime(words.substr(start, words.find(' ', start) - start), now);
  if (!date_time) return {};
  return *date_time;
}

// Reasons common to all rows.
std::vector<std::string> SharedReasons(const std::vector<api::Rejection>& rejected) {
  if (rejected.size() < 2) return {};
  std::vector<std::string> shared = rejected.front().reasons;
  for (const api::Rejection& row : rejected) {
    std::erase_if(shared, [&](const std::string& reason) {
      return std::find(row.reasons.begin(), row.reasons.end(), reason) == row.reasons.end();
    });
  }
  return shared;
}

}  // namespace

Check SiteCheck(const Result<SbatchVerdict>& verdict, const api::Strategy& strategy, int64_t now) {
  if (!verdict) return {Health::kError, "slurm", verdict.error().message};
  const std::string words = SlurmMessage(verdict->said);
  if (!verdict->accepted && MayBeBusy(words)) {
    return {Health::kWarning, "slurm",
            "sbatch --test-only says: " + words +
                "; it also says so when nodes are only busy, drained or down"};
  }
  if (!verdict->accepted && GotNoAnswer(words)) {
    return {Health::kWarning, "slurm",
            "slurmctld did not answer sbatch --test-only (" + words +
                "): try again, `scontrol "
                "ping` says whether it runs"};
  }
  if (!verdict->accepted) {
    return {Health::kError, "slurm",
            "sbatch --test-only rejects the job: " + words + "; correct that, or ask the site"};
  }
  const auto start = ParseStart(words, now);
  if (!start) return {Health::kOk, "slurm", "sbatch --test-only accepts the job"};
  return {Health::kOk, "slurm",
          fmt::format("sbatch --test-only accepts the job and estimates a start {}, from time "
                      "limits alone; forecast: {}",
                      ClockTime(*start, now), PromiseSentence(strategy, now))};
}

Check AccessCheck(const api::Strategy& strategy) {
  std::vector<std::string> parts = {"partition " + strategy.partition};
  if (!strategy.account.empty()) parts.push_back("account " + strategy.account);
  if (!strategy.qos.empty()) parts.push_back("QOS " + strategy.qos);
  return {Health::kOk, "access", JoinNames(parts) + ": yours to use"};
}

std::vector<Check> RejectionChecks(const std::vector<api::Rejection>& rejected) {
  std::vector<std::string> findings;
  const std::vector<std::string> shared = SharedReasons(rejected);
  for (const std::string& reason : shared) findings.push_back("all of them: " + reason);
  for (const api::Rejection& row : rejected) {
    for (const std::string& reason : row.reasons) {
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

Check AssumptionCheck(const Choice& choice) {
  const api::Advice& advice = choice.advice;
  if (advice.unsettled.empty()) {
    return {Health::kOk, "assumptions",
            advice.assumed.empty() ? "none" : "usual values: " + Join(advice.assumed, "; ")};
  }
  std::vector<std::string> deciding;
  for (const std::string& sentence : advice.assumed) {
    const bool decides = std::any_of(
        advice.unsettled.begin(), advice.unsettled.end(),
        [&](const std::string& key) { return sentence.find(key) != std::string::npos; });
    if (decides) deciding.push_back(sentence);
  }
  const std::string guess = Join(deciding, "; ");
  if (choice.limit_is_users) {
    return {Health::kWarning, "assumptions", "memory and run time rest on a guess: " + guess};
  }
  return {Health::kError, "assumptions",
          fmt::format("memory, run time and time limit rest on a guess: {}; or set the limit with "
                      "--time",
                      guess)};
}

Check TimeLimitCheck(const json& spec, const api::Strategy& strategy) {
  const auto words = [](int64_t seconds) { return DurationInWords(static_cast<double>(seconds)); };
  const int64_t limit = strategy.time_limit_seconds;
  const std::string within = words(limit);
  if (strategy.links > 1) {
    return {Health::kOk, "time limit",
            fmt::format("runs in {} links of {}, each from the last checkpoint", strategy.links,
                        within)};
  }
  const api::Seconds& run = strategy.run;
  const bool over = run.p50_seconds > limit;
  if (!over && run.p90_seconds <= limit) {
    return {Health::kOk, "time limit",
            fmt::format("{}; the run takes {}", within,
                        DurationRange(static_cast<double>(run.p50_seconds),
                                      static_cast<double>(run.p90_seconds)))};
  }
  const std::string what =
      over ? fmt::format("the run takes {}, over its limit of {}", words(run.p50_seconds), within)
           : fmt::format("one run in ten takes longer than {}, over its limit of {}",
                         words(run.p90_seconds), within);
  if (Resumes(spec)) {
    return {Health::kOk, "time limit", what + "; it resumes from its last checkpoint"};
  }
  return {over ? Health::kError : Health::kWarning, "time limit",
          what + "; save checkpoints and set training.resume, or use a longer -t or more GPUs"};
}

}  // namespace gpuadvise::client
