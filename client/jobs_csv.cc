#include "client/jobs_csv.h"

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "client/display.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr const char* kColumns[] = {"job_id",
                                    "advice_id",
                                    "name",
                                    "state",
                                    "submitted_at",
                                    "started_at",
                                    "ended_at",
                                    "gpu",
                                    "gpus_per_node",
                                    "nodes",
                                    "partition",
                                    "qos",
                                    "micro_batch",
                                    "accumulation",
                                    "effective_batch_size",
                                    "precision",
                                    "steps",
                                    "time_limit_seconds",
                                    "wait_p50_seconds",
                                    "wait_p90_seconds",
                                    "wait_seconds",
                                    "run_p50_seconds",
                                    "run_p90_seconds",
                                    "run_seconds",
                                    "memory_bytes",
                                    "peak_memory_bytes",
                                    "gpu_memory_bytes",
                                    "loss",
                                    "seconds_per_step",
                                    "mean_utilisation",
                                    "cost",
                                    "real_cost",
                                    "cost_is_billing",
                                    "attempts",
                                    "out_of_memory",
                                    "final_micro_batch",
                                    "final_accumulation",
                                    "slurm_state",
                                    "exit_code",
                                    "signal",
                                    "has_outcome",
                                    "outcome_running",
                                    "output_dir"};

// A whole number such as "-3.5e2"; not "inf" or "0x10", which strtod reads too.
bool IsNumber(const std::string& text) {
  if (text.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0';
}

bool LooksLikeAFormula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

std::string CellOf(const json& job, const char* key) {
  const auto member = job.is_object() ? job.find(key) : job.end();
  if (!job.is_object() || member == job.end() || member->is_null()) return {};
  if (member->is_string()) return CsvCell(member->get_ref<const std::string&>());
  return member->is_structured() ? std::string() : member->dump();
}

}  // namespace

std::string CsvCell(std::string_view text) {
  std::string cell = Printable(text);
  if (LooksLikeAFormula(text) && !IsNumber(cell)) cell.insert(0, "'");
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string JobsCsv(const json& jobs) {
  std::string text;
  for (const char* column : kColumns) text += (text.empty() ? "" : ",") + std::string(column);
  text += "\r\n";
  for (const json& job : jobs) {
    std::string line;
    for (const char* column : kColumns) {
      if (column != kColumns[0]) line += ',';
      line += CellOf(job, column);
    }
    text += line + "\r\n";
  }
  return text;
}

}  // namespace gpuadvise
