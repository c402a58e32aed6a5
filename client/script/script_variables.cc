#include "client/script/script_variables.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/sbatch/option_values.h"
#include "client/shell/shell_script.h"
#include "client/shell/shell_text.h"
#include "client/shell/shell_words.h"
#include "common/base/text.h"
#include "common/slurm/gres.h"

namespace gpuadvise::client {
namespace {

// Bounds against values that double with each line of a script: one longer than these is unknown.
constexpr size_t kLongestValue = 32 << 10;
constexpr size_t kMostHeld = 16 << 20;

constexpr int64_t kMostArithmetic = 1'000'000'000'000;  // larger values are not counts

// Parses sums of products of names and numbers by recursive descent.
class Sum {
 public:
  Sum(std::string_view text, const ScriptVariables& variables)
      : rest_(text), variables_(variables) {}

  std::optional<int64_t> Whole() {
    const std::optional<int64_t> sum = Read(0);
    SkipBlanks();
    return rest_.empty() ? sum : std::nullopt;
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  char Operator(std::string_view which) {
    SkipBlanks();
    if (rest_.empty() || which.find(rest_.front()) == std::string_view::npos) return '\0';
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }

  std::optional<int64_t> Read(int depth) {
    std::optional<int64_t> left = Product(depth);
    while (left) {
      const char op = Operator("+-");
      if (op == '\0') return left;
      const std::optional<int64_t> right = Product(depth);
      if (!right) return {};
      left = Bounded(op == '+' ? *left + *right : *left - *right);
    }
    return left;
  }

  std::optional<int64_t> Product(int depth) {
    std::optional<int64_t> left = Factor(depth);
    while (left) {
      const char op = Operator("*/%");
      if (op == '\0') return left;
      const std::optional<int64_t> right = Factor(depth);
      if (!right || (op != '*' && *right == 0)) return {};
      if (op == '*') {
        int64_t product = 0;
        if (__builtin_mul_overflow(*left, *right, &product)) return {};
        left = Bounded(product);
      } else {
        left = op == '/' ? *left / *right : *left % *right;
      }
    }
    return left;
  }

  std::optional<int64_t> Factor(int depth) {
    if (depth > 50) return {};
    if (Operator("(") != '\0') {
      const std::optional<int64_t> inside = Read(depth + 1);
      return Operator(")") != '\0' ? inside : std::nullopt;
    }
    const bool dollar = Operator("$") != '\0';
    const bool braces = dollar && Operator("{") != '\0';
    size_t end = 0;
    while (end < rest_.size() && IsNamePart(rest_[end])) ++end;
    const std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    if (word.empty() || (braces && Operator("}") == '\0')) return {};
    if (!dollar && IsDigit(word[0])) return Number(word);
    return Number(variables_.ValueOf("$" + word).value_or(""));
  }

  static std::optional<int64_t> Number(std::string_view text) {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || text.empty()) return {};
    return Bounded(value);
  }
  static std::optional<int64_t> Bounded(int64_t value) {
    return value <= kMostArithmetic && value >= -kMostArithmetic ? std::optional(value)
                                                                 : std::nullopt;
  }

  std::string_view rest_;
  const ScriptVariables& variables_;
};

int64_t GpusPerNode(const SbatchOptions& options) {
  if (const auto per_node = options.Get("gpus-per-node")) {
    if (const auto gpus = ParseGpusOption(*per_node)) return TotalGpus(*gpus);
  }
  if (const auto gres = options.Get("gres")) {
    if (const auto parsed = ParseGres(*gres)) return TotalGpus(parsed->gpus);
  }
  return 0;
}

}  // namespace

std::optional<int64_t> Arithmetic(std::string_view text, const ScriptVariables& variables) {
  return Sum(text, variables).Whole();
}

ScriptVariables::ScriptVariables(const SbatchOptions& options) {
  const int64_t nodes = ParseNodeCount(options.Get("nodes").value_or("1")).value_or(1);
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) {
    slurm_[name] = std::to_string(nodes);
  }
  if (const int64_t gpus = GpusPerNode(options); gpus > 0) {
    slurm_["SLURM_GPUS_ON_NODE"] = slurm_["SLURM_GPUS_PER_NODE"] = std::to_string(gpus);
  }
  if (const auto tasks = options.Get("ntasks-per-node")) {
    slurm_["SLURM_NTASKS_PER_NODE"] = *tasks;
    if (const auto each = Arithmetic(*tasks, *this)) {
      slurm_["SLURM_NTASKS"] = slurm_["SLURM_NPROCS"] = std::to_string(*each * nodes);
    }
  }
  if (const auto tasks = options.Get("ntasks")) {
    slurm_["SLURM_NTASKS"] = slurm_["SLURM_NPROCS"] = *tasks;
  }
  if (const auto cpus = options.Get("cpus-per-task")) slurm_["SLURM_CPUS_PER_TASK"] = *cpus;
}

