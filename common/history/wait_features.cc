#include "common/history/wait_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "common/base/unix_time.h"

namespace gpuadvise {
namespace {

std::string ShapeKey(const JobRecord& job) {
  return fmt::format("{}|{}|{}|{}|{}", job.partition, job.gpu, job.nodes, SizeOf(job),
                     job.limit_seconds.value_or(0) / 3600);
}

void AppendJob(const JobRecord& job, UnixSeconds now, std::vector<float>& features) {
  const auto limit = static_cast<double>(job.limit_seconds.value_or(0));
  const auto size = static_cast<double>(SizeOf(job));
  const double hour = std::fmod(static_cast<double>(now), kDaySeconds) / kDaySeconds * 2 * M_PI;
  const double day = std::fmod(static_cast<double>(now) / kDaySeconds, 7) / 7 * 2 * M_PI;
  features.insert(features.end(),
                  {LogFeature(static_cast<double>(job.nodes)), LogFeature(size), LogFeature(limit),
                   LogFeature(size * limit), static_cast<float>(std::sin(hour)),
                   static_cast<float>(std::cos(hour)), static_cast<float>(std::sin(day)),
                   static_cast<float>(std::cos(day))});
}

void AppendSimulated(const SimulatedWait& simulated, std::vector<float>& features) {
  features.insert(
      features.end(),
      {simulated.free_now ? 1.0F : 0.0F, static_cast<float>(simulated.free_share),
       LogFeature(static_cast<double>(simulated.jobs_before)),
       LogFeature(static_cast<double>(simulated.jobs_competing)),
       LogFeature(static_cast<double>(simulated.held_jobs)),
       LogFeature(simulated.plan_limits_seconds), LogFeature(simulated.plan_last_two_seconds)});
  for (const double q : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    features.push_back(LogFeature(simulated.simulation.Quantile(q)));
  }
}

}  // namespace

double RecentUse::Decayed::At(UnixSeconds now, double half_life) const {
  return value * std::exp2(-std::max(static_cast<double>(now - at), 0.0) / half_life);
}

void RecentUse::Decayed::Add(double more, UnixSeconds now, double half_life) {
  value = At(now, half_life) + more;
  at = now;
}

void RecentUse::Submitted(const JobRecord& job, UnixSeconds at) {
  submitted_["u" + job.user].Add(1, at, kDaySeconds);
  submitted_["p" + job.partition + job.gpu].Add(1, at, kHourSeconds);
}

void RecentUse::Started(const JobRecord& job, double wait_seconds, UnixSeconds at) {
  started_["p" + job.partition + job.gpu].Add(1, at, kHourSeconds);
  started_["u" + job.user].Add(1, at, kDaySeconds);
  const double logged = std::log(std::max(wait_seconds, 0.0) + 60);
  for (const std::string& key :
       {"u" + job.user, "s" + ShapeKey(job), "p" + job.partition + job.gpu}) {
    LastWaits& waits = waits_[key];
    waits.mean = waits.last < 0 ? logged : 0.7 * waits.mean + 0.3 * logged;
    waits.last = std::max(wait_seconds, 0.0);
    waits.at = at;
  }
}

void RecentUse::Ended(const JobRecord& job, UnixSeconds at) {
  if (!job.start) return;
  const double work =
      static_cast<double>(SizeOf(job)) * std::max(static_cast<double>(at - *job.start), 0.0);
  use_["u" + job.user].Add(work, at, 7 * kDaySeconds);
  if (!job.account.empty()) use_["a" + job.account].Add(work, at, 7 * kDaySeconds);
}

double RecentUse::Look(const Sums& sums, const std::string& key, UnixSeconds now,
                       double half_life) {
  const auto found = sums.find(key);
  return found == sums.end() ? 0 : found->second.At(now, half_life);
}

void RecentUse::Append(const JobRecord& job, UnixSeconds now, std::vector<float>& features) const {
  const std::string pool = "p" + job.partition + job.gpu;
  features.insert(features.end(), {LogFeature(Look(use_, "u" + job.user, now, 7 * kDaySeconds)),
                                   LogFeature(Look(use_, "a" + job.account, now, 7 * kDaySeconds)),
                                   LogFeature(Look(submitted_, "u" + job.user, now, kDaySeconds)),
                                   LogFeature(Look(submitted_, pool, now, kHourSeconds)),
                                   LogFeature(Look(started_, pool, now, kHourSeconds)),
                                   LogFeature(Look(started_, "u" + job.user, now, kDaySeconds))});
  for (const std::string& key : {"u" + job.user, "s" + ShapeKey(job), pool}) {
    const auto found = waits_.find(key);
    const bool known = found != waits_.end();
    features.push_back(known ? LogFeature(found->second.last) : -1.0F);
    features.push_back(known ? static_cast<float>(found->second.mean) : 0.0F);
    features.push_back(known ? LogFeature(static_cast<double>(now - found->second.at)) : 20.0F);
  }
}

std::vector<float> ComputeWaitFeatures(const QueueFeatures& queue, const JobRecord& job,
                                       const SimulatedWait& simulated, const RecentUse& recent,
                                       const WaitDistribution& like_states,
                                       const WaitDistribution& in_partition) {
  std::vector<float> features;
  features.reserve(kWaitFeatures);
  AppendJob(job, queue.taken_at(), features);
  AppendSimulated(simulated, features);
  queue.Append(job, features);
  recent.Append(job, queue.taken_at(), features);
  for (const WaitDistribution* waits : {&like_states, &in_partition}) {
    for (const double q : {0.25, 0.5, 0.75, 0.9})
      features.push_back(LogFeature(waits->Quantile(q)));
  }
  assert(features.size() == kWaitFeatures);
  return features;
}

}  // namespace gpuadvise
