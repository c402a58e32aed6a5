#include "common/scheduler/node_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/host_list.h"
#include "common/base/words.h"
#include "common/slurm/feature_expression.h"

namespace gpuadvise {
namespace {

using Members = std::vector<int32_t>;

const PoolNode& At(const NodePool& pool, int32_t node) {
  return pool.nodes()[static_cast<size_t>(node)];
}

std::string Names(const NodePool& pool, const Members& nodes) {
  std::vector<std::string> names;
  for (const int32_t node : nodes) names.push_back(At(pool, node).name);
  std::string text = CompressHostList(names);
  if (text.size() > 80) return Plural(static_cast<int64_t>(names.size()), "node");
  return text;
}

std::string DescribeNeed(const NodePool& pool, const JobRequirements& requirements) {
  std::vector<std::string> parts;
  for (const GpuNeed& need : requirements.gpus_per_node) {
    parts.push_back(need.type < 0 ? Plural(need.count, "GPU")
                                  : fmt::format("{} × {}", need.count,
                                                pool.gpu_types()[static_cast<size_t>(need.type)]));
  }
  if (requirements.shards_per_node > 0)
    parts.push_back(Plural(requirements.shards_per_node, "shard"));
  if (requirements.mps_per_node > 0)
    parts.push_back(fmt::format("{} of gres/mps", requirements.mps_per_node));
  return JoinNames(parts);
}

template <typename Predicate>
Members Keep(const Members& nodes, const Predicate& good) {
  Members kept;
  kept.reserve(nodes.size());
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(kept), good);
  return kept;
}

Result<Members> Resolve(const NodePool& pool, const std::vector<std::string>& names) {
  Members nodes;
  for (const std::string& name : names) {
    const int32_t node = pool.FindNode(name);
    if (node < 0) {
      std::vector<std::string> all;
      for (const PoolNode& other : pool.nodes()) all.push_back(other.name);
      return Fail(ErrorCode::kNotFound,
                  fmt::format("there is no node '{}'{}", name, DidYouMean(name, all)));
    }
    nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Those for which `good` says so, which is asked of one node of each kind.
template <typename Predicate>
Members KeepKinds(const NodePool& pool, const Members& nodes, const Predicate& good) {
  std::vector<std::optional<bool>> known(static_cast<size_t>(pool.kinds()));
  return Keep(nodes, [&](int32_t node) {
    std::optional<bool>& value = known[static_cast<size_t>(pool.KindOf(node))];
    if (!value) value = good(At(pool, node));
    return *value;
  });
}

// Checks one need after the other; each narrows `nodes` or returns an error.
class Filter {
 public:
  Filter(const NodePool& pool, const Partition& partition, const Members& members,
         const JobRequest& request, JobRequirements& requirements)
      : pool_(pool),
        partition_(partition),
        request_(request),
        requirements_(requirements),
        nodes_(members) {}

  Result<void> Run() {
    for (const auto step : {&Filter::Reserved, &Filter::Features, &Filter::Excluded, &Filter::Gpus,
                            &Filter::Cpus, &Filter::Memory, &Filter::Everything, &Filter::Required,
                            &Filter::Grow, &Filter::Usable}) {
      auto done = (this->*step)();
      if (!done) return done;
    }
    requirements_.nodes = std::make_shared<const Members>(std::move(nodes_));
    return {};
  }

 private:
  bool Enough(const Members& nodes) const {
    return static_cast<int64_t>(nodes.size()) >= requirements_.nodes_min;
  }

  // Narrows to `kept`; if too few, the error is "partition P WHAT".
  Result<void> Narrow(Members kept, const std::function<std::string()>& what) {
    if (!Enough(kept)) {
      return Fail(ErrorCode::kInfeasible, fmt::format("partition {} {}", partition_.name, what()));
    }
    nodes_ = std::move(kept);
    return {};
  }

  std::string OnlySoMany(const Members& kept, std::string_view with) const {
    const std::string wanted = Plural(requirements_.nodes_min, "node");
    if (kept.empty()) return fmt::format("has no node {}", with);
    return fmt::format("has only {} {} ({}), not {}",
                       Plural(static_cast<int64_t>(kept.size()), "node"), with, Names(pool_, kept),
                       wanted);
  }

  Result<void> Reserved() {
    if (requirements_.reservation < 0)
      return Narrow(nodes_, [&] { return OnlySoMany(nodes_, "in all"); });
    const Reservation& held = pool_.reservations()[static_cast<size_t>(requirements_.reservation)];
    const std::set<std::string> names(held.nodes.begin(), held.nodes.end());
    Members kept = Keep(nodes_, [&](int32_t n) { return names.contains(At(pool_, n).name); });
    return Narrow(kept,
                  [&] { return OnlySoMany(kept, fmt::format("in reservation '{}'", held.name)); });
  }

  Result<void> Features() {
    auto wanted = FeatureExpression::Parse(request_.features);
    if (!wanted) return tl::unexpected(wanted.error());
    if (wanted->names().empty()) return {};
    Members kept = Keep(nodes_, [&](int32_t n) { return wanted->Accepts(At(pool_, n).features); });
    return Narrow(kept, [&] {
      std::set<std::string> known;
      for (const int32_t n : nodes_) {
        known.insert(At(pool_, n).features.begin(), At(pool_, n).features.end());
      }
      const std::vector<std::string> names(known.begin(), known.end());
      return fmt::format("{}; its features are {}",
                         OnlySoMany(kept, fmt::format("with -C '{}'", request_.features)),
                         names.empty() ? "none" : JoinNames(names));
    });
  }

  Result<void> Excluded() {
    auto excluded = Resolve(pool_, request_.excluded_nodes);
    if (!excluded) return tl::unexpected(excluded.error());
    if (excluded->empty()) return {};
    Members kept = Keep(nodes_, [&](int32_t n) {
      return !std::binary_search(excluded->begin(), excluded->end(), n);
    });
    return Narrow(kept, [&] { return OnlySoMany(kept, "left after the excluded ones"); });
  }

  Result<void> Gpus() {
    if (requirements_.gpus_per_node.empty() && requirements_.shards_per_node == 0 &&
        requirements_.mps_per_node == 0) {
      return {};
    }
    JobRequirements only;
    only.tasks = 0;
    only.gpus_per_node = requirements_.gpus_per_node;
    only.shards_per_node = requirements_.shards_per_node;
    only.mps_per_node = requirements_.mps_per_node;
    Members kept = KeepKinds(pool_, nodes_, [&](const PoolNode& node) {
      return CanServe(pool_, node, only, node.capacity, 0);
    });
    return Narrow(kept, [&] {
      return fmt::format("{}; its GPUs are {}",
                         OnlySoMany(kept, "with " + DescribeNeed(pool_, requirements_)),
                         DescribeGpus(pool_, nodes_));
    });
  }

  int64_t CpusPerNode() const {  // required of every node of the job
    const int64_t tasks =
        requirements_.nodes_max == 1 && request_.nodes_max > 0 ? requirements_.tasks : 1;
    return requirements_.cpus(tasks);
  }

  Result<void> Cpus() {
    const int64_t cpus = CpusPerNode();
    if (cpus > requirements_.max_cpus_per_node) {
      return Fail(ErrorCode::kInfeasible,
                  fmt::format("partition {} gives a job at most {} CPUs on a node, not {}",
                              partition_.name, requirements_.max_cpus_per_node, cpus));
    }
    Members kept =
        KeepKinds(pool_, nodes_, [&](const PoolNode& node) { return node.cpus_of_a_job >= cpus; });
    return Narrow(kept, [&] {
      int64_t most = 0;
      for (const int32_t n : nodes_) most = std::max(most, At(pool_, n).cpus_of_a_job);
      return fmt::format("{}; its nodes that fit otherwise have up to {}",
                         OnlySoMany(kept, "with " + Plural(cpus, "CPU")), most);
    });
  }

  Result<void> Memory() {
    const SlurmNumber most = partition_.max_memory_per_node_mib;
    if (most.value_or(0) > 0 && requirements_.memory_per_node_mib > most.value()) {
      return Fail(ErrorCode::kInfeasible,
                  fmt::format("partition {} gives a job at most {} MiB of memory per node, not {}",
                              partition_.name, most.value(), requirements_.memory_per_node_mib));
    }
    const int64_t memory = std::max(requirements_.memory_per_node_mib,
                                    requirements_.memory_per_cpu_mib * CpusPerNode());
    Members kept = KeepKinds(
        pool_, nodes_, [&](const PoolNode& node) { return node.capacity.memory_mib >= memory; });
    return Narrow(kept, [&] {
      int64_t largest = 0;
      for (const int32_t n : nodes_) largest = std::max(largest, At(pool_, n).capacity.memory_mib);
      return fmt::format("{}; its nodes that fit otherwise have up to {} MiB",
                         OnlySoMany(kept, fmt::format("with {} MiB of memory", memory)), largest);
    });
  }

  Result<void> Everything() {
    Members kept = KeepKinds(pool_, nodes_, [&](const PoolNode& node) {
      return TasksThatFit(pool_, node, requirements_, node.capacity, 1) > 0 &&
             HasSomeOf(node, node.capacity, requirements_.gpus_total);
    });
    return Narrow(kept, [&] { return OnlySoMany(kept, "that has all this at once"); });
  }

  Result<void> Required() {
    auto required = Resolve(pool_, request_.required_nodes);
    if (!required) return tl::unexpected(required.error());
    for (const int32_t node : *required) {
      if (std::binary_search(nodes_.begin(), nodes_.end(), node)) continue;
      return Fail(ErrorCode::kInfeasible,
                  fmt::format("node {} cannot run this job in partition {}; leave it out of the "
                              "required nodes",
                              At(pool_, node).name, partition_.name));
    }
    requirements_.required = std::move(*required);
    return {};
  }

  // Raises nodes_min to fit the tasks and each GPU total on empty nodes.
  Result<void> Grow() {
    int64_t needed = requirements_.nodes_min;
    needed = std::max(needed, NodesFor(requirements_.tasks, [&](const PoolNode& node) {
                        return TasksThatFit(pool_, node, requirements_, node.capacity,
                                            requirements_.tasks);
                      }));
    for (const GpuNeed& need : requirements_.gpus_total) {
      needed = std::max(needed, NodesFor(need.count, [&](const PoolNode& node) {
                          return FreeGpus(node, node.capacity, need.type);
                        }));
    }
    const bool fixed = request_.nodes_max > 0;
    if (needed == kNever || (fixed && needed > requirements_.nodes_max)) return TooMuchInAll();
    requirements_.nodes_max = std::max(requirements_.nodes_max, needed);
    if (requirements_.nodes_max > 1) return {};
    Members alone =
        KeepKinds(pool_, nodes_, [&](const PoolNode& node) { return ServesAlone(node); });
    if (alone.empty() && fixed) return TooMuchInAll();
    if (alone.empty()) {
      requirements_.nodes_max = 2;  // one has the CPUs, the other the GPUs
    } else {
      nodes_ = std::move(alone);
    }
    return {};
  }

  tl::unexpected<Error> TooMuchInAll() const {
    std::string total = Plural(requirements_.cpus(requirements_.tasks), "CPU");
    for (const GpuNeed& need : requirements_.gpus_total) {
      total += " and " + (need.type < 0
                              ? Plural(need.count, "GPU")
                              : fmt::format("{} × {}", need.count,
                                            pool_.gpu_types()[static_cast<size_t>(need.type)]));
    }
    return Fail(
        ErrorCode::kInfeasible,
        fmt::format("partition {} cannot give {} to {}; its GPUs are {}", partition_.name, total,
                    Plural(requirements_.nodes_max, "node"), DescribeGpus(pool_, nodes_)));
  }

  bool ServesAlone(const PoolNode& node) const {
    if (!CanServe(pool_, node, requirements_, node.capacity, requirements_.tasks)) return false;
    return std::all_of(requirements_.gpus_total.begin(), requirements_.gpus_total.end(),
                       [&](const GpuNeed& need) {
                         return FreeGpus(node, node.capacity, need.type) >= need.count;
                       });
  }

  // Number of best nodes that together give `wanted`; kNever if all do not.
  int64_t NodesFor(int64_t wanted, const std::function<int64_t(const PoolNode&)>& offer) const {
    struct Kind {
      int64_t offer = 0;
      int64_t nodes = 0;
    };
    std::vector<Kind> kinds(static_cast<size_t>(pool_.kinds()));
    for (const int32_t node : nodes_) {
      Kind& kind = kinds[static_cast<size_t>(pool_.KindOf(node))];
      if (kind.nodes++ == 0) kind.offer = offer(At(pool_, node));
    }
    std::sort(kinds.begin(), kinds.end(),
              [](const Kind& a, const Kind& b) { return a.offer > b.offer; });
    if (wanted <= 0) return nodes_.empty() ? kNever : 1;
    int64_t nodes = 0;
    for (const Kind& kind : kinds) {
      if (kind.offer <= 0) break;
      const int64_t of_this = (wanted + kind.offer - 1) / kind.offer;
      if (of_this <= kind.nodes) return nodes + of_this;
      nodes += kind.nodes;
      wanted -= kind.nodes * kind.offer;
    }
    return kNever;
  }

  Result<void> Usable() {
    Members kept = Keep(nodes_, [&](int32_t n) { return At(pool_, n).usable; });
    Members down = Keep(nodes_, [&](int32_t n) { return !At(pool_, n).usable; });
    const bool all_required = std::includes(
        kept.begin(), kept.end(), requirements_.required.begin(), requirements_.required.end());
    if (!all_required || !Enough(kept)) {
      return Fail(
          ErrorCode::kInfeasible,
          fmt::format("the nodes of partition {} that could run this are out of service: {} "
                      "is {}",
                      partition_.name, Names(pool_, down),
                      down.empty() ? "missing" : At(pool_, down.front()).why_unusable));
    }
    nodes_ = std::move(kept);
    return {};
  }

  const NodePool& pool_;
  const Partition& partition_;
  const JobRequest& request_;
  JobRequirements& requirements_;
  Members nodes_;
};

}  // namespace

std::string DescribeGpus(const NodePool& pool, const std::vector<int32_t>& nodes) {
  std::map<std::pair<std::string, int64_t>, int64_t> kinds;  // type and count per node -> nodes
  for (const int32_t n : nodes) {
    const PoolNode& node = At(pool, n);
    for (size_t slot = 0; slot < node.gpu_types.size(); ++slot) {
      const std::string& type = pool.gpu_types()[static_cast<size_t>(node.gpu_types[slot])];
      ++kinds[{type, node.capacity.gpus[slot]}];
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) {
    parts.push_back(fmt::format("{} × {} on {}", kind.second,
                                kind.first.empty() ? "untyped" : kind.first,
                                Plural(count, "node")));
  }
  return parts.empty() ? "none" : JoinNames(parts);
}

tl::unexpected<Error> NoSuchGpu(const NodePool& pool, const Partition& partition,
                                const std::vector<int32_t>& members, std::string_view type) {
  return Fail(ErrorCode::kInfeasible,
              fmt::format("no node of this cluster has GPUs of type {}{}; those of partition {} "
                          "are {}",
                          Quoted(type), DidYouMean(type, pool.gpu_types()), partition.name,
                          DescribeGpus(pool, members)));
}

tl::unexpected<Error> NoSuchReservation(const NodePool& pool, std::string_view name,
                                        bool names_are_private) {
  if (names_are_private) {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no reservation {}", Quoted(name)));
  }
  std::vector<std::string> names;
  for (const Reservation& reservation : pool.reservations()) names.push_back(reservation.name);
  return Fail(ErrorCode::kNotFound,
              fmt::format("there is no reservation {}{}; {}", Quoted(name), DidYouMean(name, names),
                          names.empty() ? "there are none" : "there are " + JoinNames(names)));
}

Result<void> ChooseNodes(const NodePool& pool, const Partition& partition,
                         const std::vector<int32_t>& members, const JobRequest& request,
                         JobRequirements& requirements) {
  return Filter(pool, partition, members, request, requirements).Run();
}

}  // namespace gpuadvise
