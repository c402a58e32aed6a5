// Expected failures as values.
//
// An Error is a code for programs plus one sentence for people, with the object and the remedy. For
// documents (train.yaml, settings, a request), `pointer` is the JSON pointer of the bad value; the
// owner of the text maps it to a line.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace gpuadvise {

enum class ErrorCode {
  kBadInput,     // the caller's document, flag or request is wrong
  kNotFound,     // a named thing does not exist
  kInfeasible,   // well-formed, but impossible on this cluster
  kUnavailable,  // a peer (daemon, Slurm, file) is unreachable
  kStale,        // only data older than the caller accepts
  kInternal,     // a bug: never caused by input
};

struct Error {
  ErrorCode code = ErrorCode::kBadInput;
  std::string message;              // one sentence: thing, what is wrong, remedy
  std::string pointer;              // JSON pointer ("/training/max_steps"), empty when none applies
  std::vector<Error> further = {};  // in other places of the same document

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string pointer = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(pointer)});
}

// A bad value in the document at `pointer`.
inline tl::unexpected<Error> BadInput(std::string message, std::string pointer = {}) {
  return Fail(ErrorCode::kBadInput, std::move(message), std::move(pointer));
}

}  // namespace gpuadvise
