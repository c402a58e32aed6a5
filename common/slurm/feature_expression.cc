#include "common/slurm/feature_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <utility>

#include "common/base/words.h"

namespace gpuadvise {

namespace {
constexpr int kMaxDepth = 32;
constexpr size_t kMaxNames = 256;  // each is searched in every node's features
}  // namespace

// Recursive descent; every error quotes the whole text.
class FeatureParser {
 public:
  explicit FeatureParser(std::string_view text)
      : text_(text), listing_(text.find('*') != text.npos) {}

  Result<FeatureExpression> Run() {
    if (text_.empty() || text_ == "(null)") return std::move(out_);
    if (text_.size() > kMaxFeatureTextBytes) {
      return BadInput(fmt::format("a constraint of {} bytes; the limit is {}: shorten it",
                                  text_.size(), kMaxFeatureTextBytes));
    }
    if (!Chain(0) || at_ != text_.size()) {
      if (out_.names_.size() == kMaxNames) {
        return BadInput(fmt::format("constraint {} names more than {} features: shorten it",
                                    Quoted(text_), kMaxNames));
      }
      return BadInput(
          fmt::format("constraint {} cannot be read at {}; write features joined by & and |",
                      Quoted(text_), Quoted(text_.substr(std::min(at_, text_.size())))));
    }
    return std::move(out_);
  }

 private:
  using Op = FeatureExpression::Op;

  bool Eat(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool Chain(int depth) {
    if (depth > kMaxDepth || !Operand(depth)) return false;
    while (at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '|' || text_[at_] == ',')) {
      const bool all = text_[at_] != '|' && !listing_;
      ++at_;
      if (!Operand(depth)) return false;
      out_.terms_.push_back({all ? Op::kAnd : Op::kOr, 0});
    }
    return true;
  }

  bool Operand(int depth) {
    if (Eat('(')) return Group(depth, ')', false);
    if (!Eat('[')) return Name() && Count();
    out_.approximate_ = true;
    return Group(depth, ']', true);
  }

  bool Group(int depth, char close, bool listing) {
    const bool outer = std::exchange(listing_, listing);
    const bool good = Chain(depth + 1) && Eat(close);
    listing_ = outer;
    return good && Count();
  }

  bool Name() {
    const size_t start = at_;
    while (at_ < text_.size() && std::string_view("&|()[]*,").find(text_[at_]) == text_.npos) ++at_;
    if (at_ == start || out_.names_.size() == kMaxNames) return false;
    out_.terms_.push_back({Op::kName, out_.names_.size()});
    out_.names_.emplace_back(text_.substr(start, at_ - start));
    return true;
  }

  bool Count() {
    if (!Eat('*')) return true;
    out_.approximate_ = true;
    const size_t start = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ > start;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool listing_;  // in brackets and with counts, & separates kinds of nodes: alternatives for one
                  // node
  FeatureExpression out_;
};

Result<FeatureExpression> FeatureExpression::Parse(std::string_view text) {
  return FeatureParser(text).Run();
}

bool FeatureExpression::Accepts(const std::vector<std::string>& features) const {
  if (terms_.empty()) return true;
  std::vector<bool> stack;
  for (const Term& term : terms_) {
    if (term.op == Op::kName) {
      stack.push_back(std::find(features.begin(), features.end(), names_[term.name]) !=
                      features.end());
      continue;
    }
    assert(stack.size() >= 2);
    const bool right = stack.back();
    stack.pop_back();
    stack.back() = term.op == Op::kAnd ? stack.back() && right : stack.back() || right;
  }
  return stack.back();
}

}  // namespace gpuadvise
