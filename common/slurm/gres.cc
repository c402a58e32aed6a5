#include "common/slurm/gres.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

constexpr int64_t kMaxCount = 1'000'000'000;

tl::unexpected<Error> Bad(std::string_view part, std::string_view what) {
  return BadInput(
      fmt::format("The GRES \"{}\" cannot be read: {}; write it like gpu:4, "
                  "gpu:a100:4 or gres/gpu:a100=4.",
                  part.substr(0, 80), what));
}

// Splits at `separator` outside parentheses: keeps "(IDX:0,2-3)" together.
std::vector<std::string_view> SplitOutsideParentheses(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && depth > 0) --depth;
    if (text[i] != separator || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// "4", "2K": a count with Slurm's multiplier suffix.
std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0 || count > kMaxCount) return std::nullopt;
  const std::string_view letter(end, static_cast<size_t>(text.data() + text.size() - end));
  if (letter == "K" || letter == "k")
    count <<= 10;
  else if (letter == "M" || letter == "m")
    count <<= 20;
  else if (letter == "G" || letter == "g")
    count <<= 30;
  else if (!letter.empty())
    return std::nullopt;
  if (count > kMaxCount) return std::nullopt;
  return count;
}

// One part of a list: "gres/gpu:a100=4", "gpu:(null):4(IDX:0-3)".
struct Item {
  std::string_view name;  // "gpu", "shard", "mps"
  std::string_view type;  // "": untyped
  int64_t count = 1;
  bool is_tres = false;  // written with "=": an untyped count is the total of the typed ones
};

// Since 24.11 Slurm keeps the case of names as written.
bool IsNamed(std::string_view name, std::string_view gres) { return EqualIgnoringCase(name, gres); }

bool IsCounted(std::string_view name) {
  return IsNamed(name, "gpu") || IsNamed(name, "shard") || IsNamed(name, "mps");
}

std::string_view WithoutPrefix(std::string_view part) {
  for (std::string_view prefix : {"gres/", "gres:"}) {
    if (EqualIgnoringCase(part.substr(0, prefix.size()), prefix)) return part.substr(prefix.size());
  }
  return part;
}

// Removes a trailing "(S:0-1)" or "(IDX:N/A)", but keeps "(null)" in the middle, which is a type.
std::string_view WithoutDetail(std::string_view part) {
  const size_t open = part.rfind('(');
  if (open == std::string_view::npos || open == 0 || !part.ends_with(')')) return part;
  return part[open - 1] == ':' ? part : part.substr(0, open);
}

// nullopt if unrelated to GPUs.
Result<std::optional<Item>> ParseItem(std::string_view part) {
  std::string_view rest = WithoutDetail(WithoutPrefix(part));
  Item item;
  std::optional<std::string_view> count_text;
  if (const size_t equals = rest.find('='); equals != std::string_view::npos) {
    item.is_tres = true;
    count_text = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
  }
  std::vector<std::string_view> words = SplitOutsideParentheses(rest, ':');
  item.name = words.front();
  if (!IsCounted(item.name)) return std::optional<Item>();
  words.erase(words.begin());
  std::erase(words, "no_consume");
  if (!count_text && !words.empty() && (words.size() > 1 || ParseCount(words.back()))) {
    count_text = words.back();
    words.pop_back();
  }
  if (words.size() > 1) return Bad(part, "it has too many parts");
  if (!words.empty() && (words.front().empty() || words.front().front() == '-')) {
    return Bad(part, "its type is empty or a negative number");
  }
  if (!words.empty() && words.front() != "(null)") item.type = words.front();
  if (!count_text) return std::optional<Item>(item);
  const auto count = ParseCount(*count_text);
  if (!count) return Bad(part, fmt::format("\"{}\" is not a count", count_text->substr(0, 40)));
  item.count = *count;
  return std::optional<Item>(item);
}

