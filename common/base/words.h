// Parts of sentences for reasons, tables and errors. Pure and locale-free; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise {

// The candidate closest to `name` by edit distance, ignoring case. If none is near (distance above
// a third of the longer name, at least 2), the shortest that contains `name`, ignoring signs
// ("llama3" in "llama-3-8b"); else "".
std::string NearestName(std::string_view name, std::span<const std::string> candidates);

// " (did you mean 'NEAREST'?)", or "" if nothing is near.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates);

// "a", "a and b", "a, b and c"; more than `limit` names end in "and 7 more".
std::string JoinNames(std::span<const std::string> names, size_t limit = 12);

// A duration for people, rounded: "8 s", "8 m", "1 h 50", "3 d 4 h"; "0 s" for a negative one.
std::string DurationInWords(double seconds);

// A wait: as DurationInWords, but "now" under 30 s.
std::string WaitInWords(double seconds);

// "delays 6 jobs of others by 1 h 10 together": at least one job.
std::string OthersDelayInWords(double jobs, double seconds);

// At most `most` bytes of `text`, cut at a character boundary with "…".
std::string Shortened(std::string_view text, size_t most);

// User input for a message: in single quotes, shortened.
inline constexpr size_t kMaxQuotedBytes = 100;
std::string Quoted(std::string_view text);

// "10,000".
std::string Grouped(int64_t number);

// "1 GPU", "4 GPUs".
std::string Plural(int64_t count, std::string_view noun);

}  // namespace gpuadvise
