#include "common/billing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "common/request_tres.h"

namespace gpuadvise {
namespace {

struct Weight {
  std::string tres;
  double each = 0;  // of one unit as TresCounts has it; memory in MiB
};

/// MiB that the suffix of a memory weight stands for.
std::optional<double> MebibytesOf(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix.size() > 1) return {};
  const size_t place = std::string_view("KMGTP").find(suffix.front());
  if (place == std::string_view::npos) return {};
  return std::pow(1024.0, static_cast<double>(place) - 1);
}

std::optional<Weight> WeightFrom(const std::string& part) {
  const size_t equals = part.find('=');
  if (equals == std::string::npos || equals == 0) return {};
  const std::string value = part.substr(equals + 1);
  char* end = nullptr;
  Weight weight{CanonicalTres(part.substr(0, equals)), std::strtod(value.c_str(), &end)};
  const auto mebibytes = MebibytesOf(end);
  if (end == value.c_str() || !mebibytes || !std::isfinite(weight.each)) return {};
  if (weight.tres == "mem") weight.each /= *mebibytes;
  return weight;
}

}  // namespace

std::optional<double> BillingOf(const std::string& weights, const TresCounts& tres, bool largest) {
  if (weights.empty()) return {};
  double sum = 0;
  double most = 0;
  for (size_t start = 0; start < weights.size();) {
    const size_t end = std::min(weights.find(',', start), weights.size());
    const auto weight = WeightFrom(weights.substr(start, end - start));
    start = end + 1;
    if (!weight) return {};
    const auto held = tres.find(weight->tres);
    if (held == tres.end()) continue;
    const double part = weight->each * static_cast<double>(held->second);
    sum += part;
    most = std::max(most, part);
  }
  return largest ? most : sum;
}

}  // namespace gpuadvise
