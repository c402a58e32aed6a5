#include "daemon/remote/tokens.h"

#include <fmt/format.h>
#include <jwt.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/words.h"
#include "common/process/files.h"
#include "daemon/base/secret_file.h"

namespace gpuadvise::daemon {
namespace {

constexpr size_t kMaxKeyBytes = 1u << 20;
constexpr size_t kLeastKeyBytes = 16;

struct FreeJwt {
  void operator()(jwt_t* token) const { jwt_free(token); }
};
using Jwt = std::unique_ptr<jwt_t, FreeJwt>;

tl::unexpected<Error> BadToken(const std::string& why) { return BadInput("the token " + why, ""); }

Result<std::string> FileText(const std::string& file) {
  const Result<OpenedFile> opened = OpenRegularFile(file, {kMaxKeyBytes, "key", std::nullopt});
  if (!opened) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", file, opened.error().message));
  }
  const auto text = ReadAll(opened->descriptor, kMaxKeyBytes);
  if (text) return *text;
  return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", file, std::strerror(text.error())));
}

// nullptr: it is not a token that `key` signed with HS256.
Jwt Checked(const std::string& token, const std::string& key) {
  jwt_t* read = nullptr;
  if (jwt_decode(&read, token.c_str(), reinterpret_cast<const unsigned char*>(key.data()),
                 static_cast<int>(key.size())) != 0) {
    return nullptr;
  }
  Jwt checked(read);
  return jwt_get_alg(read) == JWT_ALG_HS256 ? std::move(checked) : nullptr;
}

using FreedText = std::unique_ptr<char, decltype(&std::free)>;

bool HasHeader(const Jwt& token, const char* name) {
  return FreedText(jwt_get_headers_json(token.get(), name), &std::free) != nullptr;
}

// A time in whole seconds; nullopt: the token has none. Errors: it is something else: libjwt would
// read 0.
Result<std::optional<int64_t>> TimeOf(const Jwt& token, const char* name) {
  const FreedText claim(jwt_get_grants_json(token.get(), name), &std::free);
  if (claim == nullptr) return std::nullopt;
  const std::string_view text = claim.get();
  int64_t time = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (status == std::errc() && end == text.data() + text.size()) return time;
  return BadToken(fmt::format("has a time ({}) that is not a whole number", name));
}

Result<void> CheckTimes(const Jwt& token, UnixSeconds now) {
  const Result<std::optional<int64_t>> end = TimeOf(token, "exp");
  if (!end) return tl::unexpected<Error>(end.error());
  if (!*end) return BadToken("has no end (exp); make one with `scontrol token`");
  if (**end <= now - Tokens::kLeewaySeconds) {
    return BadToken(
        fmt::format("expired {} ago; make a new one with `scontrol token`",
                    DurationInWords(static_cast<double>(now) - static_cast<double>(**end))));
  }
  for (const char* name : {"nbf", "iat"}) {
    const Result<std::optional<int64_t>> from = TimeOf(token, name);
    if (!from) return tl::unexpected<Error>(from.error());
    if (!*from || **from <= now + Tokens::kLeewaySeconds) continue;
    return BadToken(fmt::format(
        "is valid from {} after this daemon's time ({}); compare the clocks of both hosts",
        DurationInWords(static_cast<double>(**from) - static_cast<double>(now)), name));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokens>> Tokens::Make(std::string key_file) {
  std::unique_ptr<Tokens> made(new Tokens(std::move(key_file)));
  if (const Result<void> read = made->Refresh(); !read) return tl::unexpected<Error>(read.error());
  return made;
}

Result<void> Tokens::Refresh() {
  Result<std::string> stamp = StampOfSecret(key_file_);
  if (!stamp) return tl::unexpected<Error>(std::move(stamp.error()));
  if (*stamp == stamp_) return {};
  Result<std::string> key = FileText(key_file_);
  if (!key) return tl::unexpected<Error>(std::move(key.error()));
  if (key->size() < kLeastKeyBytes) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} has {} bytes, and a key that nobody guesses has {} or more; make "
                            "one as Slurm's documentation of jwt_key says",
                            key_file_, key->size(), kLeastKeyBytes));
  }
  stamp_ = std::move(*stamp);
  const std::lock_guard lock(mutex_);
  key_ = std::move(*key);
  return {};
}

Result<std::string> Tokens::UserOf(const std::string& token, UnixSeconds now) const {
  if (token.size() > kMostTokenBytes) return BadToken("is longer than 8 KiB");
  const std::string key = [&] {
    const std::lock_guard lock(mutex_);
    return key_;
  }();
  const bool is_text = token.find('\0') == std::string::npos;
  const Jwt checked = is_text ? Checked(token, key) : nullptr;
  if (!checked) {
    return BadToken(
        "is not signed (HS256) by this cluster's jwt_key; make one with `scontrol token` on this "
        "cluster");
  }
  if (HasHeader(checked, "crit")) {
    return BadToken("demands extensions (crit) that this daemon does not know");
  }
  if (const Result<void> good = CheckTimes(checked, now); !good) {
    return tl::unexpected<Error>(good.error());
  }
  const char* user = jwt_get_grant(checked.get(), "sun");
  if (user != nullptr && *user != '\0') return std::string(user);
  return BadToken("names no user in its claim sun");
}

}  // namespace gpuadvise::daemon
