#include "common/base/bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/base/text.h"

namespace gpuadvise {
namespace {

constexpr double kMaxBytes = static_cast<double>(int64_t{1} << 62);

struct ByteUnit {
  std::string_view name;  // lower case
  double bytes;
};
constexpr double kKi = 1024.0;
constexpr std::array kUnits = {
    ByteUnit{"b", 1},
    ByteUnit{"kb", 1e3},
    ByteUnit{"mb", 1e6},
    ByteUnit{"gb", 1e9},
    ByteUnit{"tb", 1e12},
    ByteUnit{"pb", 1e15},
    ByteUnit{"kib", kKi},
    ByteUnit{"mib", kKi* kKi},
    ByteUnit{"gib", kKi* kKi* kKi},
    ByteUnit{"tib", kKi* kKi* kKi* kKi},
    ByteUnit{"pib", kKi* kKi* kKi* kKi* kKi},
    ByteUnit{"k", kKi},
    ByteUnit{"m", kKi* kKi},
    ByteUnit{"g", kKi* kKi* kKi},
    ByteUnit{"t", kKi* kKi* kKi* kKi},
    ByteUnit{"p", kKi* kKi* kKi* kKi* kKi},
};

std::optional<double> UnitNamed(std::string_view name) {
  const std::string lower = LowerCase(name);
  const auto hit = std::find_if(kUnits.begin(), kUnits.end(),
                                [&](const ByteUnit& unit) { return unit.name == lower; });
  if (hit == kUnits.end()) return std::nullopt;
  return hit->bytes;
}

tl::unexpected<Error> Bad(std::string_view text, std::string_view what) {
  return BadInput(fmt::format("The amount \"{}\" {}.", text.substr(0, 40), what));
}

// A decimal number at the front of `text`, and the rest.
struct Amount {
  double number;
  std::string_view unit;
};
std::optional<Amount> SplitAmount(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + end, number);
  if (end == 0 || parsed.ec != std::errc{} || parsed.ptr != text.data() + end) return std::nullopt;
  return Amount{number, Trim(text.substr(end))};
}

Result<Bytes> Scaled(std::string_view text, double number, double unit) {
  const double bytes = std::round(number * unit);
  if (!(bytes <= kMaxBytes)) return Bad(text, "is too large; check its unit");
  return Bytes{static_cast<int64_t>(bytes)};
}

}  // namespace

Result<Bytes> ParseBytes(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  const auto amount = SplitAmount(trimmed);
  if (!amount) return Bad(trimmed, "is not a size; write it like 5 GB or 21.3 GiB");
  if (amount->unit.empty()) {
    return Bad(trimmed, "has no unit; write it like 5 GB (10^9 bytes) or 5 GiB (2^30 bytes)");
  }
  const auto unit = UnitNamed(amount->unit);
  if (!unit) return Bad(trimmed, "has an unknown unit; use MB, GB, TB, MiB, GiB or TiB");
  return Scaled(trimmed, amount->number, *unit);
}

Result<Bytes> ParseSlurmMemory(std::string_view text, char bare) {
  const auto amount = SplitAmount(text);
  std::string_view letter = amount && amount->unit.empty() ? std::string_view(&bare, 1)
                            : amount                       ? amount->unit
                                                           : "";
  // sbatch takes a B behind the unit (tried with 22.05): "256GB" is 256G.
  const bool has_b = letter.size() == 2 && (letter[1] == 'B' || letter[1] == 'b');
  if (has_b && text.find(' ') == text.npos) letter = letter.substr(0, 1);
  const auto unit =
      letter.size() == 1 && letter != "b" && letter != "B" ? UnitNamed(letter) : std::nullopt;
  if (!unit) return Bad(text, "is not a memory size of Slurm's; write it like 30G or 1500M");
  return Scaled(text, amount->number, *unit);
}

std::string FormatDecimalBytes(Bytes bytes) {
  constexpr std::array<std::string_view, 5> kNames = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  auto amount = static_cast<double>(bytes.count);
  while (std::abs(amount) >= 1000 && unit + 1 < kNames.size()) {
    amount /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2;
  std::string number = fmt::format("{:.{}f}", amount, decimals);
  if (decimals > 0) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  return fmt::format("{} {}", number, kNames[unit]);
}

std::string FormatSlurmMemory(Bytes bytes) {
  const int64_t mib = bytes.MiBRoundedUp();
  return mib % 1024 == 0 && mib > 0 ? fmt::format("{}G", mib / 1024) : fmt::format("{}M", mib);
}

}  // namespace gpuadvise
