// What a history of many jobs costs, in a file and in a PostgreSQL server:
//     cmake --build --preset release --target history_bench
//     build/release/bin/history_bench 1000000 FOLDER
//     build/release/bin/history_bench 1000000 postgresql://...   (an empty schema)
// The jobs are made: 400 days of them, by 200 users, those of the last 10,000 with what is learned
// from them.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/history/wait_features.h"
#include "daemon/store/history.h"

namespace gpuadvise::daemon {
namespace {

constexpr UnixSeconds kNow = 1'790'000'000;
constexpr int64_t kDays = 400;
constexpr int64_t kBatch = 5'000;
constexpr int64_t kUsers = 200;
constexpr int64_t kOfOneSnapshot = 200;

std::shared_ptr<const ForecastRecord> Lesson() {
  auto lesson = std::make_shared<ForecastRecord>();
  lesson->features.assign(kWaitFeatures, 1.5F);
  lesson->pooled.assign(200, 60.0F);
  lesson->keys = {"gpu|1", "*"};
  return lesson;
}

PastJob MadeJob(int64_t number, int64_t jobs) {
  PastJob job;
  JobRecord& record = job.record;
  record.id = number;
  record.submit = kNow - kDays * 86'400 + number * (kDays * 86'400) / jobs;
  record.eligible = record.submit;
  record.name = fmt::format("train-{}", number % 977);
  record.user = fmt::format("user{}", number % kUsers);
  record.account = fmt::format("account{}", number % 20);
  record.qos = "normal";
  record.partition = "gpu";
  record.gpu = number % 3 == 0 ? "a100" : "l40s";
  record.nodes = 1;
  record.cpus = 8;
  record.gpus = 1 + number % 4;
  record.limit_seconds = int64_t{86'400};
  record.start = record.submit + 600 + number % 3'000;
  record.end = *record.start + 7'200;
  record.state = "COMPLETED";
  job.said = PublishedForecast{0,
                               600,
                               3'600,
                               900,
                               WaitGroup::kNotFree,
                               Deciles{0, 60, 120, 300, 600, 900, 1'500, 2'400, 3'600}};
  static const auto kLesson = Lesson();
  if (jobs - number < kDetailJobs) job.forecast_record = kLesson;
  return job;
}

template <typename Use>
void Time(std::string_view what, const Use& use) {
  const auto begun = std::chrono::steady_clock::now();
  const std::string more = use();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("{:40} {:9.3f} s  {}\n", what, took.count(), more);
  std::fflush(stdout);
}

std::unique_ptr<History> Open(const std::string& place) {
  HistoryBounds bounds;
  bounds.bytes = int64_t{100} << 30;
  auto history = IsPostgresUrl(place)
                     ? ReadPostgresUrl(place).and_then([&](const PostgresPlace& server) {
                         return History::OpenPostgres(server, bounds);
                       })
                     : History::Open(place, kNow, bounds);
  if (history) return std::move(*history);
  fmt::print(stderr, "{}\n", history.error().message);
  std::exit(1);
}

template <typename Done>
std::string Or(const Done& done, const std::function<std::string()>& words) {
  return done ? words() : done.error().message;
}

int Main(int64_t jobs, const std::string& place) {
  Time("made and saved", [&] {
    const auto history = Open(place);
    for (int64_t number = 1; number <= jobs;) {
      std::vector<PastJob> batch;
      for (; number <= jobs && static_cast<int64_t>(batch.size()) < kBatch; ++number) {
        batch.push_back(MadeJob(number, jobs));
      }
      if (const auto saved = history->Save(batch); !saved) return saved.error().message;
    }
    return fmt::format("{} jobs", jobs);
  });
  std::unique_ptr<History> history;
  Time("opened", [&] { return history = Open(place), std::string(); });
  Time("count, age, size", [&] {
    const auto info = history->Info();
    return Or(info,
              [&] { return fmt::format("{:.0f} MB", static_cast<double>(info->bytes) / 1e6); });
  });
  Time("newest jobs to learn from", [&] {
    int64_t unreadable = 0;
    const auto loaded = history->Load(unreadable);
    return Or(loaded, [&] { return fmt::format("{} jobs", loaded->size()); });
  });
  Time("use by hour: every row", [&] {
    int64_t seen = 0;
    const auto read = history->ForEachUsage([&](const PastJob&) { ++seen; });
    return Or(read, [&] { return fmt::format("{} rows", seen); });
  });
  Time("runs of everybody, 28 days", [&] {
    int64_t seen = 0;
    const auto read =
        history->EachRun(kNow - 28 * 86'400, "", [&](const History::Run&) { return ++seen, true; });
    return Or(read, [&] { return fmt::format("{} runs", seen); });
  });
  Time("one snapshot's changed jobs saved", [&] {
    std::vector<PastJob> changed;
    for (int64_t i = 0; i < kOfOneSnapshot; ++i) changed.push_back(MadeJob(jobs - i, jobs));
    return Or(history->Save(changed), [] { return fmt::format("{} jobs", kOfOneSnapshot); });
  });
  Time("pruned by a day", [&] {
    return Or(history->Prune(kNow - (kDays - 1) * 86'400, kNow), [] { return std::string(); });
  });
  return 0;
}

}  // namespace
}  // namespace gpuadvise::daemon

int main(int argc, char** argv) {
  if (argc == 3) return gpuadvise::daemon::Main(std::atoll(argv[1]), argv[2]);
  fmt::print(stderr, "usage: history_bench JOBS FOLDER|postgresql://...\n");
  return 2;
}
