#include "common/gpu/gpu_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

bool IsWordChar(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); }

constexpr std::array<std::string_view, 8> kVendorWords = {
    "nvidia", "tesla", "geforce", "amd", "instinct", "radeon", "corporation", "gpu"};
constexpr std::array<std::string_view, 12> kEmptyWords = {
    "graphics", "generation", "gen", "edition", "hbm2", "hbm2e",
    "hbm3",     "hbm3e",      "oam", "mig",     "me",   "device"};
// Sizes of existing cards. Other bare numbers belong to the family ("RTX 8000").
constexpr std::array kSizesGb = {6,  8,  10, 11, 12,  16,  20,  24,  32,  40,  48,  64,
                                 72, 80, 94, 96, 128, 141, 144, 180, 186, 192, 256, 288};

std::vector<std::string> WordsOf(std::string_view lower) {
  std::vector<std::string> words(1);
  for (char c : lower) {
    if (IsWordChar(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// "gpu4090" becomes "4090".
std::string WithoutGpu(const std::string& word) {
  return word.size() > 3 && word.starts_with("gpu") ? word.substr(3) : word;
}

// End of the digits starting at `begin`.
size_t DigitsEnd(std::string_view text, size_t begin) {
  while (begin < text.size() && IsDigit(text[begin])) ++begin;
  return begin;
}

// Removes "1g.11gb", "3g20gb" or "1g-5gb" from `lower` and returns it as "1g.11gb".
std::string TakeMigProfile(std::string& lower) {
  for (size_t begin = 0; begin + 1 < lower.size(); ++begin) {
    const bool starts = begin == 0 || !IsWordChar(lower[begin - 1]);
    if (!starts || !IsDigit(lower[begin]) || lower[begin + 1] != 'g') continue;
    size_t size = begin + 2;
    if (size < lower.size() && (lower[size] == '.' || lower[size] == '_' || lower[size] == '-'))
      ++size;
    const size_t end = DigitsEnd(lower, size);
    if (end == size || lower.substr(end, 2) != "gb") continue;
    std::string profile = lower.substr(begin, 2) + '.' + lower.substr(size, end - size) + "gb";
    lower.replace(begin, end + 2 - begin, " ");
    return profile;
  }
  return "";
}

// "80gb", "80g", "80gib" or, where `bare` is allowed, "80".
std::optional<int> MemoryWord(std::string_view word, bool bare) {
  const size_t end = DigitsEnd(word, 0);
  const std::string_view unit = word.substr(end);
  if (end == 0 || end > 3 ||
      (unit != "gb" && unit != "g" && unit != "gib" && !(bare && unit.empty()))) {
    return std::nullopt;
  }
  int size = 0;
  std::from_chars(word.data(), word.data() + end, size);
  const bool sold = std::find(kSizesGb.begin(), kSizesGb.end(), size) != kSizesGb.end();
  if (unit.empty() && !sold) return std::nullopt;
  return size;
}

// "sxm4" and "sxm" are "sxm".
std::string FormWord(std::string_view word) {
  if (word == "pcie" || word == "nvl") return std::string(word);
  const bool sxm =
      word.starts_with("sxm") && (word.size() == 3 || (word.size() == 4 && IsDigit(word[3])));
  return sxm ? "sxm" : "";
}

// Removes "sxm4", "pcie", "nvl" from the end of a word: "a100sxm4".
std::string TakeGluedForm(std::string& word) {
  for (std::string_view form : {"sxm", "pcie", "nvl"}) {
    const size_t at = word.rfind(form);
    if (at == std::string::npos || at == 0 || FormWord(word.substr(at)).empty()) continue;
    word.resize(at);
    return std::string(form);
  }
  return "";
}

// Removes "80gb" from the end of "a10080gb". The longest existing size wins.
int TakeGluedMemory(std::string& word) {
  if (!word.ends_with("gb")) return 0;
  for (auto size = kSizesGb.rbegin(); size != kSizesGb.rend(); ++size) {
    const std::string text = std::to_string(*size) + "gb";
    if (word.size() <= text.size() || !word.ends_with(text)) continue;
    word.resize(word.size() - text.size());
    return *size;
  }
  return 0;
}

}  // namespace

GpuName ParseGpuName(std::string_view name) {
  GpuName parsed;
  std::string lower = LowerCase(name);
  parsed.mig_profile = TakeMigProfile(lower);
  for (std::string word : WordsOf(lower)) {
    word = WithoutGpu(word);
    if (IsOneOf(word, kVendorWords) || IsOneOf(word, kEmptyWords)) continue;
    if (const auto memory = MemoryWord(word, !parsed.family.empty())) {
      parsed.memory_gb = *memory;
    } else if (const std::string form = FormWord(word); !form.empty()) {
      parsed.form = form;
    } else {
      if (const int memory_gb = TakeGluedMemory(word)) parsed.memory_gb = memory_gb;
      if (const std::string glued = TakeGluedForm(word); !glued.empty()) parsed.form = glued;
      if (const int memory_gb = TakeGluedMemory(word)) parsed.memory_gb = memory_gb;
      parsed.family += word;
    }
  }
  const bool prefixed = parsed.family.starts_with("rtx") || parsed.family.starts_with("gtx");
  if (prefixed && parsed.family.size() > 3) parsed.family.erase(0, 3);
  return parsed;
}

std::string FoldGpuName(std::string_view name) {
  std::string folded;
  for (const std::string& word : WordsOf(LowerCase(name))) {
    if (!IsOneOf(word, kVendorWords)) folded += WithoutGpu(word);
  }
  return folded;
}

}  // namespace gpuadvise
