#include "client/mcp/mcp_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "client/mcp/tool_schemas.h"
#include "client/shell/shell_text.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMaxValueBytes = 4096;
constexpr size_t kMaxTrainingBytes = 256 << 10;  // as spec_yaml of the API

constexpr ToolOption kWhenOptions[] = {
    {"gres", "--gres", "string", "GPUs per node, as sbatch has it: gpu:l40s:2 or gpu:2"},
    {"gpus", "--gpus", "string", "GPUs in all: l40s:12"},
    {"nodes", "--nodes", "integer", "Number of nodes"},
    {"ntasks", "--ntasks", "integer", "Number of tasks"},
    {"cpus_per_task", "--cpus-per-task", "integer", "CPUs of one task"},
    {"mem", "--mem", "string", "Memory of one node: 64G"},
    {"time", "--time", "string", "Time limit as Slurm writes it: 08:00:00 or 2-00:00:00"},
    {"partition", "--partition", "string", "Partitions: a,b"},
    {"account", "--account", "string", "Account"},
    {"qos", "--qos", "string", "Quality of service"},
    {"constraint", "--constraint", "string", "Features of the nodes"},
};
constexpr ToolOption kAdviseOptions[] = {
    {"section", "--section", "string", "Section of the training file"},
    {"objective", "--objective", "string", "Rank by finish (default), start, cost or deadline"},
    {"deadline", "--deadline", "string", "fri, 18:00, 2026-11-27T18:00 or now+2days"},
    {"partition", "--partition", "string", "Only these partitions: a,b"},
    {"account", "--account", "string", "Account"},
    {"qos", "--qos", "string", "Quality of service"},
    {"time", "--time", "string", "Time limit as Slurm writes it: 08:00:00"},
};
constexpr ToolOption kFitOptions[] = {
    {"section", "--section", "string", "Section of the training file"},
    {"gpu", "--gpu", "string", "Only this GPU; it need not be in the cluster"},
    {"gpus", "--gpus", "integer", "GPUs of the job (default 1)"},
    {"micro_batch", "--micro-batch", "integer", "Show this micro-batch"},
};
constexpr ToolOption kScaleOptions[] = {
    {"section", "--section", "string", "Section of the training file"},
    {"gpu", "--gpu", "string", "Only this GPU"},
    {"max_gpus", "--max-gpus", "integer", "Up to so many GPUs (default 8, or a whole node)"},
    {"objective", "--objective", "string", "finish (default), cost or deadline"},
    {"deadline", "--deadline", "string", "Done by then with 90 % probability"},
};
constexpr ToolOption kWhyOptions[] = {
    {"job_id", "", "integer", "Number of the job in Slurm", true},
};
constexpr ToolOption kJobsOptions[] = {
    {"state", "--state", "string", "Only pending, running, ended, ok or failed jobs"},
    {"gpu", "--gpu", "string", "Only on this GPU"},
    {"name", "--name", "string", "Only jobs with this in their name"},
    {"since", "--since", "string", "Submitted since: 7d, yesterday, 2026-11-20"},
    {"limit", "--limit", "integer", "The newest so many jobs"},
};
constexpr ToolOption kSubmitOptions[] = {
    {"file", "", "string", "Path of the training file (train.yaml)", true},
    {"section", "--section", "string", "Section of the training file"},
    {"pick", "--pick", "integer", "Row of `advise` (default: the best)"},
    {"objective", "--objective", "string", "Rank by finish (default), start, cost or deadline"},
    {"deadline", "--deadline", "string", "fri, 18:00, 2026-11-27T18:00 or now+2days"},
    {"partition", "--partition", "string", "Only these partitions: a,b"},
    {"account", "--account", "string", "Account"},
    {"qos", "--qos", "string", "Quality of service"},
    {"time", "--time", "string", "Time limit as Slurm writes it: 08:00:00"},
};