void ScriptVariables::AssignText(const std::string& name, const std::string& text) {
  Assigned& kept = assigned_[name];
  kept.words = SplitRawWords(text).value_or(std::vector<std::string>());
  kept.text = text;
  kept.value = Expand(text, true);
}

void ScriptVariables::Assign(std::string_view word, bool certain) {
  const size_t equals = word.find('=');
  const bool adds = equals > 0 && word[equals - 1] == '+';
  const std::string name(word.substr(0, equals - (adds ? 1 : 0)));
  const std::string_view raw = word.substr(equals + 1);
  if (adds && !certain) {
    open_.insert(name);
    return;
  }
  Assigned now;
  const bool is_array = raw.starts_with('(') && raw.ends_with(')');
  now.is_array = is_array;
  if (is_array) {
    now.words = SplitRawWords(raw.substr(1, raw.size() - 2)).value_or(std::vector<std::string>());
  } else {
    now.value = held_ > kMostHeld ? std::nullopt : ValueOf(raw);
    held_ += now.value ? now.value->size() : 0;
    // The shell splits an unquoted variable at blanks, so its text without quotes is words.
    const bool quoted =
        raw.size() > 1 && (raw[0] == '"' || raw[0] == '\'') && raw.ends_with(raw[0]);
    std::string_view inside = quoted ? raw.substr(1, raw.size() - 2) : raw;
    while (quoted && inside.size() > 1 && inside.starts_with(raw[0]) && inside.ends_with(raw[0])) {
      inside = inside.substr(1, inside.size() - 2);  // """text"""
    }
    now.text = inside;
    now.words = SplitRawWords(inside).value_or(std::vector<std::string>());
  }
  Assigned& kept = assigned_[name];
  if (adds) {
    kept.words.insert(kept.words.end(), now.words.begin(), now.words.end());
    const bool known =
        kept.value && now.value && kept.value->size() + now.value->size() <= kLongestValue;
    kept.value = known ? std::optional(*kept.value + *now.value) : std::nullopt;
  } else {
    kept = std::move(now);
  }
  if (!certain) kept = {{}, "", std::nullopt, kept.is_array, false};
}

void ScriptVariables::SetArguments(const std::optional<std::vector<std::string>>& words) {
  std::optional<std::vector<std::string>> now;
  if (words) {
    now.emplace();
    for (const std::string& word : *words) {
      if (const auto several = WordsOf(word)) {
        now->insert(now->end(), several->begin(), several->end());
        continue;
      }
      const std::optional<std::string> value = ValueOf(word);
      now->push_back(value ? ShellQuoted(*value) : word);
    }
  }
  arguments_ = std::move(now);
}

void ScriptVariables::ShiftArguments() {
  if (arguments_ && !arguments_->empty()) arguments_->erase(arguments_->begin());
}

std::vector<std::string> ScriptVariables::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, assigned] : assigned_) names.push_back(name);
  return names;
}

std::optional<std::string> ScriptVariables::ValueOf(std::string_view raw) const {
  std::string value;
  while (!raw.empty()) {
    const char c = raw.front();
    std::optional<std::string> part;
    if (c == '\'') {
      const size_t end = raw.find('\'', 1);
      if (end == std::string_view::npos) return {};
      part = std::string(raw.substr(1, end - 1));
      raw.remove_prefix(end + 1);
    } else if (c == '"') {
      size_t end = 1;
      while (end < raw.size() && raw[end] != '"') end += raw[end] == '\\' ? 2 : 1;
      if (end >= raw.size()) return {};
      part = Expand(raw.substr(1, end - 1), true);
      raw.remove_prefix(end + 1);
    } else {
      size_t end = 0;
      int braces = 0;
      while (end < raw.size() && (braces > 0 || (raw[end] != '\'' && raw[end] != '"'))) {
        if (raw[end] == '{' || raw[end] == '(') ++braces;
        if (raw[end] == '}' || raw[end] == ')') --braces;
        end += raw[end] == '\\' ? 2 : 1;
      }
      end = std::min(end, raw.size());
      part = Expand(raw.substr(0, end), false);
      raw.remove_prefix(end);
    }
    if (!part || value.size() + part->size() > kLongestValue) return {};
    value += *part;
  }
  return value;
}

// `quoted`: in double quotes, where a backslash escapes only a few characters.
std::optional<std::string> ScriptVariables::Expand(std::string_view text, bool quoted) const {
  std::string value;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '\\' && !text.empty()) {
      const bool escapes =
          !quoted || std::string_view("$`\"\\\n").find(text.front()) != std::string_view::npos;
      if (!escapes) value += c;
      value += text.front();
      text.remove_prefix(1);
    } else if (c == '`') {
      return {};
    } else if (c == '$') {
      const std::optional<std::string> part = Reference(text, quoted);
      if (!part || value.size() + part->size() > kLongestValue) return {};
      value += *part;
    } else {
      value += c;
    }
  }
  return value;
}

