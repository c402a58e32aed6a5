#include "client/clusters/merged_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "client/api/answer_reader.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Answers = std::vector<ClusterAnswer>;

constexpr double kNever = std::numeric_limits<double>::infinity();

double OrNever(const json& row, const char* key) {
  return OptionalNumber(row, key).value_or(kNever);
}

std::string Of(const std::string& cluster, const std::string& sentence) {
  return cluster + ": " + sentence;
}

// The rows of all answers, each with its cluster.
json RowsOf(const Answers& answers, const char* key) {
  json rows = json::array();
  for (const auto& [cluster, answer] : answers) {
    if (!answer) continue;
    for (const json& row : ListOf(*answer, key)) {
      if (!row.is_object()) continue;
      rows.push_back(row);
      rows.back()["cluster"] = cluster;
    }
  }
  return rows;
}

json SentencesOf(const Answers& answers, const char* key) {
  json sentences = json::array();
  for (const auto& [cluster, answer] : answers) {
    if (!answer) continue;
    for (const std::string& one : TextsOf(*answer, key)) sentences.push_back(Of(cluster, one));
  }
  return sentences;
}

// One text of `meta` of those that have it: "b: slurmctld does not answer".
json MetaWords(const Answers& answers, const char* key) {
  std::string words;
  for (const auto& [cluster, answer] : answers) {
    const std::string one = answer ? TextOf(ObjectOf(*answer, "meta"), key) : "";
    if (!one.empty()) words += (words.empty() ? "" : "; ") + Of(cluster, one);
  }
  return words.empty() ? json() : json(words);
}

json FrameOf(const Answers& answers) {
  std::vector<std::string> names;
  json clusters = json::array();
  double age = 0;
  for (const auto& [cluster, answer] : answers) {
    json one = {{"cluster", cluster}, {"error", nullptr}, {"snapshot_age_seconds", nullptr}};
    if (answer) {
      names.push_back(cluster);
      age = std::max(age, NumberOf(*answer, "snapshot_age_seconds"));
      one["snapshot_age_seconds"] = NumberOf(*answer, "snapshot_age_seconds");
    } else {
      one["error"] = answer.error().message;
    }
    clusters.push_back(std::move(one));
  }
  json warnings = SentencesOf(answers, "warnings");
  return {{"clusters", std::move(clusters)},
          {"errors", json::array()},
          {"meta",
           {{"cluster", JoinNames(names)},
            {"stale_cause", MetaWords(answers, "stale_cause")},
            {"unseen", MetaWords(answers, "unseen")}}},
          {"snapshot_age_seconds", age},
          {"warnings", std::move(warnings)}};
}

using Key = std::tuple<double, double, double>;

// As the daemon ranks (common/advise/ranking.h); GPU-hours where not all have a price.
Key RankingKey(const json& row, const std::string& objective, bool all_priced) {
  const double price = OrNever(row, all_priced ? "cost" : "gpu_hours");
  const double total = OrNever(row, "total_p50_seconds");
  const double late = OrNever(row, "total_p90_seconds");
  if (objective == "start") {
    return {OrNever(row, "wait_p50_seconds"), OrNever(row, "wait_p90_seconds"), total};
  }
  if (objective == "cost") return {price, total, late};
  if (objective == "deadline") {
    const bool sure = IsTrue(row, "makes_deadline");
    return {sure ? 0 : 1, sure ? price : 1 - NumberOf(row, "deadline_chance"), total};
  }
  return {total, late, 0};
}

// What the first is, compared with the best of another cluster.
void SayWhyFirst(json& strategies, const std::string& objective) {
  if (strategies.empty()) return;
  json& first = strategies.front();
  const auto other = std::find_if(strategies.begin(), strategies.end(), [&](const json& row) {
    return TextOf(row, "cluster") != TextOf(first, "cluster");
  });
  json reasons = json::array();
  if (other == strategies.end()) {
    reasons.push_back("no other cluster can run it");
  } else if (objective == "finish" || objective == "start") {
    const char* key = objective == "finish" ? "total_p50_seconds" : "wait_p50_seconds";
    const double sooner = NumberOf(*other, key) - NumberOf(first, key);
    reasons.push_back(
        fmt::format("{} {} the best of cluster {}", objective == "finish" ? "done" : "starts",
                    sooner < 30 ? "at the same time as" : DurationInWords(sooner) + " before",
                    TextOf(*other, "cluster")));
  }
  for (const std::string& one : TextsOf(first, "reasons")) {
    reasons.push_back(Of("on " + TextOf(first, "cluster"), one));
  }
  first["reasons"] = std::move(reasons);
}

