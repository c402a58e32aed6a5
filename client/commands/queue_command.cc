// `gpuadvise queue`: squeue's jobs, with when each will start and why it waits.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/api/http_client.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/cluster_tables.h"
#include "common/base/slurm_time.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int64_t kMostRows = 10'000;  // that the API gives at once
constexpr int kAllColumns = 10'000;
constexpr size_t kLeastColumns = 6;

// squeue's short names of states.
constexpr std::pair<std::string_view, std::string_view> kStates[] = {
    {"pd", "PENDING"},     {"r", "RUNNING"},   {"s", "SUSPENDED"}, {"cg", "COMPLETING"},
    {"cf", "CONFIGURING"}, {"st", "STOPPED"},  {"rq", "REQUEUED"}, {"rh", "REQUEUE_HOLD"},
    {"so", "STAGE_OUT"},   {"si", "SIGNALING"}};

std::vector<std::string> WordsOf(const std::string& list) {
  std::vector<std::string> words;
  for (const std::string_view word : SplitAt(list, ',')) {
    if (!Trim(word).empty()) words.emplace_back(Trim(word));
  }
  return words;
}

// What of the queue is wanted. The API chooses by one user, partition or state; the rest is chosen
// here.
class QueueWish {
 public:
  // Errors: an unknown state.
  static Result<QueueWish> From(const QueueCommand& command) {
    QueueWish wish;
    wish.users_ = WordsOf(command.user);
    for (std::string& user : wish.users_) {
      if (user == "me") user = command.own_user;
    }
    if (command.me) wish.users_.push_back(command.own_user);
    wish.partitions_ = WordsOf(command.partition);
    wish.jobs_ = WordsOf(command.jobs);
    if (command.start) wish.states_.push_back("PENDING");
    for (const std::string& word : WordsOf(LowerCase(command.state))) {
      if (word == "all") continue;
      const auto* const found =
          std::find_if(std::begin(kStates), std::end(kStates), [&](const auto& state) {
            return state.first == word || EqualIgnoringCase(state.second, word);
          });
      if (found == std::end(kStates)) {
        return BadInput("--states: '" + word +
                        "' is not a state of queued jobs; use pending, running, suspended, "
                        "completing, configuring or all");
      }
      wish.states_.emplace_back(found->second);
    }
    return wish;
  }

  std::string Target() const {
    std::string target = "/v1/queue";
    const auto add = [&](const char* name, const std::string& value) {
      target += fmt::format("{}{}={}", target.find('?') == std::string::npos ? '?' : '&', name,
                            QueryEncoded(value));
    };
    if (users_.size() == 1) add("user", users_.front());
    if (partitions_.size() == 1) add("partition", partitions_.front());
    if (states_.size() == 1 && IsOneOf(states_.front(), {"PENDING", "RUNNING"})) {
      add("state", LowerCase(states_.front()));
    }
    if (ChoosesHere()) add("limit", std::to_string(kMostRows));
    return target;
  }

  // Whether the API gives more than what is wanted.
  bool ChoosesHere() const {
    return users_.size() > 1 || partitions_.size() > 1 || !jobs_.empty() || states_.size() > 1 ||
           (states_.size() == 1 && !IsOneOf(states_.front(), {"PENDING", "RUNNING"}));
  }

  void ChooseFrom(json* answer) const {
    if (!ChoosesHere() || !answer->contains("jobs")) return;
    json kept = json::array();
    for (const json& job : ListOf(*answer, "jobs")) {
      if (Takes(job)) kept.push_back(job);
    }
    (*answer)["total"] = kept.size();
    (*answer)["jobs"] = std::move(kept);
  }

 private:
  bool Takes(const json& job) const {
    if (!users_.empty() && !IsOneOf(TextOf(job, "user"), users_)) return false;
    if (!states_.empty() && !IsOneOf(TextOf(job, "state"), states_)) return false;
    const std::string id = std::to_string(IntOf(job, "job_id"));
    const bool wanted = std::any_of(jobs_.begin(), jobs_.end(), [&](const std::string& word) {
      return word.substr(0, word.find('_')) == id;
    });
    if (!jobs_.empty() && !wanted) return false;
    if (partitions_.empty()) return true;
    const std::vector<std::string> of_job = WordsOf(TextOf(job, "partition"));
    return std::any_of(of_job.begin(), of_job.end(),
                       [&](const std::string& name) { return IsOneOf(name, partitions_); });
  }

  std::vector<std::string> users_;
  std::vector<std::string> partitions_;
  std::vector<std::string> jobs_;
  std::vector<std::string> states_;  // Slurm's names
};

std::string QueueText(const json& answer, const std::vector<AnswerColumn>& columns, size_t least,
                      const TerminalStyle& style) {
  const json& jobs = ListOf(answer, "jobs");
  const int64_t total = IntOf(answer, "total");
  std::string text = Clipped(fmt::format("{} · {} · starts: p50 (p90)", Plural(total, "job"),
                                         ClusterAndAge(answer)),
                             style.width) +
                     "\n";
  if (!jobs.empty()) text += "\n" + AnswerTable(jobs, columns, least, style);
  const auto shown = static_cast<int64_t>(jobs.size());
  if (shown < total) text += fmt::format("and {} more; narrow with -p or -u\n", total - shown);
  if (const std::string stale = DataDoubt(answer); !stale.empty()) {
    text += Yellow("Warning: " + stale, style.colour) + "\n";
  }
  return text;
}

}  // namespace

int RunQueue(const QueueCommand& command, Api& api, Console& console) {
  const Result<QueueWish> wish = QueueWish::From(command);
  if (!wish) return Report(wish.error(), console);
  TerminalStyle style = console.style();
  auto columns =
      QueueColumns({command.format, command.start, command.is_long}, console.now(), style.width);
  if (!columns) return Report(columns.error(), console);
  Result<json> answer = api.Get(wish->Target());
  if (!answer) return Report(answer.error(), console);
  wish->ChooseFrom(&*answer);
  AddClusterColumn(ListOf(*answer, "jobs"), *columns);
  if (command.json) {
    PrintJson(*answer, console);
    return kExitOk;
  }
  const bool all = command.is_long || !command.format.empty();
  if (all) style.width = kAllColumns;  // as squeue does: the terminal breaks the lines
  console.Print(QueueText(*answer, *columns, all ? columns->size() : kLeastColumns, style));
  return kExitOk;
}

}  // namespace gpuadvise::client
