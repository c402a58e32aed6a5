#include "common/advise/sweep_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "common/base/job_random.h"
#include "common/base/ranked_end.h"
#include "common/base/statistics.h"
#include "common/forecast/array_starts.h"

namespace gpuadvise {
namespace {

constexpr size_t kMostLanes = 8;
constexpr size_t kMostShapes = 3;      // of a lane
constexpr int64_t kManyMembers = 200;  // then one shape a lane is played
constexpr int kMostMoves = 6;
constexpr double kWorthMoving = 0.005;  // of the makespan
constexpr double kFollowed = 2;         // makespans in which jobs of others arrive that are counted
constexpr double kAtOnce = 1;  // seconds within which one member takes the place of another
constexpr uint64_t kRunOfSweep = 0x5377;  // random number of a sweep's run times

// A strategy that may take members.
struct Lane {
  size_t strategy = 0;
  int64_t throttle = 0;
  int64_t waiting = 0;   // members that are in its queue already
  int64_t priority = 0;  // theirs

  // Of `members` those that keep their place in the queue. Under a throttle all of a lane are
  // one array.
  int64_t Kept(int64_t members) const {
    return throttle > 0 && waiting > 0 ? members : std::min(members, waiting);
  }
};

// What became of the members of a lane in one sample, ascending.
struct LaneSample {
  std::vector<double> starts;
  std::vector<double> ends;
};

// By sample and lane.
using Played = std::vector<std::vector<LaneSample>>;

Spread SpreadOfAll(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return SpreadOf(values);
}

// Most members of a lane at once.
int64_t MostAtOnce(const LaneSample& lane) {
  int64_t most = lane.starts.empty() ? 0 : 1;
  size_t ended = 0;
  for (size_t i = 0; i < lane.starts.size(); ++i) {
    while (ended < lane.ends.size() && lane.ends[ended] < lane.starts[i] + kAtOnce) ++ended;
    most = std::max(most, static_cast<int64_t>(i + 1 - ended));
  }
  return most;
}

int64_t MedianAtOnce(const Played& played, size_t lane) {
  std::vector<double> most;
  for (const auto& sample : played) most.push_back(static_cast<double>(MostAtOnce(sample[lane])));
  return std::llround(UpperMedian(std::move(most)));
}

class SweepPlanner {
 public:
  SweepPlanner(const AdviceContext& context, const Submitter& caller,
               const std::vector<Strategy>& ranked, const SweepSize& size,
               const std::vector<WaitingShare>& waiting)
      : context_(context),
        caller_(caller),
        ranked_(ranked),
        size_(size),
        waiting_(waiting),
        samples_(context.Samples()) {
    FindLanes();
  }

  std::optional<SweepPlan> Plan() {
    if (lanes_.empty()) return {};
    if (!PlayAlone()) return {};
    ShareThrottle();
    std::vector<int64_t> counts = Merge();
    Balance(counts);
    Played played = Play(counts);
    Improve(counts, played);
    if (const auto there = CountsAsTheyWait()) {
      Played stays = Play(*there);
      if (RankedEndOf(stays) <= RankedEndOf(played)) {
        counts = *there;
        played = std::move(stays);
      }
    }
    if (RankedEndOf(on_single_) <= RankedEndOf(played)) {
      counts.assign(lanes_.size(), 0);
      counts[single_] = size_.members;
      lanes_[single_].throttle = size_.throttle;
      played = Widened(on_single_, single_);
      PutIn(lanes_);
    }
    followed_ = kFollowed * SpreadOfAll(Makespans(played)).p50;
    std::optional<CausedDelay> delay = DelayBy(counts);
    if (context_.courtesy > 0 && size_.throttle <= 0 && delay) Yield(counts, played, *delay);
    return Describe(counts, played, delay);
  }

 private:
  const Strategy& StrategyOf(size_t lane) const { return ranked_[lanes_[lane].strategy]; }

  // About how long all members would take there, from how many GPUs there are.
  double Throughput(const Strategy& strategy) const {
    const GpuPool& pool = *strategy.placement.pool;
    const auto each =
        static_cast<double>(strategy.placement.gpus_per_node * strategy.placement.nodes);
    const auto gpus = static_cast<double>(std::max<int64_t>(pool.usable_gpus, 1));
    double at_once = gpus / each;
    if (size_.throttle > 0) at_once = std::min(at_once, static_cast<double>(size_.throttle));
    const double rounds = static_cast<double>(size_.members) / at_once;
    return strategy.run.p50 * std::max(rounds, 1.0) + strategy.wait.p50;
  }