int64_t NewRank(const json& strategies, const std::string& cluster, int64_t rank) {
  for (const json& row : strategies) {
    if (TextOf(row, "cluster") == cluster && IntOf(row, "cluster_rank") == rank) {
      return IntOf(row, "rank");
    }
  }
  return 0;
}

// What speaks of rows by their rank there speaks of them by their rank here.
json ConflictsOf(const Answers& answers, const json& strategies) {
  json conflicts = RowsOf(answers, "command_conflicts");
  for (json& conflict : conflicts) {
    json ranks = json::array();
    for (const json& rank : ListOf(conflict, "ranks")) {
      if (!rank.is_number_integer()) continue;
      ranks.push_back(NewRank(strategies, TextOf(conflict, "cluster"), rank.get<int64_t>()));
    }
    conflict["ranks"] = std::move(ranks);
  }
  return conflicts;
}

void AddAdvice(const Answers& answers, const json& any, json& merged) {
  const std::string objective = TextOf(any, "objective");
  json strategies = json::array();
  for (const auto& [cluster, answer] : answers) {
    if (!answer) continue;
    for (const json& row : ListOf(*answer, "strategies")) {
      if (!row.is_object()) continue;
      json one = row;
      one["cluster"] = cluster;
      one["cluster_rank"] = IntOf(row, "rank");
      one["advice_id"] = TextOf(*answer, "advice_id");
      one["outcomes_dir"] = TextOf(*answer, "outcomes_dir");
      strategies.push_back(std::move(one));
    }
  }
  const bool all_priced = std::all_of(strategies.begin(), strategies.end(), [](const json& row) {
    return OptionalNumber(row, "cost").has_value();
  });
  const bool some_priced = std::any_of(strategies.begin(), strategies.end(), [](const json& row) {
    return OptionalNumber(row, "cost").has_value();
  });
  std::stable_sort(strategies.begin(), strategies.end(), [&](const json& a, const json& b) {
    return RankingKey(a, objective, all_priced) < RankingKey(b, objective, all_priced);
  });
  for (size_t i = 0; i < strategies.size(); ++i) strategies[i]["rank"] = i + 1;
  SayWhyFirst(strategies, objective);
  if ((objective == "cost" || objective == "deadline") && some_priced && !all_priced) {
    merged["warnings"].push_back(
        "not every cluster has prices, so rows are ranked by GPU-hours, not by cost");
  }
  merged["command_conflicts"] = ConflictsOf(answers, strategies);
  for (const auto& [cluster, answer] : answers) {
    if (!answer || strategies.empty()) continue;
    json limit = ObjectOf(*answer, "limit_advice");
    if (limit.empty() || cluster != TextOf(strategies.front(), "cluster")) continue;
    limit["rank"] = NewRank(strategies, cluster, IntOf(limit, "rank"));
    merged["limit_advice"] = std::move(limit);
  }
  merged["strategies"] = std::move(strategies);
  merged["rejected"] = RowsOf(answers, "rejected");
  merged["tips"] = SentencesOf(answers, "tips");
  for (const char* key : {"name", "objective", "deadline", "training"}) {
    if (any.contains(key)) merged[key] = any[key];
  }
}

void AddWhen(const Answers& answers, json& merged) {
  json rows = RowsOf(answers, "answers");
  std::stable_sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return OrNever(a, "wait_p50_seconds") < OrNever(b, "wait_p50_seconds");
  });
  merged["answers"] = std::move(rows);
}

void AddQueue(const Answers& answers, json& merged) {
  int64_t total = 0;
  for (const ClusterAnswer& one : answers) total += one.answer ? IntOf(*one.answer, "total") : 0;
  merged["jobs"] = RowsOf(answers, "jobs");
  merged["total"] = total;
}

}  // namespace

json MergedAnswer(std::string_view target, const Answers& answers) {
  const auto found = std::find_if(answers.begin(), answers.end(),
                                  [](const ClusterAnswer& one) { return one.answer.has_value(); });
  json merged = FrameOf(answers);
  if (target == "/v1/advise") {
    AddAdvice(answers, *found->answer, merged);
  } else if (target == "/v1/when") {
    AddWhen(answers, merged);
  } else if (target.starts_with("/v1/queue")) {
    AddQueue(answers, merged);
  } else {
    merged["gpus"] = RowsOf(answers, "gpus");
  }
  return merged;
}

}  // namespace gpuadvise::client
