// The tools that `gpuadvise mcp` offers: what each is called, takes and answers, and the command of
// `gpuadvise` that stands behind it.
//
// Every tool is a command that a person could run; its values reach it as --option=VALUE or on
// standard input, so that none of them can become an option of its own. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct ToolOption {
  const char* name;  // of the argument
  const char* flag;  // "--gres"; "" a positional
  const char* type;  // of JSON Schema: "string", "integer"
  const char* description;
  bool required = false;
};

struct Tool {
  const char* name;
  const char* title;
  const char* description;
  const char* command;  // of gpuadvise
  std::span<const ToolOption> options;
  bool takes_training = false;  // `file` or `training`, one of them
  bool takes_model = false;     // ... or `model`
  bool submits = false;
};

// In the order in which they are listed.
std::span<const Tool> Tools();
const Tool* FindTool(const std::string& name);

// The tool as tools/list has it.
nlohmann::json ToolJson(const Tool& tool);

// A command line, without the program's name, and what goes to its standard input.
struct ToolCall {
  std::vector<std::string> words;
  std::string input;
};

// Errors: a sentence that names the argument.
Result<ToolCall> ReadToolCall(const Tool& tool, const nlohmann::json& arguments);

// The same as a person would type it, "gpuadvise advise train.yaml".
std::string CommandText(const ToolCall& call);

}  // namespace gpuadvise::client
