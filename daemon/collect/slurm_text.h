// The text dialect of `scontrol show …`: records of KEY=VALUE words over several lines.
//
// It is the one output that all Slurm releases share. Values may hold blanks and '=' ("JobName=my
// job = 7", "Reason=fan broken [root@…]"): such keys take the rest of their line, and what people
// write into a reason or comment sets no other field, whatever it looks like. A missing key reads
// as "", and "(null)" or "N/A" as nothing. Views point into the text given to ParseRecords, which
// must outlive them. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/slurm_number.h"

namespace gpuadvise::collect {

class TextRecord {
 public:
  using Field = std::pair<std::string_view, std::string_view>;

  // The first value of `key` as printed; "" when there is none.
  std::string_view Raw(std::string_view key) const;
  // The same with "(null)", "N/A", "None" and "(none)" read as "".
  std::string_view Get(std::string_view key) const;
  int64_t Integer(std::string_view key, int64_t fallback = 0) const;
  bool IsYes(std::string_view key) const;
  std::vector<std::string> List(std::string_view key) const;  // comma separated, "ALL" is empty

  const std::vector<Field>& fields() const { return fields_; }
  void Add(std::string_view key, std::string_view value) { fields_.emplace_back(key, value); }

 private:
  std::vector<Field> fields_;
};

enum class RecordStart {
  kAfterBlankLine,  // so that what people write into a name or comment cannot begin a record
  kAnyLine,
};

// Every record that begins with `first_key` ("NodeName") at the start of a line. Other text
// (notices such as "No reservations in the system") is skipped. After the first reason or comment
// of a record only further reasons and comments are read: all else is printed before.
std::vector<TextRecord> ParseRecords(std::string_view text, std::string_view first_key,
                                     RecordStart start = RecordStart::kAfterBlankLine);

// The rows of `sacctmgr -P`, `sshare -P`: a header line with the names, then one row a line.
std::vector<TextRecord> ParsePipeTable(std::string_view text);

// The `KEY = VALUE` lines of `scontrol show config`.
TextRecord ParseConfigLines(std::string_view text);

// "", for the words by which Slurm says that there is nothing.
std::string_view OrNothing(std::string_view value);

// "lab1" of "lab1(1001)".
std::string_view BeforeParenthesis(std::string_view text);

// The length of the key that starts `text`, when KEY= does; otherwise zero.
size_t KeyLength(std::string_view text);

// Where the value that starts `text`, one line, ends: before a blank that the next KEY= follows.
size_t ValueLength(std::string_view text);

// The leading whole number ("3" of "3 sec"), or `fallback` when there is none.
int64_t ToInteger(std::string_view text, int64_t fallback = 0);
double ToDouble(std::string_view text, double fallback = 0);

// "2000M", "20G", "1.5T", "2000" (MiB) in MiB; zero for anything else.
int64_t ToMib(std::string_view text);

// A count that may be UNLIMITED (infinite) or NONE, "" (absent).
SlurmNumber ToCount(std::string_view text);

// A usage that Slurm has not computed yet is NO_VAL (4294967294): nothing was used so far.
double KnownUsage(double usage);

// A field as a duration in seconds; absent where it is none.
SlurmNumber DurationOf(const TextRecord& record, std::string_view key);

}  // namespace gpuadvise::collect
