#include "client/run/training_log.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <vector>

namespace gpuadvise::client {
namespace {

constexpr const char* kNumber = R"(([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?))";

std::optional<double> ParseNumber(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) return {};
  return number;
}

std::optional<int64_t> ParseStepCount(const std::string& text) {
  const auto number = ParseNumber(text);
  if (!number || *number < 0 || *number > 1e12) return {};
  return static_cast<int64_t>(*number);
}

re2::RE2::Options Quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

}  // namespace

struct TrainingLog::Patterns {
  // tqdm: "50/1000 [00:30<09:30, 1.67it/s" or "1.50s/it".
  re2::RE2 bar{R"((\d+)/(\d+) \[[^\]<]*<[^\],]*,\s*([\d.]+)\s*(it/s|s/it))", Quiet()};
  re2::RE2 loss{fmt::format(R"((?i)(?:^|[^a-z])(?:train[_ ])?loss['"]?\s*[:= ]\s*{})", kNumber),
                Quiet()};
  re2::RE2 step{R"((?i)(?:^|[^a-z_])(?:global_)?(?:step|iter|iteration)\s*[:=#\[ ]\s*(\d+))"
                R"((?:\s*(?:/|of)\s*(\d+))?)",
                Quiet()};
  // "{'train_runtime': 12.3, …}" is a summary, whose loss is a mean.
  re2::RE2 summary{R"(['"]train_runtime['"])", Quiet()};
  std::unique_ptr<re2::RE2> own;
};

TrainingLog::TrainingLog() : patterns_(std::make_unique<const Patterns>()) {}
TrainingLog::~TrainingLog() = default;
TrainingLog::TrainingLog(TrainingLog&&) noexcept = default;
TrainingLog& TrainingLog::operator=(TrainingLog&&) noexcept = default;

Result<TrainingLog> TrainingLog::WithPattern(const std::string& pattern) {
  auto patterns = std::make_unique<Patterns>();
  patterns->own = std::make_unique<re2::RE2>(pattern, Quiet());
  if (!patterns->own->ok()) {
    return BadInput(fmt::format(
        "--pattern: {}; use RE2 syntax, for example 'it (?P<step>\\d+) loss (?P<loss>\\S+)'",
        patterns->own->error()));
  }
  bool any = false;
  for (const auto& [name, number] : patterns->own->NamedCapturingGroups()) {
    any = any || name == "step" || name == "total" || name == "seconds" || name == "loss";
  }
  if (!any) {
    return BadInput(
        "--pattern has none of the groups step, total, seconds and loss; for example 'it "
        "(?P<step>\\d+) loss (?P<loss>\\S+)'");
  }
  TrainingLog log;
  log.patterns_ = std::move(patterns);
  return log;
}

namespace {

// A valid step time; nullopt unless positive and finite.
std::optional<double> ValidTime(std::optional<double> seconds) {
  return seconds && std::isfinite(*seconds) && *seconds > 0 ? seconds : std::nullopt;
}

// The facts found by the user's own pattern.
LogFact ReadOwnPattern(const re2::RE2& own, re2::StringPiece line) {
  const auto groups = static_cast<size_t>(own.NumberOfCapturingGroups()) + 1;
  std::vector<re2::StringPiece> found(groups);
  LogFact fact;
  if (!own.Match(line, 0, line.size(), re2::RE2::UNANCHORED, found.data(),
                 static_cast<int>(groups))) {
    return fact;
  }
  const std::map<std::string, int>& names = own.NamedCapturingGroups();
  const auto text = [&](const char* name) {
    const auto group = names.find(name);
    if (group == names.end()) return std::string();
    const re2::StringPiece& piece = found[static_cast<size_t>(group->second)];
    return std::string(piece.data(),
                       piece.size());  // RE2's own type or std::string_view, depending on release
  };
  fact.step = ParseStepCount(text("step"));
  fact.total_steps = ParseStepCount(text("total"));
  fact.seconds_per_step = ValidTime(ParseNumber(text("seconds")));
  fact.loss = ParseNumber(text("loss"));
  return fact;
}

}  // namespace

LogFact TrainingLog::Read(std::string_view text) const {
  const re2::StringPiece line(text.data(), text.size());
  if (patterns_->own != nullptr) {
    LogFact fact = ReadOwnPattern(*patterns_->own, line);
    if (!fact.empty()) return fact;
  }
  LogFact fact;
  std::string first;
  std::string second;
  std::string rate;
  std::string unit;
  if (re2::RE2::PartialMatch(line, patterns_->bar, &first, &second, &rate, &unit)) {
    fact.step = ParseStepCount(first);
    fact.total_steps = ParseStepCount(second);
    const auto number = ParseNumber(rate);
    if (number) fact.seconds_per_step = ValidTime(unit == "s/it" ? *number : 1 / *number);
  } else if (re2::RE2::PartialMatch(line, patterns_->step, &first, &second)) {
    fact.step = ParseStepCount(first);
    fact.total_steps = ParseStepCount(second);
  }
  std::string loss;
  if (!re2::RE2::PartialMatch(line, patterns_->summary) &&
      re2::RE2::PartialMatch(line, patterns_->loss, &loss)) {
    fact.loss = ParseNumber(loss);
  }
  return fact;
}

OutOfMemorySign OutOfMemoryIn(std::string_view line) {
  static constexpr std::array<std::string_view, 8> kGpuSigns = {
      "CUDA out of memory",
      "torch.OutOfMemoryError",
      "OutOfMemoryError: CUDA",
      "CUDA error: out of memory",
      "CUDNN_STATUS_ALLOC_FAILED",
      "CUBLAS_STATUS_ALLOC_FAILED",
      "RESOURCE_EXHAUSTED: Out of memory",
      "Cuda failure 'out of memory'"};  // NCCL's
  for (const std::string_view sign : kGpuSigns) {
    if (line.find(sign) != std::string_view::npos) return OutOfMemorySign::kGpu;
  }
  for (const std::string_view sign : {"unable to create new native thread", "oom_kill event"}) {
    if (line.find(sign) != std::string_view::npos) return OutOfMemorySign::kHost;
  }
  // The shell's message for a killed process: "line 3: 1234 Killed  python train.py".
  const bool killed = line == "Killed" || (line.find(" Killed ") != std::string_view::npos &&
                                           line.find("line ") != std::string_view::npos);
  return killed ? OutOfMemorySign::kHost : OutOfMemorySign::kNone;
}

}  // namespace gpuadvise::client
