#include "yaml/yaml_document.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "yaml/text_check.h"
#include "yaml/yaml_builder.h"

namespace gpuadvise {
namespace {

tl::unexpected<Error> At(const std::string& file, int line, const std::string& sentence) {
  const std::string place = line > 0 ? file + ":" + std::to_string(line) : file;
  return BadInput(place + ": " + sentence);
}

std::string_view LineText(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

bool IndentedWithTab(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return line.substr(0, first).find('\t') != std::string_view::npos;
}

tl::unexpected<Error> SyntaxError(std::string_view text, const std::string& file,
                                  const YAML::Exception& exception) {
  const int line = exception.mark.is_null() ? 0 : exception.mark.line + 1;
  if (line > 0 && IndentedWithTab(LineText(text, line))) {
    return At(file, line, "a tab in the indentation; YAML takes spaces only");
  }
  return At(file, line,
            "not valid YAML (" + exception.msg + "); check the indentation, quotes and colons");
}

// What can be said before parsing.
Result<void> CheckText(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    return At(file, 0, "larger than 1 MiB; a settings or training file is a few kilobytes");
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return At(file, LineAt(text, nul),
              "a NUL byte; this is not a text file (UTF-16? save as UTF-8)");
  }
  if (const auto bad = FirstInvalidUtf8(text)) {
    return At(file, LineAt(text, *bad), "not UTF-8 text; save the file as UTF-8");
  }
  return {};
}

Result<YamlDocument> Build(std::string_view text, const std::string& file, EmptyYaml empty) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  YamlBuilder builder;
  while (parser.HandleNextDocument(builder)) {
  }
  if (!builder.saw_value() && empty == EmptyYaml::kRefused) {
    return At(file, 0, "the file is empty; write `key: value` lines");
  }
  return builder.Take();
}

}  // namespace

int YamlDocument::LineOf(std::string_view pointer) const {
  std::string at(pointer);
  while (!at.empty()) {
    if (const auto found = lines.find(at); found != lines.end()) return found->second;
    const size_t slash = at.rfind('/');
    at.resize(slash == std::string::npos ? 0 : slash);
  }
  return 0;
}

Result<YamlDocument> ParseYaml(std::string_view text, const std::string& file, EmptyYaml empty) {
  if (Result<void> checked = CheckText(text, file); !checked) {
    return tl::unexpected<Error>(checked.error());
  }
  try {
    return Build(text, file, empty);
  } catch (const YamlFault& fault) {
    return At(file, fault.line, fault.sentence);
  } catch (const YAML::Exception& exception) {
    return SyntaxError(text, file, exception);
  }
}

std::string Describe(const Error& error, const std::string& file, const YamlDocument& document) {
  const int line = document.LineOf(error.pointer);
  if (line == 0) return file + ": " + error.message;
  return file + ":" + std::to_string(line) + ": " + error.message;
}

}  // namespace gpuadvise
