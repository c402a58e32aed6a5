// Questions to gpuadvised: JSON in, JSON out, errors as the daemon worded them.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "client/api/daemon_address.h"
#include "client/api/daemon_call.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// Something that answers the API; the seam that tests put canned answers in.
class Api {
 public:
  virtual ~Api() = default;
  // The answer to GET `target`. Errors: those of the answer's first entry of `errors` (with its
  // pointer), kUnavailable with the command that starts the daemon when nothing answers.
  virtual Result<nlohmann::json> Get(const std::string& target) = 0;
  virtual Result<nlohmann::json> Post(const std::string& target, const nlohmann::json& body) = 0;
};

// Asks the places of a daemon in their order: the next where one cannot be reached or is a standby,
// and all of them again, once a second and for 20 s at most, while one is a standby. The place that
// answered is asked first from then on.
class DaemonClient : public Api {
 public:
  // Whether an error that it cannot be reached ends in how to start it: it is this host's own.
  enum class Remedy { kStartIt, kNone };

  // `patience`: how long one answer of one place may take. REQUIRES: a place.
  explicit DaemonClient(DaemonAddress daemon,
                        std::chrono::milliseconds patience = std::chrono::seconds(30),
                        Remedy remedy = Remedy::kStartIt)
      : daemon_(std::move(daemon)), patience_(patience), remedy_(remedy) {}
  Result<nlohmann::json> Get(const std::string& target) override;
  Result<nlohmann::json> Post(const std::string& target, const nlohmann::json& body) override;

 private:
  Result<nlohmann::json> Ask(const DaemonRequest& request);
  // The answer of the first place that gives one; nullopt: none did, and `problem` says why.
  std::optional<Result<nlohmann::json>> AskEach(const DaemonRequest& request, Error& problem,
                                                bool& has_standby);
  void SayOnce(const std::string& sentence);  // on stderr

  DaemonAddress daemon_;
  size_t first_ = 0;  // the place that answered last
  bool said_ = false;
  std::chrono::milliseconds patience_;
  Remedy remedy_;
};

// The document of an error, as the API's own: {"errors": [{"code", "message", "pointer"}]}.
nlohmann::json ErrorDocument(const Error& error);

// The API's answer in `body`, or its error; `status` is HTTP's.
Result<nlohmann::json> ReadApiAnswer(int status, const std::string& body);

}  // namespace gpuadvise::client
