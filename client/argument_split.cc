#include "client/argument_split.h"

#include <algorithm>

namespace gpuadvise {
namespace {

bool IsOneOf(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool GivesOneOf(const std::string& word, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return word.starts_with(name + "="); });
}

}  // namespace

std::vector<std::string> TakeSbatchWords(const OwnWords& own, std::vector<std::string>* arguments) {
  std::vector<std::string> sbatch;
  std::vector<std::string> ours(arguments->begin(), arguments->begin() + 1);
  for (size_t i = 1; i < arguments->size(); ++i) {
    const std::string& word = (*arguments)[i];
    if (IsOneOf(word, own.flags) || GivesOneOf(word, own.values)) {
      ours.push_back(word);
    } else if (IsOneOf(word, own.values) && i + 1 < arguments->size()) {
      ours.push_back(word);
      ours.push_back((*arguments)[++i]);
    } else {
      sbatch.push_back(word);
    }
  }
  *arguments = std::move(ours);
  return sbatch;
}

std::vector<std::string> TakeAfterDashes(std::vector<std::string>* arguments) {
  const auto dashes = std::find(arguments->begin(), arguments->end(), "--");
  if (dashes == arguments->end()) return {};
  std::vector<std::string> after(dashes + 1, arguments->end());
  arguments->erase(dashes, arguments->end());
  return after;
}

}  // namespace gpuadvise
