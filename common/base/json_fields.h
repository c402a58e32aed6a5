// Typed reading of a JSON object written by a person or another program.
//
// A FieldReader reads one object member by member; a missing or null member is an empty optional.
// All readers of a document share one DocumentErrors, which keeps the first failure (wrong type,
// out of range, unknown key); the caller checks once at the end. Every error names the key, the
// value found and the expected form, at its JSON pointer. Not for concurrent use; readers keep
// references to the document.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

// `pointer` + "/" + `key` with the escapes of RFC 6901.
std::string PointerTo(const std::string& pointer, const std::string& key);

// Describes a value for messages: "a number (3.5)", "a list", "text ('abc')"; shortens long text.
std::string KindOf(const nlohmann::json& value);

// A JSON object that another program wrote, nested at most 64 deep. Errors: kBadInput; the sentence
// goes on after the file's name ("is no JSON object").
Result<nlohmann::json> ParseJsonObject(std::string_view text);

// Default bounds on one member: far more than a person writes, small enough to process quickly.
inline constexpr size_t kMaxTextBytes = 4096;
inline constexpr size_t kMaxListItems = 256;

// The first errors in a document, each at another place: a later one inside the same value is
// usually a consequence.
class DocumentErrors {
 public:
  void Note(std::string message, std::string pointer);
  bool failed() const { return error_.has_value(); }
  // The error, if any, as a Result.
  Result<void> AsResult() const {
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
  }

 private:
  std::optional<Error> error_;
};

class FieldReader {
 public:
  // Notes an error when `value` is not an object; every member is then missing.
  FieldReader(const nlohmann::json& value, std::string pointer, DocumentErrors* errors);

  std::optional<int64_t> Int(const std::string& key, int64_t low, int64_t high);
  std::optional<double> Number(const std::string& key, double low, double high);
  std::optional<bool> Bool(const std::string& key);
  // Longer text is refused, and so are longer lists below.
  std::optional<std::string> Text(const std::string& key, size_t most_bytes = kMaxTextBytes);
  // One of `allowed`; the error lists them.
  std::optional<std::string> Choice(const std::string& key,
                                    const std::vector<std::string>& allowed);
  // A text or a list of texts (numbers count as text: `account: 42`).
  std::vector<std::string> Texts(const std::string& key, size_t most_items = kMaxListItems);
  // true, false or one of `words` ("auto"): "true"/"false" for the booleans.
  std::optional<std::string> Switch(const std::string& key, const std::vector<std::string>& words);
  // A size with its unit: "5 GB" (10^9), "21.3 GiB" (2^30), "30G" (Slurm's GiB). In bytes, > 0.
  std::optional<int64_t> Size(const std::string& key);
  // A time as Slurm writes limits: "12:00:00", "2-00:00:00", a number of minutes. In seconds, > 0.
  std::optional<int64_t> TimeLimit(const std::string& key);
  // Any value; nullptr when missing or null.
  const nlohmann::json* Any(const std::string& key);
  // A list; empty when missing.
  std::vector<const nlohmann::json*> List(const std::string& key,
                                          size_t most_items = kMaxListItems);
  // A nested object; empty optional when missing.
  std::optional<FieldReader> Object(const std::string& key);

  std::string PointerOf(const std::string& key) const { return PointerTo(pointer_, key); }
  const std::string& pointer() const { return pointer_; }
  DocumentErrors* errors() { return errors_; }

  // Notes an error at `key` ("KEY must be …" is the caller's sentence).
  void Refuse(const std::string& key, const std::string& message);
  // Refuses every member that was not asked for, with the nearest key that was.
  void RefuseUnknown();
  // Members that were not read.
  std::vector<std::pair<std::string, const nlohmann::json*>> Unasked() const;
  bool WasAsked(const std::string& key) const;

 private:
  const nlohmann::json* Member(const std::string& key);
  bool IsShort(const std::string& key, const std::string& text, size_t most_bytes);
  bool IsShort(const std::string& key, const nlohmann::json& list, size_t most_items);
  void Expected(const std::string& key, const nlohmann::json& found, const std::string& what);

  const nlohmann::json* object_;  // nullptr if the value was not an object
  std::string pointer_;
  DocumentErrors* errors_;
  std::vector<std::string> asked_;
};

// The value as JSON; null if absent.
template <typename T>
nlohmann::json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace gpuadvise