  // One for each set of nodes, with up to kMostShapes counts of GPUs and partitions, the best
  // throughput first. Where members wait, theirs alone.
  void FindLanes() {
    std::vector<size_t> order;
    for (size_t i = 0; i < ranked_.size(); ++i) {
      if (ranked_[i].segments == 1) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return Throughput(ranked_[a]) < Throughput(ranked_[b]);
    });
    std::set<size_t> waits;
    for (const WaitingShare& share : waiting_) {
      const auto at = std::find(order.begin(), order.end(), share.strategy);
      if (at == order.end()) continue;
      std::rotate(order.begin(), at, at + 1);
      waits.insert(share.strategy);
    }
    const size_t most = size_.members > kManyMembers ? 1 : kMostShapes;
    std::map<const Node*, size_t> taken;
    for (const size_t i : order) {
      const auto& nodes = ranked_[i].placement.pool->nodes;
      const auto in = std::find_if(nodes.begin(), nodes.end(),
                                   [&](const Node* node) { return taken.contains(node); });
      if (in == nodes.end() && lanes_.size() < kMostLanes) {
        for (const Node* node : nodes) taken[node] = lanes_.size();
        lanes_.push_back({i, size_.throttle});
        shapes_.push_back({i});
      } else if (in != nodes.end()) {
        std::vector<size_t>& shapes = shapes_[taken[*in]];
        if (!waits.contains(shapes.front()) && shapes.size() < most) shapes.push_back(i);
      }
    }
    for (const WaitingShare& share : waiting_) {
      const size_t lane = LaneOf(share);
      if (lane == lanes_.size()) continue;
      lanes_[lane].waiting += share.members;
      lanes_[lane].priority = std::max(lanes_[lane].priority, share.priority);
    }
  }

  // Puts an array of all members on each of `lanes` into the queue, to be played, and before it
  // one of those that wait there already.
  void PutIn(const std::vector<Lane>& lanes) {
    in_queue_ = lanes;
    std::vector<PlayedArray> arrays;
    for (const Lane& lane : lanes) {
      const Strategy& strategy = ranked_[lane.strategy];
      Submitter submitter = caller_;
      submitter.account = strategy.account;
      submitter.qos = strategy.qos;
      const auto add = [&](int64_t tasks, int64_t priority) {
        arrays.push_back({strategy.request, strategy.start, submitter,
                          ArrayShape{tasks, lane.throttle}, strategy.run.p50, priority});
      };
      if (lane.waiting > 0) add(lane.Kept(size_.members), lane.priority);
      add(size_.members, 0);
    }
    plays_ = std::make_unique<PlayedArrays>(context_.queue, arrays, samples_);
  }

  Lane OfShape(size_t lane, size_t shape) const {
    Lane other = lanes_[lane];
    other.strategy = shape;
    return other;
  }

  // All members in each lane, with the shape that is done first. False: no time for all.
  bool PlayAlone() {
    std::vector<Lane> all;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      for (const size_t shape : shapes_[lane]) all.push_back(OfShape(lane, shape));
    }
    PutIn(all);
    alone_.resize(lanes_.size());
    context_.for_each(lanes_.size(), [&](size_t lane) {
      for (const size_t shape : shapes_[lane]) {
        if (context_.BudgetSpent()) return;
        Played played = PlayThese({OfShape(lane, shape)}, {size_.members});
        const bool first = alone_[lane].empty();
        if (!first && RankedEndOf(played) >= RankedEndOf(alone_[lane])) continue;
        lanes_[lane].strategy = shape;
        alone_[lane] = std::move(played);
      }
    });
    if (context_.Stopped()) return false;
    for (size_t i = 1; i < lanes_.size(); ++i) {
      if (RankedEndOf(alone_[i]) < RankedEndOf(alone_[single_])) single_ = i;
    }
    on_single_ = alone_[single_];
    return true;
  }

