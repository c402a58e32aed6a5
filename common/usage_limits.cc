#include "common/usage_limits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/policy.h"
#include "common/request_tres.h"

namespace gpuadvise {

int32_t NameTable::Add(const std::string& name) {
  return ids_.emplace(name, static_cast<int32_t>(ids_.size())).first->second;
}

int32_t NameTable::Find(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? -1 : found->second;
}

/// One limit: who counts, and how much they may have together.
struct UsageBook::Cap {
  int32_t user = -1;     // -1: any
  int32_t account = -1;  // that account or one below it; -1: any
  int32_t qos = -1;      // as the job's or the partition's; -1: any
  TresCounts most;
  SlurmNumber jobs;
};

UsageBook::UsageBook(const Snapshot& snapshot)
    : keeps_books_(EnforcedBy(snapshot.config.enforce).limits) {
  if (!keeps_books_) return;
  for (const Association& assoc : snapshot.associations) {
    if (!assoc.user.empty()) continue;
    std::vector<int32_t>& line = ancestors_[names_.Add(assoc.account)];
    for (const Association* each : WithParents(snapshot, assoc)) {
      line.push_back(names_.Add(each->account));
    }
  }
}

JobUse UsageBook::UseOf(const Job& owner, const Partition* partition, int64_t start, int64_t end,
                        TresCounts tres) {
  JobUse use;
  use.user = names_.Add(owner.user);
  use.account = names_.Add(owner.account);
  use.qos = names_.Add(owner.qos);
  if (partition != nullptr && !partition->qos.empty())
    use.partition_qos = names_.Add(partition->qos);
  use.start = start;
  use.end = end;
  use.tres = std::move(tres);
  return use;
}

void UsageBook::AddRunning(JobUse use) {
  if (keeps_books_) running_.push_back(std::move(use));
}

void UsageBook::AddPlanned(JobUse use, size_t position) {
  if (keeps_books_) planned_.emplace_back(position, std::move(use));
}

std::vector<UsageBook::Cap> UsageBook::CapsOf(const Authority& authority,
                                              const Submitter& submitter) const {
  std::vector<Cap> caps;
  const int32_t user = names_.Find(submitter.user);
  TresCounts grouped;  // limited by a QOS: the associations' limits of these do not apply
  for (const Qos* qos : {authority.partition_qos, authority.qos}) {
    if (qos == nullptr ||
        (qos == authority.qos && !caps.empty() && authority.qos == authority.partition_qos)) {
      continue;
    }
    const int32_t id = names_.Find(qos->name);
    const int32_t account =
        authority.association == nullptr ? -1 : names_.Find(authority.association->account);
    if (id < 0) continue;  // nobody uses it
    const Limits& limits = qos->limits;
    grouped.insert(limits.group_tres.begin(), limits.group_tres.end());
    caps.push_back({-1, -1, id, limits.group_tres, limits.group_jobs});
    if (user >= 0) caps.push_back({user, -1, id, limits.max_tres_per_user, limits.max_jobs});
    if (account >= 0) caps.push_back({-1, account, id, limits.max_tres_per_account, {}});
  }
  for (const Association* assoc : authority.chain) {
    Cap cap{-1, names_.Find(assoc->account), -1, assoc->limits.group_tres,
            assoc->limits.group_jobs};
    for (const auto& [name, count] : grouped) cap.most.erase(name);
    if (!assoc->user.empty()) {
      cap.user = user;
      if (assoc->limits.max_jobs.has_value())
        caps.push_back({user, cap.account, -1, {}, assoc->limits.max_jobs});
    }
    if (cap.account >= 0 && (assoc->user.empty() || user >= 0)) caps.push_back(std::move(cap));
  }
  std::erase_if(caps, [](const Cap& cap) { return cap.most.empty() && !cap.jobs.has_value(); });
  return caps;
}

bool UsageBook::Counts(const Cap& cap, const JobUse& use) const {
  if (cap.user >= 0 && use.user != cap.user) return false;
  if (cap.qos >= 0 && use.qos != cap.qos && use.partition_qos != cap.qos) return false;
  if (cap.account < 0 || use.account == cap.account) return true;
  const auto line = ancestors_.find(use.account);
  return line != ancestors_.end() &&
         std::find(line->second.begin(), line->second.end(), cap.account) != line->second.end();
}

int64_t UsageBook::FirstBelow(const Cap& cap, const TresCounts& wanted, size_t position,
                              int64_t from) const {
  std::vector<const JobUse*> counted;
  for (const JobUse& use : running_) {
    if (use.end > from && Counts(cap, use)) counted.push_back(&use);
  }
  for (const auto& [place, use] : planned_) {
    if (place >= position) break;
    if (use.end > from && Counts(cap, use)) counted.push_back(&use);
  }
  if (counted.empty()) return from;
  std::map<int64_t, std::pair<TresCounts, int64_t>>
      changes;  // time -> TRES and jobs more (or less)
  changes[from];
  for (const JobUse* use : counted) {
    auto& up = changes[std::max(use->start, from)];
    auto& down = changes[use->end];
    ++up.second;
    --down.second;
    for (const auto& [name, limit] : cap.most) {
      const auto used = use->tres.find(CanonicalTres(name));
      if (used == use->tres.end()) continue;
      up.first[name] += used->second;
      down.first[name] -= used->second;
    }
  }
  TresCounts in_use;
  int64_t jobs = 0;
  for (const auto& [time, change] : changes) {
    for (const auto& [name, more] : change.first) in_use[name] += more;
    jobs += change.second;
    if (time >= kNever) break;
    bool fits = !cap.jobs.has_value() || jobs < cap.jobs.value();
    for (const auto& [name, limit] : cap.most) {
      const auto want = wanted.find(CanonicalTres(name));
      if (want != wanted.end() && in_use[name] + want->second > limit) fits = false;
    }
    if (fits) return time;
  }
  return kNever;
}

int64_t UsageBook::FirstAllowed(const Authority& authority, const Submitter& submitter,
                                const TresCounts& wanted, size_t position, int64_t from) const {
  if (!keeps_books_) return from;
  const std::vector<Cap> caps = CapsOf(authority, submitter);
  for (size_t agreed = 0; agreed < caps.size() && from < kNever;) {
    agreed = 0;
    for (const Cap& cap : caps) {
      const int64_t allowed = FirstBelow(cap, wanted, position, from);
      if (allowed > from) {
        from = allowed;
        break;
      }
      ++agreed;
    }
  }
  return from;
}

}  // namespace gpuadvise
