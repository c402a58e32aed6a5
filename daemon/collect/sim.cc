#include "daemon/collect/sim.h"

#include <cmath>
#include <optional>
#include <utility>

#include "common/base/unix_time.h"
#include "daemon/collect/sim_jobs.h"
#include "daemon/collect/sim_world.h"
#include "daemon/collect/source.h"

namespace gpuadvise::collect {
namespace {

// Midnight (UTC) of the day before `t`.
UnixSeconds DayBefore(UnixSeconds t) { return t - t % kDaySeconds - kDaySeconds; }

class SimSource : public Source {
 public:
  SimSource(const SimOptions& options, WallClock clock)
      : speed_(options.speed),
        clock_(std::move(clock)),
        started_(clock_()),
        people_(options.jobs_dir),
        world_(options.seed, DayBefore(started_)) {}

  Result<Poll> Step() override {
    const auto passed = static_cast<double>(clock_() - started_);
    TakeNews();
    world_.AdvanceTo(started_ + std::llround(passed * speed_));
    Poll poll;
    poll.snapshot = world_.TakeSnapshot();
    poll.changed = last_ ? ChangedTables(*last_, poll.snapshot) : TableSet::All();
    last_ = poll.snapshot;
    return poll;
  }

 private:
  // A new source finds all files and so reproduces the same world.
  void TakeNews() {
    SimJobFolder::News news = people_.Look();
    for (SimJob& job : news.submitted) {
      if (*job.job.submit_time >= DayBefore(started_)) world_.Submit(std::move(job));
    }
    for (const auto& [job_id, at] : news.ended) world_.End(job_id, at);
  }

  double speed_;
  WallClock clock_;
  UnixSeconds started_;
  SimJobFolder people_;
  SimWorld world_;
  std::optional<Snapshot> last_;
};

}  // namespace

SourceResult MakeSimSource(const SimOptions& options, WallClock clock) {
  if (!std::isfinite(options.speed) || options.speed <= 0) {
    return BadInput("the speed of the simulation must be above 0; 1 is real time");
  }
  if (!options.jobs_dir.empty() && options.speed != 1) {
    return BadInput("jobs of people run in real time: the speed must be 1, or jobs_dir empty");
  }
  return std::make_unique<SimSource>(options, std::move(clock));
}

}  // namespace gpuadvise::collect
