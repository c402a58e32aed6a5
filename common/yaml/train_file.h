// A train.yaml, or one section of it, as a request.
//
// Reads the file, selects the section (S1's form: a map of named parts, each with training:), and
// inlines the JSON files it names (hf_config, deepspeed), because the daemon opens no caller's path
// (it passes a reader that refuses). Remembers the line of every value for error messages. The
// daemon validates keys and values.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise {

class TrainFile {
 public:
  // Reads a file named in a training file; errors are sentences with its name.
  using ReadFile = std::function<Result<std::string>(const std::string& path)>;

  // Errors: kBadInput or kNotFound, the sentence starting with file and line. `now` resolves a
  // deadline in words ("fri 18:00"). "-" is standard input.
  static Result<TrainFile> Load(const std::string& path, const std::string& section, int64_t now);
  // From text; `read` opens files relative to `path`.
  static Result<TrainFile> FromText(std::string_view text, const std::string& path,
                                    const std::string& section, int64_t now,
                                    const ReadFile& read = ReadBeside);

  // For a command line instead of a file; errors start with `name`.
  static TrainFile FromSpec(nlohmann::json spec, const std::string& name);

  // Sets a key ("training.max_seq_length") from the option `by` ("--seq 4096"). Overrides the file,
  // including stages that set the key themselves. Returns the replaced values as JSON text. Errors:
  // kBadInput if the value names an unreadable file.
  Result<std::vector<std::string>> Override(const std::string& key, const nlohmann::json& value,
                                            const std::string& by);

  const nlohmann::json& spec() const { return spec_; }
  const std::string& path() const { return path_; }
  // The selected section; "" for the whole file.
  const std::string& section() const { return section_; }

  // "train.yaml:7: message" for an error at `/spec/…`, or at a pointer into the spec; "--seq 4096:
  // message" for a value from an option.
  std::string Explain(const Error& error) const;
  // The error with that sentence, and its further ones with theirs.
  Error Explained(Error error) const;
  tl::unexpected<Error> Refuse(const std::string& message, const std::string& pointer) const;

 private:
  Result<void> TakeSection(const std::string& section);
  static Result<std::string> ReadBeside(const std::string& path);
  Result<void> InlineFiles(const ReadFile& read);
  Result<void> InlineFilesOf(nlohmann::json& part, const std::string& pointer,
                             const ReadFile& read);
  Result<void> InlineJson(nlohmann::json& value, const std::string& pointer, const ReadFile& read);
  Result<void> ResolveDeadline(int64_t now);
  std::string PointerInDocument(const std::string& pointer) const;
  std::vector<std::string> SectionNames() const;

  std::string path_;
  YamlDocument document_;
  std::string section_;  // "" if the whole file is the spec
  nlohmann::json spec_;
  std::map<std::string, std::string> options_;  // pointer into the spec -> option
};

}  // namespace gpuadvise
