// Slurm's -C expression, "a100&nvlink", "intel|amd", "[rack1*2&rack2*3]": which nodes may serve.
//
// & and | bind alike and are read from left to right, as Slurm does; parentheses group. Brackets
// and counts say how many nodes of each kind a job wants, or that all must be of one kind: that is
// simplified to "each node must satisfy one of the alternatives", and `approximate` says so.
// Immutable after parsing; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise {

inline constexpr size_t kMaxFeatureTextBytes = 8192;

class FeatureExpression {
 public:
  // "" and "(null)" accept every node. Errors: kBadInput for unbalanced or empty parts, more than
  // kMaxFeatureTextBytes, 256 features or 32 parentheses in each other.
  static Result<FeatureExpression> Parse(std::string_view text);

  // Whether a node with these features may serve.
  bool Accepts(const std::vector<std::string>& features) const;

  // Every feature that the expression names, in order.
  const std::vector<std::string>& names() const { return names_; }
  bool approximate() const { return approximate_; }

 private:
  friend class FeatureParser;
  enum class Op { kName, kAnd, kOr };
  struct Term {  // reverse Polish: operands first
    Op op = Op::kName;
    size_t name = 0;  // index in names_
  };

  std::vector<Term> terms_;
  std::vector<std::string> names_;
  bool approximate_ = false;
};

}  // namespace gpuadvise
