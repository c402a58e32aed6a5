#include "client/run_plan.h"

#include <fmt/format.h>

#include <cstdlib>

#include "client/batch_here.h"

namespace gpuadvise {
namespace {

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<int64_t> CountFromEnvironment(const char* name, int64_t most) {
  const std::string text = FromEnvironment(name);
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 1 || number > most) return {};
  return number;
}

RunPlan PlanOf(const RunCommand& command) {
  RunPlan plan;
  plan.micro_batch =
      command.micro_batch ? command.micro_batch : CountFromEnvironment("GPUADVISE_MICRO_BATCH");
  plan.accumulation =
      command.accumulation ? command.accumulation : CountFromEnvironment("GPUADVISE_ACCUMULATION");
  plan.retry = command.retry_on_oom || FromEnvironment("GPUADVISE_RETRY_ON_OOM") == "1";
  plan.output = command.output.empty() ? FromEnvironment("GPUADVISE_OUTPUT") : command.output;
  if (plan.output.empty()) plan.output = ".";
  if (CountFromEnvironment("SLURM_RESTART_COUNT"))
    plan.resume = FromEnvironment("GPUADVISE_RESUME");
  return plan;
}

Result<void> FitPlan(const RunCommand& command, GpuSampler* sampler, Console& console,
                     RunPlan& plan) {
  if (command.fit.empty()) return {};
  const int64_t nodes = CountFromEnvironment("SLURM_JOB_NUM_NODES").value_or(1);
  const Result<Batch> batch =
      BatchHere(command.fit, command.section, sampler, nodes, console.now());
  if (batch) {
    plan.micro_batch = batch->micro_batch;
    plan.accumulation = batch->accumulation;
    return {};
  }
  const std::string why = "--fit: " + batch.error().message;
  if (!plan.micro_batch) return BadInput(why + "; say the batch with --micro-batch");
  console.Complain(fmt::format("{}: micro-batch {} as given", why, *plan.micro_batch));
  return {};
}

std::vector<std::string> CommandWith(const RunCommand& command, const RunPlan& plan) {
  std::vector<std::string> words = command.command;
  for (std::string& word : words) {
    if (plan.micro_batch) {
      word = Replaced(std::move(word), "{micro_batch}", std::to_string(*plan.micro_batch));
    }
    if (plan.accumulation) {
      word = Replaced(std::move(word), "{accumulation}", std::to_string(*plan.accumulation));
    }
    word = Replaced(std::move(word), "{resume}", plan.resume);
  }
  return words;
}

WatchedOptions OptionsFor(const RunPlan& plan) {
  WatchedOptions options;
  // Python would keep lines back where its output is no terminal.
  if (std::getenv("PYTHONUNBUFFERED") == nullptr) {
    options.environment.emplace_back("PYTHONUNBUFFERED", "1");
  }
  if (plan.micro_batch) {
    options.environment.emplace_back("GPUADVISE_MICRO_BATCH", std::to_string(*plan.micro_batch));
  }
  if (plan.accumulation) {
    options.environment.emplace_back("GPUADVISE_ACCUMULATION", std::to_string(*plan.accumulation));
  }
  return options;
}

}  // namespace gpuadvise
