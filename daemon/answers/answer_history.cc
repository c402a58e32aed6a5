// GET /v1/history: sums of what jobs waited and used, by hour of the week, by week and over time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "common/api/history.h"
#include "common/base/words.h"
#include "common/gpu/gpu_types.h"
#include "daemon/answers/views.h"

namespace gpuadvise::daemon {

namespace {

constexpr int64_t kHoursPerWeek = 7 * 24;
constexpr size_t kHoursPerDay = 24;

// One type of the answer and what is known of it: several GRES types may be the same GPU.
struct Row {
  GpuType type;
  std::vector<const HourlyUse*> uses;
};

// By id: what is in the cluster or has a history, and may be told.
std::map<std::string, Row> RowsOf(const UsageHistory& history, const GpuTypes& types,
                                  bool anonymous) {
  std::map<std::string, Row> rows;
  for (const auto& [id, type] : types.all()) rows[id].type = type;
  for (const auto& [gres, use] : history.types()) {
    Row& row = rows[types.TypeOf(gres).id];
    if (row.uses.empty()) row.type = types.TypeOf(gres);
    row.uses.push_back(&use);
  }
  if (anonymous) std::erase_if(rows, [](const auto& row) { return row.second.type.hidden; });
  return rows;
}

// The first hour of the last `weeks` of which anything is known; nullopt: of none.
std::optional<int64_t> FirstHour(const std::map<std::string, Row>& rows, int64_t weeks,
                                 UnixSeconds now) {
  const int64_t last = now / kHourSeconds;
  int64_t first = last + 1;
  for (const auto& [id, row] : rows) {
    for (const HourlyUse* use : row.uses) first = std::min(first, use->FirstKnown());
  }
  if (first > last) return std::nullopt;
  return std::max(first, last - weeks * kHoursPerWeek + 1);
}

// Three digits behind the point are enough for a drawing.
std::optional<double> MeanOf(int64_t sum, double over) {
  if (over <= 0) return std::nullopt;
  return std::round(1'000 * static_cast<double>(std::max<int64_t>(sum, 0)) / over) / 1'000;
}

std::optional<int64_t> SecondsOf(const std::optional<double>& wait) {
  return wait ? std::optional<int64_t>(std::llround(*wait)) : std::nullopt;
}

api::UseFigures UseFiguresOf(const HourSum& sum, int64_t gpus) {
  api::UseFigures figures;
  figures.jobs = sum.waits.jobs();
  figures.wait_p50_seconds = SecondsOf(sum.waits.Quantile(.5));
  figures.wait_p90_seconds = SecondsOf(sum.waits.Quantile(.9));
  const auto seconds = static_cast<double>(sum.known_seconds);
  figures.use = MeanOf(sum.seconds.busy_gpus, static_cast<double>(gpus) * seconds);
  if (figures.use) figures.use = std::min(*figures.use, 1.0);  // there were more of them
  figures.queue = MeanOf(sum.seconds.pending, seconds);
  return figures;
}

std::vector<api::HeatCell> HeatOf(const std::vector<HourSum>& of_week, int64_t gpus) {
  std::vector<api::HeatCell> cells;
  for (const HourSum& sum : of_week) {
    const auto hour = static_cast<int64_t>(cells.size());
    cells.push_back({hour / 24, hour % 24, UseFiguresOf(sum, gpus)});
  }
  return cells;
}

// Steps of whole hours that begin at multiples of their length, at most kMostSteps.
std::vector<api::HistoryStep> SeriesOf(const HistorySums& sums, const Period& period) {
  const auto hours = static_cast<int64_t>(period.size());
  int64_t step = 1;
  while (hours / step + 2 > kMostSteps) ++step;
  std::vector<api::HistoryStep> rows;
  for (int64_t i = 0; i < hours;) {
    const int64_t begin = (period.first_hour() + i) / step * step;
    Usage sum;
    int64_t known = 0;
    for (; i < hours && period.first_hour() + i < begin + step; ++i) {
      sum += sums.hours[static_cast<size_t>(i)];
      known += period.SecondsKnown(static_cast<size_t>(i));
    }
    const auto over = static_cast<double>(known);
    rows.push_back({begin * kHourSeconds, step * kHourSeconds, MeanOf(sum.pending, over),
                    MeanOf(sum.pending_gpus, over), MeanOf(sum.busy_gpus, over)});
  }
  return rows;
}

// All that the answer is made of.
struct Sums {
  HistorySums chosen;
  int64_t chosen_gpus = 0;                            // whose share `use` is
  int64_t chosen_jobs = 0;                            // whose wait is known
  std::map<std::string, std::vector<HourSum>> weeks;  // by id
};

Sums SumsOf(const std::map<std::string, Row>& rows, const std::string& gpu, const Period& period) {
  Sums sums{HistorySums(period), 0, 0, {}};
  const std::vector<HourSum> empty = EmptyWeeks(period);
  for (const auto& [id, row] : rows) {
    const bool is_chosen = gpu.empty() || id == gpu;
    const bool in_use = row.type.installed > 0 || id == "gpu";
    std::vector<HourSum>& weeks = sums.weeks.emplace(id, empty).first->second;
    for (const HourlyUse* use : row.uses) {
      AddUse(*use, period, in_use, weeks, is_chosen ? &sums.chosen : nullptr);
    }
    if (!is_chosen) continue;
    sums.chosen_gpus += row.type.installed;
    for (const HourSum& week : weeks) sums.chosen_jobs += week.waits.jobs();
  }
  return sums;
}

// All weeks but one that was cut by the question.
std::vector<api::HistoryWeek> WeeksOf(const Sums& sums, const std::map<std::string, Row>& rows,
                                      const Period& period, int64_t weeks) {
  const bool is_cut = static_cast<int64_t>(period.size()) == weeks * kHoursPerWeek;
  const UnixSeconds whole_from = is_cut ? period.first_hour() * kHourSeconds : 0;
  std::vector<api::HistoryWeek> list;
  for (size_t i = 0; i < period.week_starts().size(); ++i) {
    const UnixSeconds start = period.week_starts()[i];
    if (start < whole_from) continue;
    for (const auto& [id, row] : rows) {
      list.push_back({start, id, UseFiguresOf(sums.weeks.at(id)[i], row.type.installed)});
    }
  }
  return list;
}

// The best time to submit, from what jobs waited that became eligible then: blocks of four hours on
// working days and on weekends, in which enough jobs started that the tail of their waits is known.
constexpr int64_t kBlockHours = 4;
constexpr size_t kLeastHours = 14 * 24;  // each day of the week twice
constexpr int64_t kLeastJobsOfBlock = 50;
constexpr size_t kLeastBlocks = 6;          // half of all
constexpr double kClearlyShorter = 0.75;    // of the usual wait: less is chance and habit
constexpr double kWorthSaying = 15 * 60.0;  // seconds of the usual wait

// Sets `best_time`, or why there is none.
void AddBestTime(const std::vector<HourSum>& of_week, size_t hours, api::History& answer) {
  struct Block {
    size_t weekend = 0;
    int64_t from = 0;
    WaitCounts waits;
  };
  std::vector<Block> blocks;
  for (size_t weekend = 0; weekend < 2; ++weekend) {
    for (int64_t from = 0; from < 24; from += kBlockHours) blocks.push_back({weekend, from, {}});
  }
  WaitCounts all;
  for (size_t i = 0; i < of_week.size(); ++i) {
    const size_t weekend = i / 24 >= 5 ? 1 : 0;
    blocks[weekend * (24 / kBlockHours) + i % 24 / kBlockHours].waits.Add(of_week[i].waits);
    all.Add(of_week[i].waits);
  }
  std::erase_if(blocks, [](const Block& one) { return one.waits.jobs() < kLeastJobsOfBlock; });
  answer.best_time_unknown = "few_jobs";
  if (hours < kLeastHours || blocks.size() < kLeastBlocks) return;
  const auto tail = [](const WaitCounts& waits) { return waits.Quantile(.9).value_or(0); };
  const auto best = std::min_element(
      blocks.begin(), blocks.end(),
      [&](const Block& a, const Block& b) { return tail(a.waits) < tail(b.waits); });
  const double usual = tail(all);
  answer.best_time_unknown = "no_difference";
  if (usual < kWorthSaying || tail(best->waits) > kClearlyShorter * usual) return;
  answer.best_time_unknown.reset();
  answer.best_time = {.weekend = best->weekend == 1,
                      .hour_from = best->from,
                      .hour_to = best->from + kBlockHours,
                      .jobs = best->waits.jobs(),
                      .wait_p50_seconds = SecondsOf(best->waits.Quantile(.5)),
                      .wait_p90_seconds = SecondsOf(tail(best->waits)),
                      .usual_wait_p50_seconds = SecondsOf(all.Quantile(.5)),
                      .usual_wait_p90_seconds = SecondsOf(usual)};
}

std::string TimeInWords(int64_t seconds) {
  return DurationInWords(static_cast<double>(std::max<int64_t>(seconds, 60)));
}

std::string NoteOf(int64_t jobs, const Period& period, std::optional<UnixSeconds> watched_since,
                   const std::string& not_kept) {
  const UnixSeconds since = period.first_hour() * kHourSeconds;
  std::string note = fmt::format("{} with GPUs started within the last {}", Plural(jobs, "job"),
                                 TimeInWords(period.until() - since));
  if (!watched_since) {
    note += "; use and queue are not known yet";
  } else if (*watched_since >= since + kHourSeconds) {
    note += fmt::format("; use and queue are known for the last {}",
                        TimeInWords(period.until() - *watched_since));
  }
  if (!not_kept.empty()) {
    note += fmt::format("; none of it is kept when gpuadvised stops: {}", not_kept);
  }
  return note;
}

std::vector<api::HistoryGpu> GpusOf(const std::map<std::string, Row>& rows) {
  std::vector<api::HistoryGpu> gpus;
  for (const auto& [id, row] : rows) {
    const GpuType& type = row.type;
    gpus.push_back({id, type.name, type.hidden ? type.installed : type.total, {}});
  }
  return gpus;
}

// The share of a type's GPUs that was in use, by hour.
std::vector<double> LastDayOf(const Row& row, const Period& period) {
  const size_t count = std::min(period.size(), kHoursPerDay);
  const size_t skipped = period.size() - count;
  const int64_t first_hour = period.first_hour() + static_cast<int64_t>(skipped);
  std::vector<int64_t> busy(count);
  for (const HourlyUse* use : row.uses) {
    use->Each(first_hour, period.until(),
              [&](int64_t hour, const Usage& seconds, const SparseWaits& /*waits*/) {
                busy[static_cast<size_t>(hour - first_hour)] += seconds.busy_gpus;
              });
  }
  std::vector<double> shares;
  for (size_t i = 0; i < count; ++i) {
    const auto known = static_cast<double>(row.type.installed * period.SecondsKnown(skipped + i));
    if (const auto share = MeanOf(busy[i], known)) shares.push_back(std::min(*share, 1.0));
  }
  return shares;
}

tl::unexpected<Error> UnknownGpu(const std::string& gpu, const std::map<std::string, Row>& rows) {
  std::vector<std::string> names;
  for (const auto& [id, row] : rows) names.push_back(id);
  return BadInput(fmt::format("gpu is {}; the history has {}", Quoted(gpu),
                              names.empty() ? "no GPUs yet" : JoinNames(names)));
}

}  // namespace

Result<nlohmann::json> AnswerHistory(const HistoryQuestion& question, const UsageHistory& history,
                                     const Snapshot& snapshot, const GpuNaming& naming,
                                     const LocalTime& local) {
  const UnixSeconds now = snapshot.taken_at;
  const std::map<std::string, Row> rows =
      RowsOf(history, GpuTypes(snapshot, naming), question.anonymous);
  if (!question.gpu.empty() && !rows.contains(question.gpu)) return UnknownGpu(question.gpu, rows);
  const LocalDateTime here = local(now);
  api::History answer;
  answer.time_zone = here.zone;
  answer.utc_offset_seconds = here.utc_offset_seconds;
  answer.weeks = question.weeks;
  answer.until = now;
  answer.gpus = GpusOf(rows);
  const std::optional<int64_t> first = FirstHour(rows, question.weeks, now);
  if (!first) {
    answer.heat = HeatOf(std::vector<HourSum>(kHoursOfWeek), 0);
    answer.best_time_unknown = "few_jobs";
    answer.note = "nothing is known yet: no job with GPUs has been seen";
    return ToJson(answer);
  }
  const Period period(*first, now, history.watched_since(), local);
  const Sums sums = SumsOf(rows, question.gpu, period);
  answer.since = *first * kHourSeconds;
  answer.heat = HeatOf(sums.chosen.of_week, sums.chosen_gpus);
  answer.by_week = WeeksOf(sums, rows, period, question.weeks);
  answer.series = SeriesOf(sums.chosen, period);
  for (api::HistoryGpu& gpu : answer.gpus) gpu.last_day = LastDayOf(rows.at(gpu.gpu), period);
  AddBestTime(sums.chosen.of_week, period.size(), answer);
  answer.note = NoteOf(sums.chosen_jobs, period, history.watched_since(), question.not_kept);
  return ToJson(answer);
}

}  // namespace gpuadvise::daemon
