// The experiment log as CSV (RFC 4180): a header line, a line per job, lines ended by CR LF.
//
// Every member of the API's list form is a column of its own name, so that units stay in the names.
// A text that a spreadsheet would take for a formula (it starts with = + - @) has an apostrophe
// before it, unless it is a number; control characters are '?'. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gpuadvise {

std::string JobsCsv(const nlohmann::json& jobs);

/// One cell: quoted where it must be, harmless in a spreadsheet.
std::string CsvCell(std::string_view text);

}  // namespace gpuadvise
