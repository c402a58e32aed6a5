// Layout of text in terminal columns, and words for times. Pure functions, linear in the text; uses
// the process's time zone (TZ).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise::client {

// Width of `text` in terminal columns. REQUIRES: text is Printable.
int DisplayWidth(std::string_view text);

// `text` cut to `width` columns, ending in an ellipsis if cut.
std::string Clipped(std::string_view text, int width);

// Lines of at most `width` columns, broken at blanks, or inside words longer than a line.
std::vector<std::string> Wrapped(std::string_view text, int width);

// `text` as lines indented by `indent` blanks, at most `width` columns wide and not wider than
// readable prose.
std::string Indented(const std::string& text, int indent, int width);

// `text` for terminals without a UTF-8 locale: signs used in tables become similar ASCII ("×": "x",
// "…": "~"), everything else '?'. A longer replacement consumes blanks before it, so that columns
// stay aligned.
std::string InAscii(std::string_view text);

// An assumption of an answer as a line: "Assumed: 512 tokens a sample", "Not counted: …".
std::string AssumedLine(const std::string& assumed);

// A time with its day relative to `now`: "today 21:40", "tomorrow 09:15", "Fri 09:15" (within a
// week), "3 Dec 09:15".
std::string ClockTime(int64_t time, int64_t now);

// "today 21:40 (23:55)", "today 21:40 (Fri 03:10)": with the second day if it differs; one time if
// both read the same.
std::string ClockRange(int64_t likely, int64_t late, int64_t now);

// "8 m (1 h 50)"; one value if both read the same.
std::string DurationRange(double likely_seconds, double late_seconds);

// The same of a wait: "now (1 h 50)".
std::string WaitRange(double likely_seconds, double late_seconds);

// When a job starts: "starts now", "starts now (p90 in 8 m)", "starts in 8 m (1 h 50)".
std::string StartInWords(double likely_seconds, double late_seconds);

}  // namespace gpuadvise::client
