// Errors that need no cluster: those of the edge itself.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/api/frame.h"
#include "common/base/error.h"
#include "daemon/base/api_types.h"

namespace gpuadvise::daemon {

// An error is a sentence or two, whatever somebody put into it: longer text is cut.
api::ErrorEntry ErrorEntryFor(const std::string& code, const std::string& message,
                              const std::string& pointer);

// An answer that is nothing but this error (400, 408, 413, 429, 431, 503).
ApiResponse PlainError(int status, const char* code, const std::string& message);

// The answer to a token or credential that is not believed (401), or cannot be checked now (503).
ApiResponse NotBelieved(const Error& error);

// JSON text that is valid whatever bytes a job's name may hold.
std::string Text(const nlohmann::json& document);

}  // namespace gpuadvise::daemon
