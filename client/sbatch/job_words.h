// Inserts the strategy's figures into commands and scripts by name. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/api/advice.h"

namespace gpuadvise::client {

// "RTX 4090 × 4", "L40S × 6 × 2 nodes".
std::string StrategyName(const std::string& gpu_name, int64_t gpus_per_node, int64_t nodes);
// For an api::Strategy or an api::Rejection.
template <typename Row>
std::string StrategyName(const Row& row) {
  return StrategyName(row.gpu_name.empty() ? row.gpu : row.gpu_name, row.gpus_per_node, row.nodes);
}

// Total number of GPUs.
int64_t GpusOf(const api::Strategy& strategy);

// "now or by today 21:40 (23:55), done …": one sentence for the chosen row.
std::string PromiseSentence(const api::Strategy& strategy, int64_t now);

// Placeholders in a command that the chosen strategy fills in ({micro_batch}, {gpus_per_node}, …),
// without their braces, and their values.
//
// Replaces only our own words; other braces belong to the shell or Python. One pass: values are not
// scanned for placeholders.
using Placeholders = std::map<std::string, std::string, std::less<>>;

std::string FillPlaceholders(std::string_view text, const Placeholders& values);

// Words in braces that are not among `values`, as {microbatch}: they stay as written. "${name}" is
// the shell's and not among them.
std::vector<std::string> UnknownPlaceholders(std::string_view text, const Placeholders& values);

// The placeholders of `strategy`. {node_rank}, {master_addr} and {master_port} are shell variables
// on several nodes and constants on one.
Placeholders StrategyWords(const nlohmann::json& spec, const api::Strategy& strategy);

// GPUADVISE_MICRO_BATCH and the other variables, in the order of the script.
std::vector<std::pair<std::string, std::string>> StrategyEnvironment(const api::Strategy& strategy,
                                                                     const std::string& advice_id);

// A member of a training file's JSON as inserted into a script, including newlines; "" if absent,
// JSON text unless it is a string.
std::string RawText(const nlohmann::json& object, const char* key);

// A string or a list of strings.
std::vector<std::string> RawTexts(const nlohmann::json& object, const char* key);

std::string WithoutTrailingNewlines(std::string text);

// A shell's text without blanks and newlines at its end, and without the backslash that continues
// its last line: at the end of a file it continues nothing, as the end of bash -c's word it is one.
std::string WithoutLineEnd(std::string text);

}  // namespace gpuadvise::client
