#include "client/clusters/merged_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "common/api/advice.h"
#include "common/api/frame.h"
#include "common/api/gpus.h"
#include "common/api/queue.h"
#include "common/api/when.h"
#include "common/base/ranked_end.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Answers = std::vector<ClusterAnswer>;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Each answer that came, with its cluster.
template <typename T>
std::vector<std::pair<std::string, T>> ReadAll(const Answers& answers) {
  std::vector<std::pair<std::string, T>> read;
  for (const auto& [cluster, answer] : answers) {
    if (answer) read.emplace_back(cluster, FromJson<T>(*answer));
  }
  return read;
}

std::string WithCluster(const std::string& cluster, const std::string& sentence) {
  return cluster + ": " + sentence;
}

// The rows of all answers, each with its cluster.
template <typename T, typename Row>
std::vector<Row> AllRows(const Answers& answers, std::vector<Row> T::*list) {
  std::vector<Row> rows;
  for (auto& [cluster, answer] : ReadAll<T>(answers)) {
    for (const Row& row : answer.*list) {
      rows.push_back(row);
      rows.back().cluster = cluster;
    }
  }
  return rows;
}

// "b: slurmctld does not answer; c: …".
void AddWords(const std::string& cluster, const std::string& words, std::string& all) {
  if (!words.empty()) all += (all.empty() ? "" : "; ") + WithCluster(cluster, words);
}

api::Frame MergedFrame(const Answers& answers) {
  api::Frame merged;
  std::vector<std::string> names;
  std::string stale_cause;
  double age = 0;
  for (const auto& [cluster, frame] : ReadAll<api::Frame>(answers)) {
    names.push_back(cluster);
    age = std::max(age, frame.snapshot_age_seconds.value_or(0));
    AddWords(cluster, frame.meta.stale_cause.value_or(""), stale_cause);
    AddWords(cluster, frame.meta.unseen, merged.meta.unseen);
    for (const std::string& warning : frame.warnings) {
      merged.warnings.push_back(WithCluster(cluster, warning));
    }
  }
  merged.meta.cluster = JoinNames(names);
  if (!stale_cause.empty()) merged.meta.stale_cause = stale_cause;
  merged.snapshot_age_seconds = age;
  return merged;
}

// The state of each cluster, or why it gave no answer.
json ClusterStates(const Answers& answers) {
  json states = json::array();
  for (const auto& [cluster, answer] : answers) {
    const json age =
        answer ? json(FromJson<api::Frame>(*answer).snapshot_age_seconds.value_or(0)) : json();
    states.push_back({{"cluster", cluster},
                      {"error", answer ? json() : json(answer.error().message)},
                      {"snapshot_age_seconds", age}});
  }
  return states;
}

using Key = std::tuple<double, double, double>;

// As the daemon ranks (common/advise/ranking.h), by GPU-hours unless all have a price.
Key RankingKey(const api::Strategy& row, const std::string& objective, bool all_priced) {
  const double price = all_priced ? *row.cost : row.gpu_hours;
  const auto total = static_cast<double>(row.total.p50_seconds);
  const auto late = static_cast<double>(row.total.p90_seconds);
  if (objective == "start") {
    return {static_cast<double>(row.wait.p50_seconds), static_cast<double>(row.wait.p90_seconds),
            total};
  }
  if (objective == "cost") return {price, total, late};
  if (objective == "deadline") {
    const bool sure = row.makes_deadline.value_or(false);
    return {sure ? 0 : 1, sure ? price : 1 - row.deadline_chance.value_or(0), total};
  }
  return {RankedEnd(total, late), late, 0};
}

// The first strategy compared with the best of another cluster.
void AddWhyFirst(std::vector<api::Strategy>& strategies, const std::string& objective) {
  if (strategies.empty()) return;
  api::Strategy& first = strategies.front();
  const auto other = std::ranges::find_if(
      strategies, [&](const api::Strategy& row) { return row.cluster != first.cluster; });
  std::vector<std::string> reasons;
  if (other == strategies.end()) {
    reasons.emplace_back("no other cluster can run it");
  } else if (objective == "finish" || objective == "start") {
    const bool ends = objective == "finish";
    const int64_t sooner = ends ? other->total.p50_seconds - first.total.p50_seconds
                                : other->wait.p50_seconds - first.wait.p50_seconds;
    std::string words = ends ? "done " : "starts ";
    words += sooner < 30 ? "at the same time as"
                         : DurationInWords(static_cast<double>(sooner)) + " before";
    if (sooner < -30) words = "surer than";
    reasons.push_back(words + " the best of cluster " + other->cluster);
  }
  for (const std::string& one : first.reasons) {
    reasons.push_back(WithCluster("on " + first.cluster, one));
  }
  first.reasons = std::move(reasons);
}