const Tool kTools[] = {
    {"when", "When would a job start",
     "Forecast of the start of a job with these sbatch options, if it were submitted now. Answers "
     "with the wait at the 10th, 50th and 90th percentile in seconds, and why.",
     "when", kWhenOptions},
    {"advise", "Where a training finishes first",
     "Ranks the ways to run a training described by a train.yaml: GPU type, number of GPUs, "
     "partition, batch, queue wait, run time and cost. Submits nothing.",
     "advise", kAdviseOptions, true},
    {"fit", "What fits into GPU memory",
     "For each GPU type whether a training or a model fits, the largest micro-batch, the memory by "
     "part, and ways to save memory.",
     "fit", kFitOptions, true, true},
    {"scale", "How many GPUs are worth it",
     "Hours, efficiency and cost of a training on 1, 2, 4 ... GPUs, and the recommended number.",
     "scale", kScaleOptions, true, true},
    {"why", "Why a job waits",
     "Why a pending job waits, when it will start, and what would start it earlier.", "why",
     kWhyOptions},
    {"gpus",
     "GPUs of the cluster",
     "GPU types of the cluster: total, usable, free now, memory, and the wait for one GPU and for "
     "whole nodes.",
     "gpus",
     {}},
    {"jobs", "Jobs of the user",
     "The user's own jobs that were submitted with gpuadvise: forecast and actual times, outcome.",
     "jobs", kJobsOptions},
    {"submit", "Submit a training to Slurm",
     "Submits the best strategy of a training file, or the one picked, as a Slurm job of the user. "
     "The user is shown the job script and must confirm; without that nothing is submitted.",
     "submit", kSubmitOptions, false, false, true},
};

json PropertyOf(const char* type, const char* description) {
  json property = {{"type", type}, {"description", description}};
  if (std::string_view(type) == "integer") property["minimum"] = 1;
  return property;
}

