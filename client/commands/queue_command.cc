// `gpuadvise queue`: squeue's jobs, with when each will start and why it waits.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/cluster_tables.h"
#include "client/views/sweep_view.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/net/http_call.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kQueueFooter =
    "\nColumns of -O: Account, ArrayJobID, GPUs, GRES, JobID, Name, NumNodes, Partition,\n"
    "PendingTime, PriorityLong, QOS, Reason, StartTime, State, SubmitTime, TimeLimit, UserName,\n"
    "and of the forecast: Starts, StartsIn, Ends.\n";

struct QueueCommand {
  std::string user;  // "a,b"; "": everybody
  bool me = false;
  std::string own_user;  // who asks
  std::string jobs;      // "4711,4712"
  std::string partition;
  std::string state;   // "pending", "PD,R"; "": pending and running
  bool start = false;  // --start: pending ones, with Slurm's estimate
  bool is_long = false;
  std::string format;  // of -O: "jobid,name"
  bool array = false;  // a row for each array and running task of a sweep
};

constexpr int64_t kMostRows = 10'000;  // that the API gives at once
constexpr int kAllColumns = 10'000;
constexpr size_t kLeastColumns = 6;

// squeue's short names of states.
constexpr std::pair<std::string_view, std::string_view> kStates[] = {
    {"pd", "PENDING"},     {"r", "RUNNING"},   {"s", "SUSPENDED"}, {"cg", "COMPLETING"},
    {"cf", "CONFIGURING"}, {"st", "STOPPED"},  {"rq", "REQUEUED"}, {"rh", "REQUEUE_HOLD"},
    {"so", "STAGE_OUT"},   {"si", "SIGNALING"}};

std::vector<std::string> SplitWords(const std::string& list) {
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
    wish.users_ = SplitWords(command.user);
    for (std::string& user : wish.users_) {
      if (user == "me") user = command.own_user;
    }
    if (command.me) wish.users_.push_back(command.own_user);
    wish.partitions_ = SplitWords(command.partition);
    wish.jobs_ = SplitWords(command.jobs);
    if (command.start) wish.states_.push_back("PENDING");
    for (const std::string& word : SplitWords(LowerCase(command.state))) {
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
    if (!ChoosesHere()) return;
    json kept = json::array();
    for (const json& job : ListOf(*answer, "jobs")) {
      if (Takes(FromJson<api::QueueJob>(job, ShownText))) kept.push_back(job);
    }
    (*answer)["total"] = kept.size();
    (*answer)["jobs"] = std::move(kept);
    KeepSweepsOf((*answer)["jobs"], answer);
  }

 private:
  // Those of which a job is left.
  static void KeepSweepsOf(const json& jobs, json* answer) {
    std::set<int64_t> named;
    for (const json& job : jobs) named.insert(IntOf(job, "sweep"));
    json kept = json::array();
    for (const json& sweep : ListOf(*answer, "sweeps")) {
      if (named.contains(IntOf(sweep, "job_id"))) kept.push_back(sweep);
    }
    if (answer->contains("sweeps")) (*answer)["sweeps"] = std::move(kept);
  }

  bool Takes(const api::QueueJob& job) const {
    if (!users_.empty() && !IsOneOf(job.user.value_or(""), users_)) return false;
    if (!states_.empty() && !IsOneOf(job.state, states_)) return false;
    const std::string id = std::to_string(job.job_id);
    const bool wanted = std::any_of(jobs_.begin(), jobs_.end(), [&](const std::string& word) {
      return word.substr(0, word.find('_')) == id;
    });
    if (!jobs_.empty() && !wanted) return false;
    if (partitions_.empty()) return true;
    const std::vector<std::string> of_job = SplitWords(job.partition);
    return std::any_of(of_job.begin(), of_job.end(),
                       [&](const std::string& name) { return IsOneOf(name, partitions_); });
  }

  std::vector<std::string> users_;
  std::vector<std::string> partitions_;
  std::vector<std::string> jobs_;
  std::vector<std::string> states_;  // Slurm's names
};

std::string QueueText(const api::Answer<api::Queue>& answer, std::vector<QueueColumn> columns,
                      bool all_columns, bool folds, int64_t now, TerminalStyle style) {
  const std::string head = fmt::format("{} · {} · starts: p50 (p90)", Plural(answer.total, "job"),
                                       ClusterAndAge(answer.frame));
  std::string text = Clipped(head, style.width) + "\n";
  const std::vector<api::QueueJob> rows = folds ? FoldedQueue(answer) : answer.jobs;
  AddClusterColumn(rows, columns);
  if (all_columns) style.width = kAllColumns;  // as squeue does: the terminal breaks the lines
  const size_t least = all_columns ? columns.size() : kLeastColumns;
  if (!rows.empty()) text += "\n" + AnswerTable(rows, columns, least, style);
  const auto shown = static_cast<int64_t>(answer.jobs.size());
  if (shown < answer.total) {
    text += fmt::format("and {} more; narrow with -p or -u\n", answer.total - shown);
  }
  const std::string sweeps = ProgressText(answer.sweeps, now, style);
  if (!sweeps.empty()) text += "\n" + sweeps;
  return text + DoubtText(answer.frame, style);
}

int Run(QueueCommand& command, const CommandContext& context) {
  Console& console = context.console;
  command.own_user = context.user_name();
  const Result<QueueWish> wish = QueueWish::From(command);
  if (!wish) return Report(wish.error(), console);
  const auto columns = QueueColumns({command.format, command.start, command.is_long}, console.now(),
                                    console.style().width);
  if (!columns) return Report(columns.error(), console);
  Result<json> answer = context.api.Get(wish->Target());
  if (answer) wish->ChooseFrom(&*answer);
  const bool all_columns = command.is_long || !command.format.empty();
  return PrintAnswer<api::Queue>(answer, console, [&](const auto& queue, const auto& style) {
    return QueueText(queue, *columns, all_columns, !command.array, console.now(), style);
  });
}

void AddOptions(QueueCommand& command, Options& options) {
  options.Value("-u,--user NAME,...", command.user, "Only these users' (me: your own)");
  options.Flag("--me", command.me, "Only your own");
  options.Value("-j,--jobs JOBID,...", command.jobs, "Only these jobs");
  options.Value("-p,--partition NAME,...", command.partition, "Only of these partitions");
  options.Value("-t,--states,--state STATE,...", command.state,
                "Only in these states: pending, running, PD, R … (all: every state)");
  options.Flag("--start", command.start, "Only pending jobs, with Slurm's own estimate");
  options.Flag("-r,--array", command.array, "A row for each array and running task of a sweep");
  options.Flag("-l,--long", command.is_long, "All columns, whatever the width");
  options.Value("-O,--Format NAME,...", command.format, "These columns: names as in squeue -O");
  options.Clusters();
  options.JsonAndPlace();
  options.Footer(kQueueFooter);
}

}  // namespace

Command MakeQueueCommand() {
  return MakeCommand<QueueCommand>("queue", "Jobs of the cluster and when each will start",
                                   AddOptions, Run);
}

}  // namespace gpuadvise::client