// The strategies of all clusters, ranked anew.
std::vector<api::Strategy> RankedStrategies(const Answers& answers, const std::string& objective,
                                            std::vector<std::string>& warnings) {
  std::vector<api::Strategy> strategies;
  for (auto& [cluster, advice] : ReadAll<api::Advice>(answers)) {
    for (api::Strategy& one : advice.strategies) {
      one.cluster = cluster;
      one.cluster_rank = one.rank;
      one.advice_id = advice.advice_id;
      one.outcomes_dir = advice.outcomes_dir;
      strategies.push_back(std::move(one));
    }
  }
  const auto priced =
      std::ranges::count_if(strategies, [](const auto& row) { return row.cost.has_value(); });
  const bool all_priced = static_cast<size_t>(priced) == strategies.size();
  std::ranges::stable_sort(strategies, {}, [&](const api::Strategy& row) {
    return RankingKey(row, objective, all_priced);
  });
  for (size_t i = 0; i < strategies.size(); ++i) strategies[i].rank = static_cast<int64_t>(i) + 1;
  AddWhyFirst(strategies, objective);
  if ((objective == "cost" || objective == "deadline") && priced > 0 && !all_priced) {
    warnings.emplace_back(
        "not every cluster has prices, so rows are ranked by GPU-hours, not by cost");
  }
  return strategies;
}

// Appends what `all` does not have yet: it is of the training, the same on every cluster.
void AddNew(const std::vector<std::string>& texts, std::vector<std::string>& all) {
  for (const std::string& text : texts) {
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
  }
}

json MergedAdvice(const Answers& answers, std::vector<std::string>& warnings) {
  const auto all = ReadAll<api::Advice>(answers);
  api::Advice merged;
  merged.name = all.front().second.name;
  merged.objective = all.front().second.objective;
  merged.deadline = all.front().second.deadline;
  merged.training = all.front().second.training;
  merged.strategies = RankedStrategies(answers, merged.objective, warnings);
  merged.rejected = AllRows(answers, &api::Advice::rejected);
  for (const auto& [cluster, advice] : all) {
    for (const std::string& tip : advice.tips) merged.tips.push_back(WithCluster(cluster, tip));
    AddNew(advice.assumed, merged.assumed);
    AddNew(advice.unsettled, merged.unsettled);
    if (advice.sweep) {
      AddNew({"an array is not divided among clusters: ask one, with -M NAME, for a split over its "
              "GPU types"},
             warnings);
    }
    if (merged.strategies.empty() || cluster != merged.strategies.front().cluster) continue;
    merged.limit_advice = advice.limit_advice;
  }
  if (merged.limit_advice) {  // names a row by its rank there
    const auto row = std::ranges::find_if(merged.strategies, [&](const api::Strategy& one) {
      return one.cluster == merged.strategies.front().cluster &&
             one.cluster_rank == merged.limit_advice->rank;
    });
    merged.limit_advice->rank = row == merged.strategies.end() ? 0 : row->rank;
  }
  return ToJson(merged);
}

json MergedStarts(const Answers& answers) {
  api::Starts merged;
  merged.answers = AllRows(answers, &api::Starts::answers);
  std::ranges::stable_sort(merged.answers, {}, [](const api::StartAnswer& row) {
    return row.job && !row.error ? static_cast<double>(row.job->start.wait.p50_seconds) : kNever;
  });
  return ToJson(merged);
}

json MergedQueue(const Answers& answers) {
  api::Queue merged;
  merged.jobs = AllRows(answers, &api::Queue::jobs);
  merged.sweeps = AllRows(answers, &api::Queue::sweeps);
  for (const auto& [cluster, queue] : ReadAll<api::Queue>(answers)) merged.total += queue.total;
  return ToJson(merged);
}

}  // namespace

json MergedAnswer(std::string_view target, const Answers& answers) {
  api::Frame frame = MergedFrame(answers);
  json merged;
  if (target == "/v1/advise") {
    merged = MergedAdvice(answers, frame.warnings);
  } else if (target == "/v1/when") {
    merged = MergedStarts(answers);
  } else if (target.starts_with("/v1/queue")) {
    merged = MergedQueue(answers);
  } else {
    merged = ToJson(api::Gpus{AllRows(answers, &api::Gpus::gpus)});
  }
  merged.update(ToJson(frame));
  merged["clusters"] = ClusterStates(answers);
  return merged;
}

}  // namespace gpuadvise::client