json InputSchemaOf(const Tool& tool) {
  json properties = json::object(), required = json::array();
  for (const ToolOption& option : tool.options) {
    properties[option.name] = PropertyOf(option.type, option.description);
    if (option.required) required.push_back(option.name);
  }
  if (tool.takes_training) {
    properties["file"] = PropertyOf("string", "Path of a training file (.yaml)");
    properties["training"] = PropertyOf("string", "The text of a training file, in place of file");
  }
  if (tool.takes_model) {
    properties["model"] = PropertyOf(
        "string", "A model in place of a file: a name such as gpt2, or a Hugging Face id");
  }
  json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

// A name, a size, a path: nothing with line ends or bytes that are no text.
Result<std::string> TextValue(const std::string& name, const json& value) {
  if (!value.is_string()) return BadInput(name + " must be a string");
  const std::string& text = value.get_ref<const std::string&>();
  if (text.empty()) return BadInput(name + " is empty; leave it out");
  if (text.size() > kMaxValueBytes || Printable(text) != text) {
    return BadInput(name + " is too long, or has characters that cannot be seen");
  }
  return text;
}

Result<std::string> ValueOf(const ToolOption& option, const json& value) {
  if (std::string_view(option.type) != "integer") return TextValue(option.name, value);
  if (!value.is_number_integer() || value < 1 || value > 999'999'999) {
    return BadInput(fmt::format("{} must be a whole number from 1", option.name));
  }
  return std::to_string(value.get<int64_t>());
}

// Only what looks like a training file is opened: the error of another file would show its text.
Result<std::string> FileValue(const json& value) {
  Result<std::string> path = TextValue("file", value);
  if (!path) return path;
  if (!path->ends_with(".yaml") && !path->ends_with(".yml")) {
    return BadInput("file must name a training file that ends in .yaml or .yml");
  }
  if (path->starts_with('-')) *path = "./" + *path;
  return path;
}

Result<std::string> ModelValue(const json& value) {
  Result<std::string> model = TextValue("model", value);
  if (model && (model->starts_with('-') || model->starts_with('/') || model->starts_with('.'))) {
    return BadInput("model must be a name such as gpt2 or a Hugging Face id");
  }
  return model;
}

// The training that the question is about: one of `file`, `training` and `model`.
Result<void> AddSource(const Tool& tool, const json& arguments, ToolCall* call) {
  if (!tool.takes_training) return {};
  const char* kinds = tool.takes_model ? "file, training or model" : "file or training";
  int given = 0;
  for (const char* name : {"file", "training", "model"}) given += arguments.contains(name) ? 1 : 0;
  if (given != 1) return BadInput(fmt::format("give one of {}", kinds));
  if (arguments.contains("training")) {
    const json& text = arguments["training"];
    if (!text.is_string() || text.get_ref<const std::string&>().size() > kMaxTrainingBytes) {
      return BadInput("training must be the text of a training file, at most 256 KiB");
    }
    call->input = text.get<std::string>();
    call->words.insert(call->words.begin() + 1, "-");
    return {};
  }
  const bool file = arguments.contains("file");
  const Result<std::string> source =
      file ? FileValue(arguments["file"]) : ModelValue(arguments["model"]);
  if (!source) return tl::unexpected<Error>(source.error());
  call->words.insert(call->words.begin() + 1, *source);  // before options that take several values
  return {};
}

bool IsSource(const Tool& tool, const std::string& name) {
  if (tool.takes_training && (name == "file" || name == "training")) return true;
  return tool.takes_model && name == "model";
}

Result<void> CheckNames(const Tool& tool, const json& arguments) {
  std::vector<std::string> known;
  for (const ToolOption& option : tool.options) known.push_back(option.name);
  for (const auto& [name, value] : arguments.items()) {
    if (IsSource(tool, name) || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    return BadInput(
        fmt::format("{} has no argument {}{}", tool.name, Quoted(name), DidYouMean(name, known)));
  }
  return {};
}

}  // namespace

std::span<const Tool> Tools() { return kTools; }

const Tool* FindTool(const std::string& name) {
  const auto found = std::find_if(std::begin(kTools), std::end(kTools),
                                  [&](const Tool& t) { return name == t.name; });
  return found == std::end(kTools) ? nullptr : found;
}

json ToolJson(const Tool& tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", InputSchemaOf(tool)},
          {"outputSchema", OutputSchemaOf(tool.name)},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", !tool.submits},
            {"destructiveHint", tool.submits},
            {"idempotentHint", !tool.submits},
            {"openWorldHint", tool.submits}}}};
}

Result<ToolCall> ReadToolCall(const Tool& tool, const json& arguments) {
  if (!arguments.is_object()) return BadInput("arguments must be an object");
  if (Result<void> names = CheckNames(tool, arguments); !names) {
    return tl::unexpected<Error>(names.error());
  }
  ToolCall call{{tool.command}, ""};
  for (const ToolOption& option : tool.options) {
    const auto given = arguments.find(option.name);
    if (given == arguments.end()) {
      if (option.required) return BadInput(fmt::format("{} needs {}", tool.name, option.name));
      continue;
    }
    const bool is_file = std::string_view(option.name) == "file";
    const Result<std::string> value = is_file ? FileValue(*given) : ValueOf(option, *given);
    if (!value) return tl::unexpected<Error>(value.error());
    const std::string flag = option.flag;
    if (flag.empty()) {
      call.words.insert(call.words.begin() + 1, *value);
    } else {
      call.words.push_back(flag + "=" + *value);
    }
  }
  if (Result<void> added = AddSource(tool, arguments, &call); !added) {
    return tl::unexpected<Error>(added.error());
  }
  return call;
}

std::string CommandText(const ToolCall& call) {
  std::string text = "gpuadvise";
  for (const std::string& word : call.words) text += " " + ShellQuoted(word);
  return text;
}

}  // namespace gpuadvise::client
