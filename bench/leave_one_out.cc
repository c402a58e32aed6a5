#include "bench/leave_one_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace gpuadvise {
namespace {

constexpr int kMostRounds = 8;
constexpr int kSteps = 8;             // of a constant's range, to either side
constexpr double kWorthwhile = 1e-5;  // less of the loss is no reason to move
constexpr double kPull = 0.02;        // a whole range costs as much as 2 % of error everywhere

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of values that are far from what is plausible; a whole range beyond costs kPull.
double PullOf(const std::vector<SearchedConstant>& constants, const std::vector<double>& values) {
  double pull = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double range = constants[i].high - constants[i].low;
    pull += kPull * std::pow((values[i] - constants[i].Middle()) / range, 2);
  }
  return pull;
}

}  // namespace

std::vector<double> CoordinateSearch(
    const std::vector<SearchedConstant>& constants,
    const std::function<double(const std::vector<double>&)>& loss) {
  std::vector<double> best;
  for (const SearchedConstant& constant : constants) best.push_back(constant.Middle());
  double least = loss(best);
  double step = 1.0 / kSteps;  // of the range
  for (int round = 0; round < kMostRounds; ++round) {
    const double before = least;
    for (size_t i = 0; i < constants.size(); ++i) {
      const double range = constants[i].high - constants[i].low;
      const double from = best[i];
      for (int k = -kSteps; k <= kSteps; ++k) {
        std::vector<double> tried = best;
        tried[i] = std::clamp(from + k * step * range, constants[i].low, constants[i].high);
        const double value = loss(tried);
        if (value < least - kWorthwhile) {
          least = value;
          best = tried;
        }
      }
    }
    if (before - least < kWorthwhile) step /= 4;
    if (step < 1e-3) break;
  }
  return best;
}

double LossOf(const std::vector<double>& log_ratios, const RowSources& rows,
              const std::string& left_out) {
  std::map<std::string, std::vector<double>> sizes;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    const bool decides = rows.decides.empty() || rows.decides[i];
    if (!decides || std::isnan(log_ratios[i]) || rows.sources[i] == left_out) continue;
    sizes[rows.sources[i]].push_back(std::min(std::abs(log_ratios[i]), kMostOfARow));
  }
  double sum = 0;
  for (const auto& [source, of_source] : sizes) sum += MeanOf(of_source);
  return sizes.empty() ? 0 : sum / static_cast<double>(sizes.size());
}

LeftOut LeaveOneSourceOut(const std::vector<SearchedConstant>& constants, const RowSources& rows,
                          const LogRatios& ratios) {
  LeftOut result;
  result.errors.assign(rows.sources.size(), NAN);
  std::set<std::string> all(rows.sources.begin(), rows.sources.end());
  all.insert("");
  for (const std::string& left_out : all) {
    const auto loss = [&](const std::vector<double>& values) {
      return LossOf(ratios(values), rows, left_out) + PullOf(constants, values);
    };
    const std::vector<double> chosen = CoordinateSearch(constants, loss);
    result.chosen[left_out] = chosen;
    const std::vector<double> judged = ratios(chosen);
    for (size_t i = 0; i < rows.sources.size(); ++i) {
      if (rows.sources[i] == left_out) result.errors[i] = std::exp(judged[i]) - 1;
    }
  }
  return result;
}

void PrintChosen(const std::vector<SearchedConstant>& constants, const LeftOut& result) {
  fmt::print("{:<24} {:>10}", "constant", "in use");
  for (const auto& [source, values] : result.chosen) {
    fmt::print("  {}", source.empty() ? "chosen by all" : "without " + source);
  }
  fmt::print("\n");
  for (size_t i = 0; i < constants.size(); ++i) {
    fmt::print("{:<24} {:>10.4g}", constants[i].name, constants[i].in_use);
    for (const auto& [source, values] : result.chosen) {
      const size_t width = source.empty() ? 13 : source.size() + 8;
      fmt::print("  {:>{}.4g}", values[i], width);
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

}  // namespace gpuadvise