  // Divides the throttle: the lanes that end a member first run as many as they can.
  void ShareThrottle() {
    if (size_.throttle <= 0 || size_.throttle >= size_.members) return;
    std::vector<size_t> order(lanes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return StrategyOf(a).total.p50 < StrategyOf(b).total.p50;
    });
    int64_t left = size_.throttle;
    for (const size_t lane : order) {
      lanes_[lane].throttle = std::min(left, MedianAtOnce(alone_[lane], 0));
      left -= lanes_[lane].throttle;
    }
    PutIn(lanes_);
    context_.for_each(lanes_.size(), [&](size_t i) {
      const int64_t throttle = lanes_[i].throttle;
      if (throttle == 0 || throttle == size_.throttle) return;
      alone_[i] = PlayThese({lanes_[i]}, {size_.members});
    });
  }

  // Whether its throttle leaves it anything.
  bool IsOpen(size_t lane) const { return size_.throttle <= 0 || lanes_[lane].throttle > 0; }

  // How many of the members that end first, of all lanes alone, are in each.
  std::vector<int64_t> Merge() const {
    const auto members = static_cast<size_t>(size_.members);
    std::vector<std::pair<double, size_t>> ends;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (!IsOpen(lane)) continue;
      std::vector<double> sum(members, 0);
      for (const auto& sample : alone_[lane]) {
        for (size_t i = 0; i < members; ++i) sum[i] += sample.front().ends[i];
      }
      for (const double each : sum) {
        ends.emplace_back(each / static_cast<double>(alone_[lane].size()), lane);
      }
    }
    std::sort(ends.begin(), ends.end());
    std::vector<int64_t> counts(lanes_.size(), 0);
    for (size_t i = 0; i < members; ++i) ++counts[ends[i].second];
    return counts;
  }

  // The mean makespan if lanes share nothing.
  double EndApart(const std::vector<int64_t>& counts) const {
    std::vector<double> spans(alone_.front().size(), 0);
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (counts[lane] == 0) continue;
      for (size_t sample = 0; sample < spans.size(); ++sample) {
        const LaneSample& played = alone_[lane][sample].front();
        spans[sample] = std::max(spans[sample], played.ends[static_cast<size_t>(counts[lane]) - 1]);
      }
    }
    return SpreadOfAll(std::move(spans)).mean;
  }

  // Moves members between lanes as long as that ends sooner: a lane that may be late gets fewer
  // members than its own mean would say. By the mean: quantiles of so few samples would be fitted.
  void Balance(std::vector<int64_t>& counts) const {
    double end = EndApart(counts);
    for (bool better = true; better;) {
      better = false;
      std::vector<int64_t> best = counts;
      for (size_t from = 0; from < lanes_.size(); ++from) {
        for (size_t to = 0; to < lanes_.size(); ++to) {
          if (from == to || !IsOpen(to)) continue;
          for (int64_t moved = counts[from]; moved > 0; moved /= 2) {
            std::vector<int64_t> other = counts;
            other[from] -= moved;
            other[to] += moved;
            const double then = EndApart(other);
            if (then >= end - 1) continue;
            end = then;
            best = std::move(other);
            better = true;
          }
        }
      }
      counts = std::move(best);
    }
  }

  // Moves members from the lane that ends last to the one that ends first, while that helps.
  void Improve(std::vector<int64_t>& counts, Played& played) const {
    double share = 1;
    for (int move = 0; move < kMostMoves && context_.HasRoomForExtras(); ++move) {
      std::vector<double> last(lanes_.size(), 0), rate(lanes_.size(), 0);
      size_t late = lanes_.size(), early = lanes_.size();
      for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        if (counts[lane] == 0) continue;
        double first = 0;
        for (const auto& sample : played) {
          last[lane] += sample[lane].ends.back() / static_cast<double>(played.size());
          first += sample[lane].starts.front() / static_cast<double>(played.size());
        }
        rate[lane] = (last[lane] - first) / static_cast<double>(counts[lane]);
        if (late == lanes_.size() || last[lane] > last[late]) late = lane;
        if (early == lanes_.size() || last[lane] < last[early]) early = lane;
      }
      if (late == early) return;
      const double both = std::max(rate[late] + rate[early], 1.0);
      const auto moved =
          std::min<int64_t>(std::llround(share * (last[late] - last[early]) / both), counts[late]);
      if (moved < 1) return;
      std::vector<int64_t> other = counts;
      other[late] -= moved;
      other[early] += moved;
      Played with = Play(other);
      if (RankedEndOf(with) < (1 - kWorthMoving) * RankedEndOf(played)) {
        counts = std::move(other);
        played = std::move(with);
      } else {
        share /= 2;
      }
    }
  }

  // What the members cost others.
  std::optional<CausedDelay> DelayBy(const std::vector<int64_t>& counts) const {
    if (!context_.HasRoomForExtras()) return {};
    return plays_->DelayOf(TasksOf(lanes_, counts), followed_);
  }

  // Moves members, half of a lane's or all, while the end and what others lose by it are together
  // less. An hour of a job of others counts, by the courtesy, as an hour of one of the runs.
  void Yield(std::vector<int64_t>& counts, Played& played, CausedDelay& delay) const {
    const double weight = context_.courtesy / static_cast<double>(size_.members);
    const auto cost = [&](const Played& of, const CausedDelay& others) {
      return RankedEndOf(of) + weight * others.seconds;
    };
    double least = cost(played, delay);
    for (bool better = true; better;) {
      better = false;
      const std::vector<int64_t> now = counts;
      for (size_t from = 0; from < lanes_.size(); ++from) {
        for (size_t to = 0; to < lanes_.size(); ++to) {
          if (from == to || now[from] == 0 || !IsOpen(to)) continue;
          for (const int64_t moved : {now[from], now[from] / 2}) {
            if (moved == 0 || !context_.HasRoomForExtras()) continue;
            std::vector<int64_t> other = now;
            other[from] -= moved;
            other[to] += moved;
            Played with = Play(other);
            const auto others = DelayBy(other);
            if (!others || cost(with, *others) >= (1 - kWorthMoving) * least) continue;
            least = cost(with, *others);
            counts = std::move(other);
            played = std::move(with);
            delay = *others;
            better = true;
          }
        }
      }
    }
  }

  // All lanes, of which some may have no members.
  Played Play(const std::vector<int64_t>& counts) const { return PlayThese(lanes_, counts); }

  Played Widened(const Played& one, size_t lane) const {
    Played all(one.size());
    for (size_t sample = 0; sample < one.size(); ++sample) {
      all[sample].resize(lanes_.size());
      all[sample][lane] = one[sample].front();
    }
    return all;
  }

  // Of each array in the queue the tasks, where `members` are in `lanes`.
  std::vector<int64_t> TasksOf(const std::vector<Lane>& lanes,
                               const std::vector<int64_t>& members) const {
    std::vector<int64_t> tasks;
    for (const Lane& queued : in_queue_) {
      const size_t i = PlaceOf(queued, lanes);
      const int64_t wanted = i < lanes.size() ? members[i] : 0;
      if (queued.waiting > 0) tasks.push_back(queued.Kept(wanted));
      tasks.push_back(wanted - queued.Kept(wanted));
    }
    return tasks;
  }

  static size_t PlaceOf(const Lane& lane, const std::vector<Lane>& lanes) {
    const auto same = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& each) {
      return each.strategy == lane.strategy;
    });
    return static_cast<size_t>(same - lanes.begin());
  }

  // By sample and lane.
  ArrayPlay StartsOf(const std::vector<Lane>& lanes, const std::vector<int64_t>& members) const {
    ArrayPlay all = plays_->Play(TasksOf(lanes, members));
    ArrayPlay starts(all.size(), std::vector<TaskStarts>(lanes.size()));
    size_t array = 0;
    for (const Lane& queued : in_queue_) {
      const size_t i = PlaceOf(queued, lanes), kept = array;
      array += queued.waiting > 0 ? 2 : 1;
      if (i == lanes.size()) continue;
      for (size_t sample = 0; sample < all.size(); ++sample) {
        TaskStarts& both = starts[sample][i];
        for (size_t part = kept; part < array; ++part) {
          both.insert(both.end(), all[sample][part].begin(), all[sample][part].end());
        }
        std::sort(both.begin(), both.end());
      }
    }
    return starts;
  }

  Played PlayThese(const std::vector<Lane>& lanes, const std::vector<int64_t>& members) const {
    const ArrayPlay starts = StartsOf(lanes, members);
    const std::vector<double> runs = RunQuantiles(starts.size());
    Played played(starts.size());
    for (size_t i = 0; i < lanes.size(); ++i) {
      const Strategy& strategy = ranked_[lanes[i].strategy];
      const std::vector<double> firsts = FirstStarts(strategy, starts, i);
      for (size_t sample = 0; sample < starts.size(); ++sample) {
        played[sample].push_back(
            MembersOf(strategy, starts[sample][i], firsts[sample], members[i], runs[sample]));
      }
    }
    return played;
  }

  // The first member's start in each sample: as simulated, moved by what the forecast of a single
  // job differs from its simulation, at the same quantile.
  std::vector<double> FirstStarts(const Strategy& strategy, const ArrayPlay& starts,
                                  size_t array) const {
    std::vector<int64_t> firsts;
    for (const auto& sample : starts) {
      const TaskStarts& tasks = sample[array];
      firsts.push_back(tasks.empty() ? context_.queue.options().horizon_seconds : tasks.front());
    }
    std::vector<size_t> order(firsts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return firsts[a] < firsts[b]; });
    std::vector<int64_t> alone = strategy.start.simulated_wait_seconds;
    std::sort(alone.begin(), alone.end());
    std::vector<double> moved(firsts.size());
    for (size_t place = 0; place < order.size(); ++place) {
      const double q = (static_cast<double>(place) + .5) / static_cast<double>(order.size());
      const double by = strategy.start.Quantile(q) - InterpolatedQuantile(alone, q);
      moved[order[place]] = std::max(static_cast<double>(firsts[order[place]]) + by, 0.0);
    }
    return moved;
  }

  // A standard normal quantile for each sample, spread evenly in random order: how much longer the
  // sweep's runs take than their median.
  std::vector<double> RunQuantiles(size_t samples) const {
    std::vector<std::pair<double, size_t>> order;
    for (size_t sample = 0; sample < samples; ++sample) {
      order.emplace_back(DrawUniform(context_.queue.options().seed, sample, kRunOfSweep), sample);
    }
    std::sort(order.begin(), order.end());
    std::vector<double> quantiles(samples);
    for (size_t place = 0; place < samples; ++place) {
      const double p = (static_cast<double>(place) + .5) / static_cast<double>(samples);
      quantiles[order[place].second] = NormalQuantile(p);
    }
    return quantiles;
  }

  // Starts and ends of one lane in one sample: `tasks` moved to begin at `first`, and stretched by
  // the run time at `quantile`. Members that were not played lie beyond the horizon.
  LaneSample MembersOf(const Strategy& strategy, const TaskStarts& tasks, double first,
                       int64_t members, double quantile) const {
    const double factor = std::exp(strategy.run_sigma * quantile);
    const auto horizon = static_cast<double>(context_.queue.options().horizon_seconds);
    LaneSample lane;
    for (size_t i = 0; i < static_cast<size_t>(members); ++i) {
      const double start = i < tasks.size()
                               ? first + static_cast<double>(tasks[i] - tasks.front()) * factor
                               : std::max(horizon, first);
      lane.starts.push_back(start);
      lane.ends.push_back(start + strategy.run.p50 * factor);
    }
    return lane;
  }

  static std::vector<double> Makespans(const Played& played) {
    std::vector<double> spans;
    for (const auto& sample : played) {
      double last = 0;
      for (const LaneSample& lane : sample) {
        if (!lane.ends.empty()) last = std::max(last, lane.ends.back());
      }
      spans.push_back(last);
    }
    return spans;
  }

  static double RankedEndOf(const Played& played) {
    const Spread span = SpreadOfAll(Makespans(played));
    return RankedEnd(span.p50, span.p90);
  }

  double HalfDone(const Played& played) const {
    std::vector<double> halves;
    for (const auto& sample : played) {
      std::vector<double> ends;
      for (const LaneSample& lane : sample) {
        ends.insert(ends.end(), lane.ends.begin(), lane.ends.end());
      }
      const auto middle = ends.begin() + static_cast<std::ptrdiff_t>((ends.size() - 1) / 2);
      std::nth_element(ends.begin(), middle, ends.end());
      halves.push_back(*middle);
    }
    return SpreadOfAll(std::move(halves)).p50;  // as the makespan's, which is never before it
  }

  // The lane on whose nodes the share waits; the number of lanes: none.
  size_t LaneOf(const WaitingShare& share) const {
    if (share.strategy >= ranked_.size()) return lanes_.size();
    const Node* node = ranked_[share.strategy].placement.pool->nodes.front();
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      const auto& nodes = StrategyOf(lane).placement.pool->nodes;
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return lane;
    }
    return lanes_.size();
  }

  // How many wait in each lane; nullopt: nothing waits, or only some of the members, or some in no
  // lane.
  std::optional<std::vector<int64_t>> CountsAsTheyWait() const {
    std::vector<int64_t> counts;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      counts.push_back(lanes_[lane].waiting);
      if (counts[lane] > 0 && !IsOpen(lane)) return {};
    }
    if (std::accumulate(counts.begin(), counts.end(), int64_t{0}) != size_.members) return {};
    return counts;
  }

  // What waits on no lane may never start. nullopt: not known of all members where they wait.
  std::optional<Spread> AsItWaits() const {
    if (const auto counts = CountsAsTheyWait()) return SpreadOfAll(Makespans(Play(*counts)));
    int64_t found = 0;
    bool nowhere = false;
    for (const WaitingShare& share : waiting_) {
      found += share.members;
      nowhere = nowhere || LaneOf(share) == lanes_.size();
    }
    if (!nowhere || found != size_.members) return {};
    const auto horizon = static_cast<double>(context_.queue.options().horizon_seconds);
    return Spread{horizon, horizon, horizon, horizon};
  }

  SweepPlan Describe(const std::vector<int64_t>& counts, const Played& played,
                     const std::optional<CausedDelay>& delay) const {
    SweepPlan plan;
    plan.delay = delay;
    plan.makespan = SpreadOfAll(Makespans(played));
    plan.half_done = HalfDone(played);
    plan.as_it_waits = AsItWaits();
    plan.single = lanes_[single_].strategy;
    plan.single_makespan = SpreadOfAll(Makespans(on_single_));
    const auto horizon = static_cast<double>(context_.queue.options().horizon_seconds);
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (counts[lane] == 0) continue;
      const int64_t throttle = std::min(lanes_[lane].throttle, counts[lane]);  // 0: none
      SweepShare share{lanes_[lane].strategy, counts[lane], throttle, 0, 0, {}};
      std::vector<double> firsts, lasts;
      for (const auto& sample : played) {
        firsts.push_back(sample[lane].starts.front());
        lasts.push_back(sample[lane].ends.back());
      }
      share.first_start = UpperMedian(std::move(firsts));
      share.last_end = SpreadOfAll(std::move(lasts));
      share.at_a_time = MedianAtOnce(played, lane);
      plan.later_than_played = plan.later_than_played || share.last_end.p50 >= horizon;
      plan.gpu_hours += static_cast<double>(share.members) * StrategyOf(lane).gpu_hours;
      plan.shares.push_back(share);
    }
    std::sort(plan.shares.begin(), plan.shares.end(),
              [](const SweepShare& a, const SweepShare& b) { return a.strategy < b.strategy; });
    return plan;
  }

  const AdviceContext& context_;
  const Submitter& caller_;
  const std::vector<Strategy>& ranked_;
  const SweepSize size_;
  const std::vector<WaitingShare>& waiting_;
  const size_t samples_;  // the same for all plays, which are compared sample by sample
  std::vector<Lane> lanes_;
  std::vector<std::vector<size_t>> shapes_;  // by lane: strategies that it may have
  std::vector<Lane> in_queue_;               // the arrays of plays_
  std::unique_ptr<PlayedArrays> plays_;
  std::vector<Played> alone_;  // by lane, all members in it
  double followed_ = 0;        // seconds; the same for all splits
  size_t single_ = 0;          // the lane that ends first with all members
  Played on_single_;           // and those
};

}  // namespace

std::optional<SweepPlan> PlanSweep(const AdviceContext& context, const Submitter& caller,
                                   const std::vector<Strategy>& ranked, const SweepSize& size,
                                   const std::vector<WaitingShare>& waiting) {
  return SweepPlanner(context, caller, ranked, size, waiting).Plan();
}

}  // namespace gpuadvise