// Reads a reference after a '$'.
std::optional<std::string> ScriptVariables::Reference(std::string_view& rest, bool quoted) const {
  if (rest.starts_with("((")) {
    const size_t end = rest.find("))");
    if (end == std::string_view::npos) return {};
    const std::optional<int64_t> value = Arithmetic(rest.substr(2, end - 2), *this);
    rest.remove_prefix(end + 2);
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  if (rest.starts_with("(expr ")) {
    const size_t end = rest.find(')');
    if (end == std::string_view::npos) return {};
    std::string sum(rest.substr(6, end - 6));
    std::erase(sum, '\\');  // \*
    const std::optional<int64_t> value = Arithmetic(sum, *this);
    rest.remove_prefix(end + 1);
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  if (rest.starts_with('{')) {
    const size_t end = ClosingBrace(rest, 1, quoted);
    if (end == std::string_view::npos) return {};
    const std::string_view inside = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return Braced(inside);
  }
  if (!rest.empty() && (IsDigit(rest.front()) || rest.front() == '#')) {
    const std::string name(1, rest.front());
    rest.remove_prefix(1);
    return Named(name);
  }
  const VariableReference variable = ReferenceAt(rest);
  if (variable.length == 0) return {};
  rest.remove_prefix(variable.length);
  return Named(variable.name);
}

// "NAME", "NAME:-default", "1:-default".
std::optional<std::string> ScriptVariables::Braced(std::string_view inside) const {
  size_t end = 0;
  while (end < inside.size() && IsNamePart(inside[end])) ++end;
  const std::string name(inside.substr(0, end));
  std::string_view rest = inside.substr(end);
  if (rest.empty()) return Named(name);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  if (!rest.starts_with('-') && !rest.starts_with('=')) return {};
  if (const auto value = Named(name); value && !value->empty()) return value;
  return ValueOf(rest.substr(1));
}

std::optional<std::string> ScriptVariables::Named(const std::string& name) const {
  if (name == "#")
    return arguments_ ? std::optional(std::to_string(arguments_->size())) : std::nullopt;
  if (!name.empty() && name.size() < 3 && std::all_of(name.begin(), name.end(), IsDigit)) {
    const size_t at = static_cast<size_t>(std::stoi(name));
    if (!arguments_ || at == 0) return {};
    return at <= arguments_->size() ? ValueOf((*arguments_)[at - 1]) : std::string();
  }
  if (const auto own = assigned_.find(name); own != assigned_.end()) return own->second.value;
  const auto slurms = slurm_.find(name);
  return slurms == slurm_.end() ? std::nullopt : std::optional(slurms->second);
}

std::optional<std::string> ScriptVariables::TextOf(std::string_view raw) const {
  const auto found = assigned_.find(OnlyVariable(raw));
  if (found == assigned_.end() || found->second.text.empty()) return {};
  return found->second.text;
}

std::string ScriptVariables::OnlyVariable(std::string_view raw) {
  if (raw.size() > 1 && raw.front() == '"' && raw.back() == '"')
    raw = raw.substr(1, raw.size() - 2);
  if (!raw.starts_with('$')) return {};
  raw.remove_prefix(1);
  if (raw.starts_with('{') && raw.ends_with('}')) {
    std::string_view name = raw.substr(1, raw.size() - 2);
    for (std::string_view all : {"[@]", "[*]"}) {
      if (name.ends_with(all)) name.remove_suffix(all.size());
    }
    const size_t fallback = std::min(name.find(":-"), name.size());
    return IsVariableName(name.substr(0, fallback)) ? std::string(name.substr(0, fallback)) : "";
  }
  return IsVariableName(raw) ? std::string(raw) : std::string();
}

std::optional<std::vector<std::string>> ScriptVariables::WordsOf(std::string_view raw) const {
  if (IsOneOf(raw, {"$@", "\"$@\"", "${@}", "\"${@}\"", "$*", "${*}"})) return arguments_;
  const auto found = assigned_.find(OnlyVariable(raw));
  if (found == assigned_.end() || !found->second.is_known) return {};
  const Assigned& assigned = found->second;
  const bool all =
      raw.find("[@]") != std::string_view::npos || raw.find("[*]") != std::string_view::npos;
  const bool quoted = raw.starts_with('"');
  if (assigned.is_array) return all ? std::optional(assigned.words) : std::nullopt;
  if (quoted || assigned.words.size() < 2) return {};
  return assigned.words;
}

}  // namespace gpuadvise::client
