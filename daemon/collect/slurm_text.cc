#include "daemon/collect/slurm_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/slurm_time.h"
#include "common/base/text.h"

namespace gpuadvise::collect {
namespace {

// Keys with free text; at the start of a line the value extends to the end of the line.
constexpr std::array<std::string_view, 12> kFreeText = {
    "Reason", "Comment", "AdminComment", "SystemComment", "Command",    "WorkDir", "StdErr",
    "StdIn",  "StdOut",  "OS",           "Extra",         "BurstBuffer"};

// Texts that users may write at any time; nothing after the first of them is read as a field.
constexpr std::array<std::string_view, 5> kPeoplesText = {"Reason", "Comment", "AdminComment",
                                                          "SystemComment", "Extra"};

bool IsKeyByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '/' || c == ':';
}

bool IsFreeText(std::string_view key, bool first_of_line) {
  return key == "JobName" || (first_of_line && IsOneOf(key, kFreeText));
}

// Reads one line into `record`; `people_wrote`: whether a user-written text has begun.
void ParseLine(std::string_view line, TextRecord& record, bool& people_wrote) {
  bool first = true;
  line = Trim(line);
  while (!line.empty()) {
    const size_t key_length = KeyLength(line);
    if (key_length == 0) return;
    const std::string_view key = line.substr(0, key_length);
    const std::string_view rest = line.substr(key_length + 1);
    const size_t length = IsFreeText(key, first) ? rest.size() : ValueLength(rest);
    const bool is_peoples = first && IsOneOf(key, kPeoplesText);
    people_wrote = people_wrote || is_peoples;
    if (is_peoples || !people_wrote) record.Add(key, Trim(rest.substr(0, length)));
    line = Trim(rest.substr(length));
    first = false;
  }
}

bool StartsRecord(std::string_view line, std::string_view first_key) {
  return line.starts_with(first_key) && line.substr(first_key.size()).starts_with('=');
}

}  // namespace

size_t KeyLength(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsKeyByte(text[n])) ++n;
  return n > 0 && n < text.size() && text[n] == '=' && text[0] >= 'A' && text[0] <= 'Z' ? n : 0;
}

size_t ValueLength(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ' && i + 1 < text.size() && KeyLength(text.substr(i + 1)) > 0) return i;
  }
  return text.size();
}

std::string_view TextRecord::Raw(std::string_view key) const {
  for (const Field& field : fields_) {
    if (field.first == key) return field.second;
  }
  return {};
}

std::string_view TextRecord::Get(std::string_view key) const { return OrNothing(Raw(key)); }

int64_t TextRecord::Integer(std::string_view key, int64_t fallback) const {
  return ToInteger(Raw(key), fallback);
}

bool TextRecord::IsYes(std::string_view key) const {
  const std::string_view value = Raw(key);
  return value == "YES" || value == "Yes" || value == "yes" || value == "1";
}

std::vector<std::string> TextRecord::List(std::string_view key) const {
  const std::string_view value = Get(key);
  std::vector<std::string> items;
  if (value == "ALL") return items;
  for (std::string_view item : SplitAt(value, ',')) {
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

std::vector<TextRecord> ParseRecords(std::string_view text, std::string_view first_key,
                                     RecordStart start) {
  std::vector<TextRecord> records;
  bool may_start = true;
  bool inside = false;
  bool people_wrote = false;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (Trim(line).empty()) {
      may_start = true;
      continue;
    }
    if (may_start || !inside || start == RecordStart::kAnyLine) {
      const bool starts = StartsRecord(line, first_key);
      if (starts) {
        records.emplace_back();
        people_wrote = false;
      }
      inside = starts || (inside && line.starts_with(' '));
    }
    if (inside) ParseLine(line, records.back(), people_wrote);
    may_start = false;
  }
  return records;
}

std::vector<TextRecord> ParsePipeTable(std::string_view text) {
  std::vector<TextRecord> rows;
  const std::vector<std::string_view> names = SplitAt(TakeLine(text), '|');
  while (!text.empty()) {
    const std::vector<std::string_view> values = SplitAt(TakeLine(text), '|');
    if (values.empty()) continue;
    TextRecord& row = rows.emplace_back();
    for (size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
      row.Add(Trim(names[i]), Trim(values[i]));
    }
  }
  return rows;
}

TextRecord ParseConfigLines(std::string_view text) {
  TextRecord record;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    record.Add(Trim(line.substr(0, equals)), Trim(line.substr(equals + 1)));
  }
  return record;
}

std::string_view OrNothing(std::string_view value) {
  constexpr std::array<std::string_view, 5> kNothing = {"(null)", "N/A", "None", "(none)", "n/a"};
  const bool nothing = std::find(kNothing.begin(), kNothing.end(), value) != kNothing.end();
  return nothing ? std::string_view() : value;
}

std::string_view BeforeParenthesis(std::string_view text) {
  return text.substr(0, text.rfind('('));
}

int64_t ToInteger(std::string_view text, int64_t fallback) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : fallback;
}

double ToDouble(std::string_view text, double fallback) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : fallback;
}

int64_t ToMib(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || !(value >= 0) || value > 1e15) return 0;
  double factor = 1;
  switch (end == last ? 'M' : *end) {
    case 'K':
      factor = 1.0 / 1024;
      break;
    case 'G':
      factor = 1024;
      break;
    case 'T':
      factor = 1024.0 * 1024;
      break;
    case 'P':
      factor = 1024.0 * 1024 * 1024;
      break;
    default:
      break;
  }
  const double mib = value * factor;
  return mib > 1e15 ? 0 : std::llround(mib);
}

SlurmNumber ToCount(std::string_view text) {
  if (text == "UNLIMITED" || text == "INFINITE") return SlurmNumber::Infinite();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? SlurmNumber(value) : SlurmNumber::Absent();
}

double KnownUsage(double usage) {
  constexpr double kNoVal = 4294967294;
  return usage >= kNoVal ? 0 : usage;
}

SlurmNumber DurationOf(const TextRecord& record, std::string_view key) {
  return ParseSlurmDuration(record.Get(key)).value_or(SlurmNumber::Absent());
}

}  // namespace gpuadvise::collect
