#include "client/preflight/shell_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gpuadvise {
namespace {

bool StartsName(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool ContinuesName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Appends a variable's value; false when only the job knows it.
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

VariableReference ReferenceAt(std::string_view text) {
  const bool braces = text.starts_with('{');
  const size_t start = braces ? 1 : 0;
  size_t end = start;
  if (end >= text.size() || !StartsName(text[end])) return {};
  while (end < text.size() && ContinuesName(text[end])) ++end;
  if (braces && (end >= text.size() || text[end] != '}')) return {};
  return {std::string(text.substr(start, end - start)), braces ? end + 1 : end};
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

}  // namespace gpuadvise
