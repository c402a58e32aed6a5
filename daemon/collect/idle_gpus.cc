#include "daemon/collect/idle_gpus.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

namespace gpuadvise::collect {
namespace {

// The nodes' numbers by the name that the query gives: whole, or without domain and port.
class IdleByName {
 public:
  explicit IdleByName(const std::map<std::string, int64_t>& named) {
    for (const auto& [name, count] : named) {
      counts_[name] = count;
      counts_.emplace(name.substr(0, name.find_first_of(".:")), count);
    }
  }

  int64_t Of(const std::string& node) const {
    const auto found = counts_.find(node);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int64_t> counts_;
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
    for (Node& node : poll->snapshot.nodes) node.gpus_idle = idle.Of(node.name);
    poll->snapshot.config.counts_idle_gpus = problem_.empty();
    poll->snapshot.config.idle_gpus_problem = problem_;
    if (differs) {
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
    const Result<std::string> answer = get_(options_.prometheus, PrometheusTarget(options_.query));
    if (!answer) return tl::unexpected<Error>(answer.error());
    return IdleGpusIn(*answer);
  }

  static void Tell(const std::string& problem) {
    if (problem.empty()) {
      fmt::print(stderr, "Prometheus tells of idle GPUs again\n");
    } else {
      fmt::print(stderr, "Prometheus does not tell of idle GPUs: {}\n", problem);
    }
  }

  const std::unique_ptr<Source> slurm_;
  const IdleGpusOptions options_;
  const PrometheusGet get_;
  const std::function<std::chrono::steady_clock::time_point()> now_;
  std::optional<std::chrono::steady_clock::time_point> next_;
  std::map<std::string, int64_t> idle_;
  std::string problem_;
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
    if (value >= 1 && value <= kMostGpus) idle[labels.begin()->second] = std::llround(value);
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
