// Answers and errors as every command prints them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/terminal/console.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// Says the error, with --json also as a document on standard output, and gives its exit code.
int Report(const Error& error, Console& console);

// The same after an answer whose document was printed already: only the sentence.
int ReportInWords(const Error& error, Console& console);

// Printed by every --json: the API's own JSON. Invisible characters are escaped.
void PrintJson(const nlohmann::json& answer, Console& console);

// Prints an answer of the daemon: unchanged with --json, else the text of `view`, which gets the
// answer as a struct of common/api. Reports an error instead of an answer.
template <typename T, typename View>
int PrintAnswer(const Result<nlohmann::json>& answer, Console& console, const View& view) {
  if (!answer) return Report(answer.error(), console);
  if (console.style().json) {
    PrintJson(*answer, console);
  } else {
    console.Print(view(ReadAnswer<T>(*answer), console.style()));
  }
  return kExitOk;
}

// "Warning: …" if the data is stale or incomplete, else "".
std::string DoubtText(const api::Frame& frame, const TerminalStyle& style);

// Errors: kStale when the answer is older than the caller allows.
Result<void> CheckAge(const api::Frame& frame, std::optional<double> max_age_seconds);

}  // namespace gpuadvise::client
