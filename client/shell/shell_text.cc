#include "client/shell/shell_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

bool StartsName(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Appends a variable's value; returns false if only the job has it.
bool Append(const std::string& name, const Variables& variables, ShellText* expanded) {
  if (IsSetByTheJob(name)) {
    expanded->only_in_job = name;
    return false;
  }
  const auto found = variables.find(name);
  if (found != variables.end()) {
    expanded->text += found->second;
  } else if (expanded->not_set.empty()) {
    expanded->not_set = name;
  }
  return true;
}

}  // namespace

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t ClosingBrace(std::string_view text, size_t from, bool quoted) {
  int depth = 1;
  for (size_t at = from; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '\'' && !quoted) {
      at = text.find('\'', at + 1);
      if (at == std::string_view::npos) break;
    } else if (text[at] == '"' && !quoted) {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (text.substr(at, 2) == "${") {
      ++depth;
    } else if (text[at] == '}' && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

VariableReference ReferenceAt(std::string_view text) {
  const bool braces = text.starts_with('{');
  const size_t start = braces ? 1 : 0;
  size_t end = start;
  if (end >= text.size() || !StartsName(text[end])) return {};
  while (end < text.size() && IsNamePart(text[end])) ++end;
  if (braces && (end >= text.size() || text[end] != '}')) return {};
  return {std::string(text.substr(start, end - start)), braces ? end + 1 : end};
}

bool IsVariableName(std::string_view text) {
  return !text.empty() && StartsName(text.front()) &&
         std::all_of(text.begin(), text.end(), IsNamePart);
}

bool IsSetByTheJob(std::string_view variable) {
  return variable.starts_with("SLURM") || variable == "TMPDIR" ||
         variable == "CUDA_VISIBLE_DEVICES";
}

ShellText ExpandText(std::string_view text, const Variables& variables) {
  ShellText expanded;
  if (text == "~" || text.starts_with("~/")) {
    if (!Append("HOME", variables, &expanded)) return expanded;
    text.remove_prefix(1);
  }
  for (size_t at = 0; at < text.size(); ++at) {
    const VariableReference variable =
        text[at] == '$' ? ReferenceAt(text.substr(at + 1)) : VariableReference{};
    if (variable.length > 0) {
      if (!Append(variable.name, variables, &expanded)) return expanded;
      at += variable.length;
      continue;
    }
    if (text[at] == '`' || text.substr(at).starts_with("$(")) expanded.has_command = true;
    expanded.text += text[at];
  }
  return expanded;
}

std::string PathBeside(const std::string& folder, const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  std::string_view rest = path;
  while (rest.starts_with("./")) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/', 1), rest.size()));
  }
  if (rest.empty() || rest == ".") return folder;
  return folder + (folder.ends_with('/') ? "" : "/") + std::string(rest);
}

namespace {

bool IsPlain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
}

bool NeedsNoQuotes(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsPlain);
}

}  // namespace

std::string ShellQuoted(std::string_view text) {
  if (NeedsNoQuotes(text)) return std::string(text);
  return "'" + ReplaceAll(std::string(text), "'", "'\\''") + "'";
}

std::string ShellExpanding(std::string_view text) {
  std::string quoted = "\"";
  if (text == "~" || text.starts_with("~/")) {
    quoted += "$HOME";
    text.remove_prefix(1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool literal_dollar = c == '$' && ReferenceAt(text.substr(i + 1)).length == 0;
    if (c == '"' || c == '\\' || c == '`' || literal_dollar) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string DirectiveQuoted(std::string_view text) {
  std::string clean;
  bool quotes = text.empty();
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '_';
    quotes =
        quotes || (!IsPlain(c) && std::string_view("[]|&*!()").find(c) == std::string_view::npos);
    if (c == '"' || c == '\\') clean += '\\';
    clean += c;
  }
  return quotes ? "\"" + clean + "\"" : clean;
}

std::string SafeName(std::string_view text) {
  std::string name;
  for (char c : text) {
    const bool kept =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
    name += kept ? c : '_';
  }
  while (name.starts_with('-') || name.starts_with('.')) name.erase(0, 1);
  constexpr size_t kLongest = 64;
  return name.empty() ? "train" : name.substr(0, kLongest);
}

}  // namespace gpuadvise::client
