#include "client/sbatch/job_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// A count in an answer, at least 1.
std::string Count(int64_t count) { return std::to_string(std::max<int64_t>(count, 1)); }

}  // namespace

std::string StrategyName(const std::string& gpu_name, int64_t gpus_per_node, int64_t nodes) {
  const std::string name = fmt::format("{} × {}", gpu_name, gpus_per_node);
  return nodes > 1 ? name + fmt::format(" × {} nodes", nodes) : name;
}

int64_t GpusOf(const api::Strategy& strategy) {
  constexpr int64_t kMost = 1'000'000;  // of each
  return std::clamp<int64_t>(strategy.gpus_per_node, 1, kMost) *
         std::clamp<int64_t>(strategy.nodes, 1, kMost);
}

std::string PromiseSentence(const api::Strategy& strategy, int64_t now) {
  const int64_t likely = now + strategy.wait.p50_seconds;
  const int64_t late = now + strategy.wait.p90_seconds;
  const bool immediately = late - now < 30;
  const std::string start = immediately ? "now" : ClockRange(likely, late, now);
  const std::string done =
      ClockRange(now + strategy.total.p50_seconds, now + strategy.total.p90_seconds, now);
  const auto chance = strategy.deadline_chance;
  const std::string in_time =
      chance ? fmt::format(", {:.0f} % likely by the deadline", std::floor(100 * *chance)) : "";
  return "starts " + start + ", done " + done + in_time;
}

Placeholders StrategyWords(const json& spec, const api::Strategy& strategy) {
  const bool several = strategy.nodes > 1;
  return {
      {"micro_batch", Count(strategy.micro_batch)},
      {"accumulation", Count(strategy.accumulation)},
      {"effective_batch_size", Count(strategy.effective_batch_size)},
      {"gpus_per_node", Count(strategy.gpus_per_node)},
      {"nodes", Count(strategy.nodes)},
      {"gpus", std::to_string(GpusOf(strategy))},
      {"steps", std::to_string(strategy.steps)},
      {"max_steps", std::to_string(strategy.steps)},
      {"samples", std::to_string(strategy.samples)},
      {"cpus_per_task", Count(strategy.sbatch.cpus_per_task.value_or(1))},
      {"precision", SafeName(strategy.precision)},
      {"gpu", SafeName(strategy.gpu)},
      {"partition", SafeName(strategy.partition)},
      {"name", SafeName(TextOf(spec, "name"))},
      {"output_dir", "\"$GPUADVISE_OUTPUT_DIR\""},
      {"index", "${SLURM_ARRAY_TASK_ID:-0}"},
      {"node_rank", several ? "$SLURM_NODEID" : "0"},
      {"master_addr", several ? "$MASTER_ADDR" : "localhost"},
      {"master_port", several ? "$MASTER_PORT" : "29500"},
  };
}

std::vector<std::pair<std::string, std::string>> StrategyEnvironment(const api::Strategy& strategy,
                                                                     const std::string& advice_id) {
  return {
      {"GPUADVISE_ADVICE", SafeName(advice_id)},
      {"GPUADVISE_GPU", SafeName(strategy.gpu)},
      {"GPUADVISE_GPUS_PER_NODE", Count(strategy.gpus_per_node)},
      {"GPUADVISE_NODES", Count(strategy.nodes)},
      {"GPUADVISE_MICRO_BATCH", Count(strategy.micro_batch)},
      {"GPUADVISE_ACCUMULATION", Count(strategy.accumulation)},
      {"GPUADVISE_EFFECTIVE_BATCH_SIZE", Count(strategy.effective_batch_size)},
      {"GPUADVISE_PRECISION", SafeName(strategy.precision)},
  };
}

namespace {

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// Gives each word in braces, as "nodes" of {nodes}, to `each`, and the text between them to
// `plain`. "${name}" is plain text: it is the shell's own, even where the word is one of ours.
template <typename Plain, typename Each>
void ForEachPlaceholder(std::string_view text, Plain plain, Each each) {
  char before = '\0';
  while (!text.empty()) {
    const size_t open = text.find('{');
    plain(text.substr(0, open));
    if (open == std::string_view::npos) return;
    if (open > 0) before = text[open - 1];
    text.remove_prefix(open);
    size_t end = 1;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    const bool closed = end > 1 && end < text.size() && text[end] == '}';
    if (closed && before != '$') {
      each(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
      before = '}';
    } else {
      plain(text.substr(0, 1));
      text.remove_prefix(1);
      before = '{';
    }
  }
}

}  // namespace

std::string FillPlaceholders(std::string_view text, const Placeholders& values) {
  std::string filled;
  ForEachPlaceholder(
      text, [&](std::string_view plain) { filled += plain; },
      [&](std::string_view word) {
        const auto value = values.find(word);
        if (value == values.end()) {
          filled.append("{").append(word).append("}");
        } else {
          filled += value->second;
        }
      });
  return filled;
}

std::vector<std::string> UnknownPlaceholders(std::string_view text, const Placeholders& values) {
  std::vector<std::string> unknown;
  ForEachPlaceholder(
      text, [](std::string_view) {},
      [&](std::string_view word) {
        if (!values.contains(word)) unknown.emplace_back(word);
      });
  return unknown;
}

std::string RawText(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::vector<std::string> RawTexts(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_array()) return {RawText(object, key)};
  std::vector<std::string> texts;
  for (const json& item : *found) {
    texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return texts;
}

std::string WithoutTrailingNewlines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string WithoutLineEnd(std::string text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  size_t backslashes = 0;
  while (last != std::string::npos && last >= backslashes && text[last - backslashes] == '\\') {
    ++backslashes;
  }
  const bool continues = backslashes % 2 == 1 && text.compare(last + 1, 1, "\n") == 0;
  text.erase(continues ? text.find_last_not_of(" \t", last - 1) + 1 : last + 1);  // npos + 1 is 0
  return text;
}

}  // namespace gpuadvise::client
