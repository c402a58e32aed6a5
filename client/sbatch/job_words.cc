#include "client/sbatch/job_words.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string Number(const json& strategy, const char* key, int64_t other = 1) {
  return std::to_string(IntOf(strategy, key, other));
}

std::string AllGpus(const json& strategy) {
  return std::to_string(IntOf(strategy, "gpus_per_node", 1) * IntOf(strategy, "nodes", 1));
}

}  // namespace

std::string StrategyName(const json& strategy) {
  std::string name = TextOf(strategy, "gpu_name");
  if (name.empty()) name = TextOf(strategy, "gpu");
  name += fmt::format(" × {}", IntOf(strategy, "gpus_per_node", 1));
  const int64_t nodes = IntOf(strategy, "nodes", 1);
  return nodes > 1 ? name + fmt::format(" × {} nodes", nodes) : name;
}

std::string PromiseSentence(const json& strategy, int64_t now) {
  const int64_t likely = now + IntOf(strategy, "wait_p50_seconds");
  const int64_t late = now + IntOf(strategy, "wait_p90_seconds");
  const bool immediately = late - now < 30;
  const std::string start = immediately ? "now" : ClockRange(likely, late, now);
  const std::string done = ClockRange(now + IntOf(strategy, "total_p50_seconds"),
                                      now + IntOf(strategy, "total_p90_seconds"), now);
  const auto chance = OptionalNumber(strategy, "deadline_chance");
  const std::string in_time =
      chance ? fmt::format(", {:.0f} % likely by the deadline", std::floor(100 * *chance)) : "";
  return "starts " + start + ", done " + done + in_time;
}

Placeholders StrategyWords(const json& spec, const json& strategy) {
  const bool several = IntOf(strategy, "nodes", 1) > 1;
  return {
      {"micro_batch", Number(strategy, "micro_batch")},
      {"accumulation", Number(strategy, "accumulation")},
      {"effective_batch_size", Number(strategy, "effective_batch_size")},
      {"gpus_per_node", Number(strategy, "gpus_per_node")},
      {"nodes", Number(strategy, "nodes")},
      {"gpus", AllGpus(strategy)},
      {"steps", Number(strategy, "steps", 0)},
      {"max_steps", Number(strategy, "steps", 0)},
      {"samples", Number(strategy, "samples", 0)},
      {"cpus_per_task", Number(ObjectOf(strategy, "sbatch"), "cpus_per_task")},
      {"precision", SafeName(TextOf(strategy, "precision"))},
      {"gpu", SafeName(TextOf(strategy, "gpu"))},
      {"partition", SafeName(TextOf(strategy, "partition"))},
      {"name", SafeName(TextOf(spec, "name"))},
      {"output_dir", "\"$GPUADVISE_OUTPUT_DIR\""},
      {"node_rank", several ? "$SLURM_NODEID" : "0"},
      {"master_addr", several ? "$MASTER_ADDR" : "localhost"},
      {"master_port", several ? "$MASTER_PORT" : "29500"},
  };
}

std::vector<std::pair<std::string, std::string>> StrategyEnvironment(const json& strategy,
                                                                     const std::string& advice_id) {
  return {
      {"GPUADVISE_ADVICE", SafeName(advice_id)},
      {"GPUADVISE_GPU", SafeName(TextOf(strategy, "gpu"))},
      {"GPUADVISE_GPUS_PER_NODE", Number(strategy, "gpus_per_node")},
      {"GPUADVISE_NODES", Number(strategy, "nodes")},
      {"GPUADVISE_MICRO_BATCH", Number(strategy, "micro_batch")},
      {"GPUADVISE_ACCUMULATION", Number(strategy, "accumulation")},
      {"GPUADVISE_EFFECTIVE_BATCH_SIZE", Number(strategy, "effective_batch_size")},
      {"GPUADVISE_PRECISION", SafeName(TextOf(strategy, "precision"))},
  };
}

namespace {

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

}  // namespace

std::string FillPlaceholders(std::string_view text, const Placeholders& values) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    size_t end = 1;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    const bool closed = end < text.size() && text[end] == '}';
    const auto value = closed ? values.find(text.substr(1, end - 1)) : values.end();
    // "${name}" is the shell's own even where the word is one of ours.
    const bool shells = !filled.empty() && filled.back() == '$';
    if (value == values.end() || shells) {
      filled += '{';
      text.remove_prefix(1);
    } else {
      filled += value->second;
      text.remove_prefix(end + 1);
    }
  }
  return filled;
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

}  // namespace gpuadvise::client
