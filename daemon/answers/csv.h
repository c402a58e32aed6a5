// Rows as a file for spreadsheets (RFC 4180). Names of jobs, users and accounts are anybody's
// words, so a text that a spreadsheet would take for a formula is put behind an apostrophe, as the
// dashboard does (web/src/parts/csv.ts).
//
// Text stands in quotes and on one line: control characters become a blank. Bytes that are no UTF-8
// stay as they are. Belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gpuadvise::daemon {

class CsvText {
 public:
  void Add(std::string_view text);
  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(const char* text) { Add(std::string_view(text)); }
  void Add(int64_t number);

  // An empty cell for nullopt.
  template <typename T>
  void Add(const std::optional<T>& value) {
    if (value) return Add(*value);
    Begin();
  }

  void EndLine();

  std::string Take() && { return std::move(text_); }

 private:
  void Begin();

  std::string text_;
  bool in_line_ = false;
};

}  // namespace gpuadvise::daemon
