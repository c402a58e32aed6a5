// Constants of a model chosen by measurements, and how wrong the model is where they were not in
// sight: with one source of measurements left out at a time.
//
// A constant that is chosen over all rows and judged by the same rows looks better than it is. So
// for each source the constants are chosen by all other sources, and that source alone is judged.
//
// Loss: the mean over sources of the mean |log(predicted / measured)| of each, no row counted with
// more than kMostOfARow: one that nothing explains shall not bend the constants. A constant starts
// in the middle of its plausible range and is drawn there a little, so that what no row decides
// stays there, and nothing that the left-out source has taught comes in by the start.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuadvise {

inline constexpr double kMostOfARow = 0.4;

struct SearchedConstant {
  std::string name;
  double low = 0;
  double high = 0;
  double in_use = 0;  // shown beside what is chosen

  double Middle() const { return (low + high) / 2; }
};

// log(predicted / measured) of every row with these values of the constants, in their order; NaN
// where a row does not count.
using LogRatios = std::function<std::vector<double>(const std::vector<double>& values)>;

// The values that make `loss` least: one constant after the other over a grid of its range that
// becomes finer, round after round, until no step helps. Deterministic.
std::vector<double> CoordinateSearch(const std::vector<SearchedConstant>& constants,
                                     const std::function<double(const std::vector<double>&)>& loss);

// Rows, by their order: where each comes from, and whether it decides constants. Rows that leave
// parts of their configuration open are judged, but decide nothing.
struct RowSources {
  std::vector<std::string> sources;
  std::vector<bool> decides;  // empty: all do
};

// Mean over sources of each one's mean size; `left_out` ("": none) does not count.
double LossOf(const std::vector<double>& log_ratios, const RowSources& rows,
              const std::string& left_out);

struct LeftOut {
  std::map<std::string, std::vector<double>> chosen;  // values, by the source left out; "": none
  std::vector<double>
      errors;  // predicted / measured − 1 of each row, where its source was left out
};

LeftOut LeaveOneSourceOut(const std::vector<SearchedConstant>& constants, const RowSources& rows,
                          const LogRatios& ratios);

// "constant   start   without A   without B …", one line a constant.
void PrintChosen(const std::vector<SearchedConstant>& constants, const LeftOut& result);

}  // namespace gpuadvise
