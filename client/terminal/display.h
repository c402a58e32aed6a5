// Text in the columns of a terminal, and the words for times in it.
//
// Pure functions, linear in the text; the time zone is the process's (TZ).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise::client {

// Columns that `text` takes in a terminal. REQUIRES: text is Printable.
int DisplayWidth(std::string_view text);

// `text` cut to `width` columns, the last one an ellipsis when something was cut.
std::string Clipped(std::string_view text, int width);

// Lines of at most `width` columns, broken at blanks (inside a word only when it is longer).
std::vector<std::string> Wrapped(std::string_view text, int width);

// `text` as lines that start with `indent` blanks, at most `width` columns wide and no wider than
// prose is easy to read.
std::string Indented(const std::string& text, int indent, int width);

// `text` for terminals whose locale shows no UTF-8: the signs of the tables by what looks like them
// ("×" is "x", "…" is "~"), everything else by '?'. A sign that takes more characters takes them of
// the blanks before it, so that columns stay where they are.
std::string InAscii(std::string_view text);

// "Assumed: 512 tokens a sample", "Not counted: …": what an answer takes for granted, as a line.
std::string AssumedLine(const std::string& assumed);

// "21:40" with its day as seen from `now`: "today 21:40", "tomorrow 09:15", "Fri 09:15" (within a
// week), "3 Dec 09:15".
std::string ClockTime(int64_t time, int64_t now);

// "today 21:40 (23:55)", "today 21:40 (Fri 03:10)": the second one's day where it differs; one
// time when both show the same.
std::string ClockRange(int64_t likely, int64_t late, int64_t now);

// "8 m (1 h 50)", one value when both read the same.
std::string DurationRange(double likely_seconds, double late_seconds);

}  // namespace gpuadvise::client
