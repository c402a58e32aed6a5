// Slurm's -C expression: "a100&nvlink", "intel|amd", "[rack1*2&rack2*3]".
//
// & and | have equal precedence and associate left, as in Slurm; parentheses group. Brackets and
// counts, which ask for numbers of nodes by kind or for one common kind, are simplified to "each
// node must satisfy one alternative", and `approximate` is set. Immutable after parsing; safe from
// any thread.
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
  // kMaxFeatureTextBytes, 256 features or 32 nested parentheses.
  static Result<FeatureExpression> Parse(std::string_view text);

  // Whether a node with these features satisfies it.
  bool Accepts(const std::vector<std::string>& features) const;

  // All features named, in order.
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
