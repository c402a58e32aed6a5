#include "common/base/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

constexpr size_t kMaxDigits = 18;  // fits int64_t

int64_t ToNumber(std::string_view digits) {
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string Padded(int64_t value, size_t width) { return fmt::format("{:0{}}", value, width); }

// ---- expansion -------------------------------------------------------------------------------

class Expander {
 public:
  Expander(std::string_view expression, size_t max_names)
      : expression_(expression), max_names_(max_names) {}

  Result<std::vector<std::string>> Run() {
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= expression_.size(); ++i) {
      const char c = i < expression_.size() ? expression_[i] : ',';
      if (c == '[') ++depth;
      if (c == ']') --depth;
      if (depth < 0 || depth > 1 || (depth != 0 && i == expression_.size())) {
        return Bad("its brackets do not match; close every [ with one ]");
      }
      if (c != ',' || depth != 0) continue;
      if (auto done = Name(expression_.substr(begin, i - begin)); !done) {
        return tl::unexpected(done.error());
      }
      begin = i + 1;
    }
    return std::move(names_);
  }

 private:
  tl::unexpected<Error> Bad(std::string_view what) const {
    return BadInput(
        fmt::format("The host list \"{}\" cannot be read: {}.", expression_.substr(0, 80), what));
  }

  // Appends the names of one comma-separated part, such as "n[1-2]-[3-4]".
  Result<void> Name(std::string_view part) {
    std::vector<std::string> heads = {""};
    while (!part.empty()) {
      const size_t open = std::min(part.find('['), part.size());
      // Checked before names multiply: a long name in many copies would exhaust memory.
      if (heads.front().size() + open > kMaxHostNameBytes) return Bad("a name in it is too long");
      for (std::string& head : heads) head += part.substr(0, open);
      part.remove_prefix(open);
      if (part.empty()) break;
      const size_t close = part.find(']');
      auto numbers = Numbers(part.substr(1, close - 1), max_names_ / heads.size());
      if (!numbers) return tl::unexpected(numbers.error());
      heads = Product(heads, *numbers);
      part.remove_prefix(close + 1);
    }
    for (std::string& head : heads) {
      if (!IsHostName(head)) return Bad("a name in it is empty, too long or has blanks");
      if (names_.size() == max_names_) return TooMany();
      names_.push_back(std::move(head));
    }
    return {};
  }

  static std::vector<std::string> Product(const std::vector<std::string>& heads,
                                          const std::vector<std::string>& tails) {
    std::vector<std::string> all;
    all.reserve(heads.size() * tails.size());
    for (const std::string& head : heads) {
      for (const std::string& tail : tails) all.push_back(head + tail);
    }
    return all;
  }

  // "01-05,7" as texts, at most `room` of them.
  Result<std::vector<std::string>> Numbers(std::string_view list, size_t room) const {
    std::vector<std::string> numbers;
    while (true) {
      const size_t comma = std::min(list.find(','), list.size());
      if (auto done = Range(list.substr(0, comma), room, numbers); !done) {
        return tl::unexpected(done.error());
      }
      if (comma == list.size()) return numbers;
      list.remove_prefix(comma + 1);
    }
  }

  Result<void> Range(std::string_view range, size_t room, std::vector<std::string>& out) const {
    const size_t dash = std::min(range.find('-'), range.size());
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == range.size() ? low : range.substr(dash + 1);
    for (std::string_view digits : {low, high}) {
      if (digits.empty() || digits.size() > kMaxDigits ||
          !std::all_of(digits.begin(), digits.end(), IsDigit)) {
        return Bad(
            fmt::format("\"{}\" in its brackets is not a range of numbers", range.substr(0, 40)));
      }
    }
    const int64_t first = ToNumber(low);
    const int64_t last = ToNumber(high);
    if (last < first) return Bad(fmt::format("the range {} runs backwards", range));
    if (static_cast<uint64_t>(last - first) >= room - std::min(room, out.size())) return TooMany();
    for (int64_t n = first; n <= last; ++n) out.push_back(Padded(n, low.size()));
    return {};
  }

  tl::unexpected<Error> TooMany() const {
    return Bad(fmt::format("it stands for more than {} names", max_names_));
  }

  std::string_view expression_;
  size_t max_names_;
  std::vector<std::string> names_;
};

// ---- compression -----------------------------------------------------------------------------

// "classt07-ib" cut at its last number.
struct CutName {
  std::string_view prefix, digits, suffix;
};

CutName Cut(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  if (begin == end || end - begin > kMaxDigits) return {name, {}, {}};
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

// Numbers of adjacent names that are otherwise equal.
class Group {
 public:
  explicit Group(const CutName& name) : prefix_(name.prefix), suffix_(name.suffix) { Add(name); }

  bool Takes(const CutName& name) const {
    return !name.digits.empty() && !ranges_.front().low.empty() && name.prefix == prefix_ &&
           name.suffix == suffix_;
  }

  void Add(const CutName& name) {
    const int64_t number = ToNumber(name.digits);
    if (!ranges_.empty()) {
      Range& range = ranges_.back();
      if (number == range.last + 1 && name.digits == Padded(number, range.low.size())) {
        range.last = number;
        return;
      }
    }
    ranges_.push_back({name.digits, number, number});
  }

  std::string Text() const {
    std::string numbers;
    for (const Range& range : ranges_) {
      if (!numbers.empty()) numbers += ',';
      numbers += range.low;
      if (range.last > range.first) numbers += '-' + Padded(range.last, range.low.size());
    }
    const bool single = ranges_.size() == 1 && ranges_[0].first == ranges_[0].last;
    if (!single) numbers = '[' + numbers + ']';
    return fmt::format("{}{}{}", prefix_, numbers, suffix_);
  }

 private:
  struct Range {
    std::string_view low;
    int64_t first, last;
  };
  std::string_view prefix_, suffix_;
  std::vector<Range> ranges_;
};

}  // namespace

bool IsHostName(std::string_view name) {
  if (name.empty() || name.size() > kMaxHostNameBytes || name == "(null)") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != 0x7f && c != ',' && c != '[' && c != ']';
  });
}

Result<std::vector<std::string>> ExpandHostList(std::string_view expression, size_t max_names) {
  if (expression.empty() || expression == "(null)") return std::vector<std::string>{};
  return Expander(expression, max_names).Run();
}

std::string CompressHostList(const std::vector<std::string>& names) {
  std::string text;
  std::optional<Group> group;
  const auto flush = [&] {
    if (!group) return;
    if (!text.empty()) text += ',';
    text += group->Text();
  };
  for (const std::string& name : names) {
    assert(IsHostName(name));
    const CutName cut = Cut(name);
    if (group && group->Takes(cut)) {
      group->Add(cut);
      continue;
    }
    flush();
    group.emplace(cut);
  }
  flush();
  return text;
}

}  // namespace gpuadvise
