// The text format of `scontrol show …`: records of KEY=VALUE words on several lines.
//
// All Slurm releases share it. Values may contain blanks and '=' ("JobName=my job = 7", "Reason=fan
// broken [root@…]"): such keys extend to the end of their line, and text in a reason or comment
// never sets another field. A missing key reads as "", as do "(null)" and "N/A". Views point into
// the text given to ParseRecords, which must outlive them. Pure functions, any thread.
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

  // The first value of `key` as printed; "" if absent.
  std::string_view Raw(std::string_view key) const;
  // As Raw, but "" for "(null)", "N/A", "None" and "(none)".
  std::string_view Get(std::string_view key) const;
  int64_t Integer(std::string_view key, int64_t fallback = 0) const;
  bool IsYes(std::string_view key) const;
  std::vector<std::string> List(
      std::string_view key) const;  // comma-separated; "ALL" gives an empty list

  const std::vector<Field>& fields() const { return fields_; }
  void Add(std::string_view key, std::string_view value) { fields_.emplace_back(key, value); }

 private:
  std::vector<Field> fields_;
};

enum class RecordStart {
  kAfterBlankLine,  // text in a name or comment cannot begin a record
  kAnyLine,
};

// All records that begin with `first_key` ("NodeName") at the start of a line. Skips other text,
// such as "No reservations in the system". After the first reason or comment of a record, reads
// only reasons and comments: Slurm prints all other fields before.
std::vector<TextRecord> ParseRecords(std::string_view text, std::string_view first_key,
                                     RecordStart start = RecordStart::kAfterBlankLine);

// The rows of `sacctmgr -P` or `sshare -P`: a header line with names, then one row per line.
std::vector<TextRecord> ParsePipeTable(std::string_view text);

// The `KEY = VALUE` lines of `scontrol show config`.
TextRecord ParseConfigLines(std::string_view text);

// `value`, or "" for Slurm's words for no value.
std::string_view OrNothing(std::string_view value);

// "lab1" of "lab1(1001)".
std::string_view BeforeParenthesis(std::string_view text);

// Length of the key if `text` starts with KEY=, else 0.
size_t KeyLength(std::string_view text);

// Length of the value at the start of `text`, one line: up to a blank before the next KEY=.
size_t ValueLength(std::string_view text);

// The leading whole number ("3" of "3 sec"), else `fallback`.
int64_t ToInteger(std::string_view text, int64_t fallback = 0);
double ToDouble(std::string_view text, double fallback = 0);

// "2000M", "20G", "1.5T" or "2000" (MiB) in MiB; 0 for anything else.
int64_t ToMib(std::string_view text);

// A count; UNLIMITED: infinite; NONE or "": absent.
SlurmNumber ToCount(std::string_view text);

// `usage`, or 0 for NO_VAL (4294967294): Slurm has not computed it yet.
double KnownUsage(double usage);

// A field as a duration in seconds; absent if it is none.
SlurmNumber DurationOf(const TextRecord& record, std::string_view key);

}  // namespace gpuadvise::collect
