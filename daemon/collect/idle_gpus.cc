#include "daemon/collect/idle_gpus.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/words.h"

namespace gpuadvise::collect {
namespace {

// The nodes' numbers by the names that the query gives: whole, without a port, or without a domain
// where no two share what is left.
class IdleByName {
 public:
  explicit IdleByName(const std::map<std::string, int64_t>& named) {
    for (const auto& [name, count] : named) {
      std::set<std::string> parts = {name, name.substr(0, name.rfind(':'))};
      parts.insert(name.substr(0, name.find_first_of(".:")));
      for (const std::string& part : parts) counts_[part].push_back(count);
    }
    for (const auto& [name, count] : named) counts_[name] = {count};
  }

  std::optional<int64_t> Of(const std::string& node) const {
    const auto found = counts_.find(node);
    if (found == counts_.end() || found->second.size() > 1) return std::nullopt;
    return found->second.front();
  }

 private:
  std::map<std::string, std::vector<int64_t>> counts_;
};

class IdleGpusSource : public Source {
 public:
  IdleGpusSource(std::unique_ptr<Source> slurm, IdleGpusOptions options, PrometheusGet get,
                 std::function<std::chrono::steady_clock::time_point()> now)
      : slurm_(std::move(slurm)),
        options_(std::move(options)),
        get_(std::move(get)),
        now_(std::move(now)) {}

  Result<Poll> Step() override {
    Result<Poll> poll = slurm_->Step();
    CountRequests(slurm_->TakeRequests());
    if (!poll) return poll;
    const bool differs = AskAgain();
    const IdleByName idle(idle_);
    bool is_of_these_nodes = idle_.empty();
    for (Node& node : poll->snapshot.nodes) {
      const std::optional<int64_t> count = idle.Of(node.name);
      is_of_these_nodes = is_of_these_nodes || count;
      node.gpus_idle = count.value_or(0);
    }
    SchedulerConfig& config = poll->snapshot.config;
    config.idle_gpus_problem = problem_;
    if (problem_.empty() && !is_of_these_nodes) {
      config.idle_gpus_problem =
          fmt::format("idle_gpus_query names {}, which is no node; its label must be NodeName",
                      Quoted(idle_.begin()->first));
    }
    config.counts_idle_gpus = config.idle_gpus_problem.empty();
    if (differs || config.idle_gpus_problem != said_) {
      said_ = config.idle_gpus_problem;
      poll->changed.Add(Table::kNodes);
      poll->changed.Add(Table::kConfig);
    }
    return poll;
  }

 private:
  // Whether the answer is another one than before.
  bool AskAgain() {
    if (next_ && now_() < *next_) return false;
    const bool is_first = !next_;
    Result<std::map<std::string, int64_t>> idle = Ask();
    next_ = now_() + (idle ? options_.rest : options_.pause);
    const std::string problem = idle ? "" : idle.error().message;
    const std::map<std::string, int64_t> counts =
        idle ? std::move(*idle) : std::map<std::string, int64_t>();
    if (!is_first && counts == idle_ && problem == problem_) return false;
    if (problem != problem_) Tell(problem);
    idle_ = counts;
    problem_ = problem;
    return true;
  }

  Result<std::map<std::string, int64_t>> Ask() const {
    const auto idle =
        get_(options_.prometheus, PrometheusTarget(options_.query)).and_then(IdleGpusIn);
    if (idle) return idle;
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{}: {}", options_.prometheus, idle.error().message));
  }

  static void Tell(const std::string& problem) {
    if (problem.empty()) {
      fmt::print(stderr, "idle GPUs are counted again\n");
    } else {
      fmt::print(stderr, "idle GPUs are not counted: {}\n", problem);
    }
  }

  const std::unique_ptr<Source> slurm_;
  const IdleGpusOptions options_;
  const PrometheusGet get_;
  const std::function<std::chrono::steady_clock::time_point()> now_;
  std::optional<std::chrono::steady_clock::time_point> next_;
  std::map<std::string, int64_t> idle_;
  std::string problem_;  // of the last question
  std::string said_;     // of the last snapshot: also that the names are of no node
};

}  // namespace

Result<std::map<std::string, int64_t>> IdleGpusIn(std::string_view answer) {
  const Result<std::vector<PrometheusSample>> samples = SamplesOf(answer);
  if (!samples) return tl::unexpected<Error>(samples.error());
  constexpr double kMostGpus = 4096;  // of a node
  std::map<std::string, int64_t> idle;
  for (const auto& [labels, value] : *samples) {
    if (labels.size() != 1) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("idle_gpus_query gives series with {} labels; write `count by "
                              "(LABEL) (…)` with the label that names the node",
                              labels.size()));
    }
    if (value && *value >= 1 && *value <= kMostGpus) {
      idle[labels.begin()->second] = std::llround(*value);
    }
  }
  return idle;
}

std::unique_ptr<Source> WithIdleGpus(std::unique_ptr<Source> slurm, IdleGpusOptions options,
                                     PrometheusGet get,
                                     std::function<std::chrono::steady_clock::time_point()> now) {
  if (options.prometheus.empty()) return slurm;
  return std::make_unique<IdleGpusSource>(std::move(slurm), std::move(options), std::move(get),
                                          std::move(now));
}

}  // namespace gpuadvise::collect
