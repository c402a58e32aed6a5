#include "daemon/remote/tokens.h"

#include <fmt/format.h>
#include <jwt.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/words.h"
#include "process/files.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr size_t kMaxKeyBytes = 1u << 20;
constexpr size_t kLeastSecretBytes = 16;

struct FreeJwt {
  void operator()(jwt_t* token) const { jwt_free(token); }
};
using Jwt = std::unique_ptr<jwt_t, FreeJwt>;

tl::unexpected<Error> Disbelieved(const std::string& why) {
  return BadInput("the token " + why, "");
}

Result<std::string> FileText(const std::string& file) {
  const Result<OpenedFile> opened = OpenRegularFile(file, {kMaxKeyBytes, "key", std::nullopt});
  if (!opened) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", file, opened.error().message));
  }
  const auto text = ReadAll(opened->descriptor, kMaxKeyBytes);
  if (text) return *text;
  return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", file, std::strerror(text.error())));
}

std::string StampOf(const std::string& file) {
  struct stat info {};
  if (file.empty() || ::stat(file.c_str(), &info) != 0) return "";
  return fmt::format("{}:{}.{}:{};", info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                     info.st_size);
}

// nullptr: `token` is not signed by `key`, or no token. Without a key the signature is not looked
// at.
Jwt Decoded(const std::string& token, const std::string& key) {
  jwt_t* read = nullptr;
  const int status = key.empty() ? jwt_decode(&read, token.c_str(), nullptr, 0)
                                 : jwt_decode(&read, token.c_str(),
                                              reinterpret_cast<const unsigned char*>(key.data()),
                                              static_cast<int>(key.size()));
  return status == 0 ? Jwt(read) : nullptr;
}

std::string HeaderOf(const Jwt& token, const char* name) {
  const char* value = jwt_get_header(token.get(), name);
  return value == nullptr ? "" : value;
}

json ClaimsOf(const Jwt& token) {
  const std::unique_ptr<char, decltype(&std::free)> text(jwt_get_grants_json(token.get(), nullptr),
                                                         &std::free);
  json claims = text ? json::parse(text.get(), nullptr, false) : json();
  return claims.is_object() ? claims : json::object();
}

std::optional<double> TimeOf(const json& claims, const char* name) {
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

Result<void> CheckTimes(const json& claims, double now) {
  constexpr auto kLeeway = static_cast<double>(Tokens::kLeewaySeconds);
  const std::optional<double> expires = TimeOf(claims, "exp");
  if (!expires) return Disbelieved("has no end (exp); make one with `scontrol token`");
  if (*expires + kLeeway <= now) {
    return Disbelieved(fmt::format("expired {} ago; make a new one with `scontrol token`",
                                   DurationInWords(now - *expires)));
  }
  for (const char* name : {"nbf", "iat"}) {
    const std::optional<double> from = TimeOf(claims, name);
    if (!from || *from - kLeeway <= now) continue;
    return Disbelieved(
        fmt::format("is valid from {} after this daemon's time ({}); compare the "
                    "clocks of both hosts",
                    DurationInWords(*from - now), name));
  }
  return {};
}

bool Names(const json& claim, const std::string& wanted) {
  if (claim.is_string()) return claim == wanted;
  return claim.is_array() &&
         std::any_of(claim.begin(), claim.end(), [&](const json& one) { return one == wanted; });
}

Result<void> CheckParties(const json& claims, const TokenRules& rules) {
  if (!rules.issuer.empty() && !Names(claims.value("iss", json()), rules.issuer)) {
    return Disbelieved(fmt::format("was not issued by {}", rules.issuer));
  }
  if (!rules.audience.empty() && !Names(claims.value("aud", json()), rules.audience)) {
    return Disbelieved(fmt::format("is not for {}", rules.audience));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokens>> Tokens::Make(TokenRules rules) {
  std::unique_ptr<Tokens> made(new Tokens(std::move(rules)));
  if (const Result<void> read = made->Refresh(); !read) return tl::unexpected<Error>(read.error());
  return made;
}

Result<void> Tokens::Refresh() {
  std::string stamps = StampOf(rules_.key_file) + StampOf(rules_.jwks_file);
  if (keys_ && stamps == stamps_) return {};
  auto keys = std::make_shared<Keys>();
  if (!rules_.key_file.empty()) {
    Result<std::string> secret = FileText(rules_.key_file);
    if (!secret) return tl::unexpected<Error>(secret.error());
    if (secret->size() < kLeastSecretBytes) {
      return Fail(
          ErrorCode::kUnavailable,
          fmt::format("{} has {} bytes, and a key that nobody guesses at least {}; make one "
                      "as Slurm's documentation of jwt_key says",
                      rules_.key_file, secret->size(), kLeastSecretBytes));
    }
    keys->secret = std::move(*secret);
  }
  if (!rules_.jwks_file.empty()) {
    const Result<std::string> text = FileText(rules_.jwks_file);
    if (!text) return tl::unexpected<Error>(text.error());
    Result<std::vector<WebKey>> read = ParseWebKeys(*text);
    if (!read) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{}: {}", rules_.jwks_file, read.error().message));
    }
    keys->web_keys = std::move(*read);
  }
  stamps_ = std::move(stamps);
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
  return {};
}

Result<std::string> Tokens::UserOf(const std::string& token, UnixSeconds now) const {
  if (token.size() > kMostTokenBytes) return Disbelieved("is longer than 8 KiB");
  if (token.find('\0') != std::string::npos) return Disbelieved("is no JSON Web Token");
  const std::shared_ptr<const Keys> keys = [&] {
    const std::lock_guard lock(mutex_);
    return keys_;
  }();
  const Jwt unchecked = Decoded(token, "");
  if (!unchecked) return Disbelieved("is no JSON Web Token");
  const std::string algorithm = HeaderOf(unchecked, "alg");
  Jwt checked;
  if (algorithm == "HS256" && !keys->secret.empty()) {
    checked = Decoded(token, keys->secret);
  } else if (algorithm == "RS256" && !keys->web_keys.empty()) {
    const std::string id = HeaderOf(unchecked, "kid");
    for (const WebKey& key : keys->web_keys) {
      if (!checked && (id.empty() || key.id.empty() || key.id == id)) {
        checked = Decoded(token, key.public_key);
      }
    }
  } else {
    return Disbelieved(fmt::format("is signed by {}, which this daemon does not take",
                                   Quoted(Shortened(algorithm, kMostQuotedBytes))));
  }
  if (!checked) {
    return Disbelieved("is not signed by a key of this cluster; is it another cluster's?");
  }
  const json claims = ClaimsOf(checked);
  Result<void> good = CheckTimes(claims, static_cast<double>(now));
  if (good) good = CheckParties(claims, rules_);
  if (!good) return tl::unexpected<Error>(good.error());
  const auto user = claims.find(rules_.user_claim);
  if (user != claims.end() && user->is_string() && !user->get_ref<const std::string&>().empty()) {
    return user->get<std::string>();
  }
  return Disbelieved(fmt::format("names no user in its claim {}", rules_.user_claim));
}

}  // namespace gpuadvise::daemon
