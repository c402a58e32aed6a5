#include "common/spec/software_year.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <vector>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

struct PytorchRelease {
  int major, minor;
  double year;  // of x.y.0: year + (month - 1 + day / 31) / 12
};

constexpr double On(int year, int month, int day) { return year + (month - 1 + day / 31.0) / 12; }

// Sources: the wiki page "PyTorch Versions" of pytorch/pytorch up to 2.3 (1.11 by its tag, of March
// 2022), its RELEASE.md and tags from then on.
constexpr std::array<PytorchRelease, 26> kReleases = {{
    {0, 4, On(2018, 4, 24)},  {1, 0, On(2018, 12, 7)},  {1, 1, On(2019, 4, 30)},
    {1, 2, On(2019, 8, 8)},   {1, 3, On(2019, 10, 10)}, {1, 4, On(2020, 1, 15)},
    {1, 5, On(2020, 4, 21)},  {1, 6, On(2020, 7, 28)},  {1, 7, On(2020, 10, 27)},
    {1, 8, On(2021, 3, 4)},   {1, 9, On(2021, 6, 15)},  {1, 10, On(2021, 10, 21)},
    {1, 11, On(2022, 3, 10)}, {1, 12, On(2022, 6, 28)}, {1, 13, On(2022, 10, 28)},
    {2, 0, On(2023, 3, 15)},  {2, 1, On(2023, 10, 4)},  {2, 2, On(2024, 1, 30)},
    {2, 3, On(2024, 4, 24)},  {2, 4, On(2024, 7, 24)},  {2, 5, On(2024, 10, 17)},
    {2, 6, On(2025, 1, 29)},  {2, 7, On(2025, 4, 23)},  {2, 8, On(2025, 8, 6)},
    {2, 9, On(2025, 10, 15)}, {2, 10, On(2026, 1, 21)},
}};

constexpr int kFirstContainer = 17;  // NVIDIA's containers of PyTorch began in 2017
constexpr int kFirstYear = 2016, kLastYear = 2099;

struct Figures {
  int whole = 0;         // "24" of "24.10"
  std::string fraction;  // "10"
};

// The first number of a text: "24.10" of "nvcr.io/nvidia/pytorch:24.10-py3".
std::optional<Figures> FirstNumber(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size() && !IsDigit(text[begin])) ++begin;
  size_t end = begin;
  while (end < text.size() && IsDigit(text[end])) ++end;
  if (end == begin || end - begin > 4) return {};
  Figures figures;
  std::from_chars(text.data() + begin, text.data() + end, figures.whole);
  if (end < text.size() && text[end] == '.') {
    for (++end; end < text.size() && IsDigit(text[end]); ++end) figures.fraction += text[end];
  }
  return figures;
}

tl::unexpected<Error> Refused(std::string_view text, std::string_view why) {
  return BadInput(
      fmt::format("software {} {}: write a PyTorch version ('2.4'), an NGC container ('24.10') or "
                  "a year (2022)",
                  Quoted(text), why));
}

Result<std::optional<double>> OfContainer(std::string_view text, const Figures& figures) {
  int month = 0;
  std::from_chars(figures.fraction.data(), figures.fraction.data() + figures.fraction.size(),
                  month);
  if (figures.fraction == "1") month = 10;  // a file's number 24.10 is 24.1
  if (figures.fraction.size() > 2 || month < 1 || month > 12) {
    return Refused(text, "has no month from 01 to 12");
  }
  return std::optional(On(2000 + figures.whole, month, 15));
}

Result<std::optional<double>> OfPytorch(std::string_view text, const Figures& figures) {
  int minor = 0;
  if (figures.fraction.size() > 3) return Refused(text, "is no version of PyTorch");
  std::from_chars(figures.fraction.data(), figures.fraction.data() + figures.fraction.size(),
                  minor);
  for (const PytorchRelease& release : kReleases) {
    if (release.major == figures.whole && release.minor == minor)
      return std::optional(release.year);
  }
  const PytorchRelease& newest = kReleases.back();
  if (figures.whole > newest.major || (figures.whole == newest.major && minor > newest.minor)) {
    return std::optional<double>();
  }
  return Refused(text, "is no version of PyTorch");
}

}  // namespace

Result<std::optional<double>> SoftwareYearFrom(std::string_view text) {
  const std::optional<Figures> figures = FirstNumber(text);
  if (!figures) return Refused(text, "says no version");
  if (figures->whole >= 1000) {
    if (figures->whole < kFirstYear || figures->whole > kLastYear) {
      return Refused(text, "is no year of PyTorch");
    }
    double part = 0.5;  // the middle of a year that says no more
    if (!figures->fraction.empty()) {
      const std::string fraction = "0." + figures->fraction;
      std::from_chars(fraction.data(), fraction.data() + fraction.size(), part);
    }
    return std::optional(figures->whole + part);
  }
  if (figures->whole >= kFirstContainer && figures->whole < 100) return OfContainer(text, *figures);
  if (figures->whole < 10) return OfPytorch(text, *figures);
  return Refused(text, "is neither a version nor a year");
}

}  // namespace gpuadvise
