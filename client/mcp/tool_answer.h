// What a tool answers: the command's JSON, shortened for a reader with little room, in which text
// that other people wrote cannot pass for anything else.
//
// Whoever may submit a job chooses its name, and a language model reads what it is given. So the
// words of people (names of jobs, users, accounts) are kept short, lose every character that could
// end a quotation or hide, and stand inside `untrusted text: "…"`. All other text loses what cannot
// be seen. This marks data as data; it is not a promise that a model obeys the mark.
// Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace gpuadvise::client {

// Words of a person as data: untrusted text: "…".
std::string Untrusted(const std::string& words);

// The answer of a tool from its command's: marked, and lists cut to their first entries. What was
// cut is counted in `left_out`.
nlohmann::json MarkedAnswer(const std::string& tool, const nlohmann::json& answer);

// The result of tools/call.
nlohmann::json ToolResult(const nlohmann::json& structured);
nlohmann::json ToolFailure(const std::string& sentence);

}  // namespace gpuadvise::client