// Sums items of one kind (GPU, shard) without adding a TRES total to its parts.
class Tally {
 public:
  void Add(const Item& item) {
    if (item.is_tres && item.type.empty()) {
      total_ = std::max(total_, item.count);
      return;
    }
    if (item.is_tres) typed_ += item.count;
    counts_[std::string(item.type)] += item.count;
  }

  GpuCounts Counts() const {
    GpuCounts counts;
    for (const auto& [type, count] : counts_) counts.push_back({type, count});
    // GPUs of the total beyond its typed parts have an unknown type.
    counts.push_back({"", std::max<int64_t>(total_ - typed_, 0)});
    return CanonicalGpus(std::move(counts));
  }

 private:
  std::map<std::string, int64_t> counts_;
  int64_t total_ = 0;
  int64_t typed_ = 0;
};

bool IsNone(std::string_view text) {
  return text.empty() || text == "(null)" || text == "N/A" || text == "none" || text == "NONE";
}

}  // namespace

Result<Gres> ParseGres(std::string_view text) {
  if (IsNone(text)) return Gres{};
  Tally gpus, shards, mps;
  for (std::string_view part : SplitOutsideParentheses(text, ',')) {
    if (IsNone(part)) continue;
    const auto item = ParseItem(part);
    if (!item) return tl::unexpected(item.error());
    if (!*item) continue;
    const std::string_view name = (*item)->name;
    (IsNamed(name, "gpu") ? gpus : IsNamed(name, "shard") ? shards : mps).Add(**item);
  }
  return Gres{gpus.Counts(), TotalGpus(shards.Counts()), TotalGpus(mps.Counts())};
}

Result<GpuCounts> ParseGpusOption(std::string_view text) {
  GpuCounts counts;
  for (std::string_view part : SplitOutsideParentheses(text, ',')) {
    const std::string gres = fmt::format("gpu:{}", part);
    const auto item = ParseItem(gres);
    if (!item || part.empty() || part.find('=') != std::string_view::npos) {
      return BadInput(
          fmt::format("The GPUs \"{}\" cannot be read; write a count (4) or a type and "
                      "a count (l40s:2).",
                      part.substr(0, 80)));
    }
    counts.push_back({std::string((*item)->type), (*item)->count});
  }
  return CanonicalGpus(std::move(counts));
}

std::string ToGresText(const GpuCounts& gpus) {
  std::string text;
  for (const GpuCount& gpu : gpus) {
    if (!text.empty()) text += ',';
    text += gpu.type.empty() ? fmt::format("gpu:{}", gpu.count)
                             : fmt::format("gpu:{}:{}", gpu.type, gpu.count);
  }
  return text;
}

GpuCounts CanonicalGpus(GpuCounts counts) {
  std::map<std::string, int64_t> sums;
  for (GpuCount& gpu : counts) sums[std::move(gpu.type)] += gpu.count;
  GpuCounts canonical;
  for (auto& [type, count] : sums) {
    if (count > 0) canonical.push_back({type, count});
  }
  return canonical;
}

GpuCounts AddGpus(const GpuCounts& a, const GpuCounts& b) {
  GpuCounts sum = a;
  sum.insert(sum.end(), b.begin(), b.end());
  return CanonicalGpus(std::move(sum));
}

GpuCounts MultiplyGpus(const GpuCounts& counts, int64_t factor) {
  GpuCounts product = counts;
  for (GpuCount& gpu : product) gpu.count *= factor;
  return CanonicalGpus(std::move(product));
}

int64_t TotalGpus(const GpuCounts& counts) {
  int64_t total = 0;
  for (const GpuCount& gpu : counts) total += gpu.count;
  return total;
}

int64_t GpusOfType(const GpuCounts& counts, std::string_view type) {
  int64_t total = 0;
  for (const GpuCount& gpu : counts) total += gpu.type == type ? gpu.count : 0;
  return total;
}

}  // namespace gpuadvise
