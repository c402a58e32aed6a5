#include "daemon/settings/remote_settings.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/settings/settings_values.h"

namespace gpuadvise::daemon::remote_settings {
namespace {

using nlohmann::json;
namespace values = settings_values;

using ReadKey = std::function<Result<void>(const json& value, const std::string& pointer)>;
using Keys = std::vector<std::pair<std::string, ReadKey>>;

template <typename T>
ReadKey Into(Result<T> (*read)(const json&, const std::string&), T& place) {
  return [read, &place](const json& value, const std::string& pointer) -> Result<void> {
    Result<T> got = read(value, pointer);
    if (!got) return tl::unexpected<Error>(std::move(got.error()));
    place = std::move(*got);
    return {};
  };
}

ReadKey CountInto(int64_t& place) {
  return [&place](const json& value, const std::string& pointer) -> Result<void> {
    const Result<int64_t> got = values::Count(value, pointer, 1, 100'000);
    if (!got) return tl::unexpected<Error>(got.error());
    place = *got;
    return {};
  };
}

ReadKey FlagInto(bool& place) {
  return [&place](const json& value, const std::string& pointer) -> Result<void> {
    if (!value.is_boolean()) return BadInput("munge is neither true nor false", pointer);
    place = value.get<bool>();
    return {};
  };
}

Result<void> ReadMapping(const json& value, const std::string& pointer, const char* form,
                         const Keys& keys) {
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return BadInput(fmt::format("{} is not a mapping; write {}", pointer.substr(1), form), pointer);
  }
  for (const auto& [key, inner] : value.items()) {
    const ReadKey* read = nullptr;
    std::vector<std::string> known;
    for (const auto& [name, reads] : keys) {
      known.push_back(name);
      if (name == key) read = &reads;
    }
    if (read == nullptr) return tl::unexpected<Error>(values::UnknownKey(key, pointer, known));
    if (Result<void> done = (*read)(inner, pointer + "/" + key); !done) return done;
  }
  return {};
}

constexpr const char* kRemoteForm =
    "{listen: \"0.0.0.0:6829\", certificate: /etc/gpuadvise/tls/daemon.crt, "
    "key: /etc/gpuadvise/tls/daemon.key}";

// What would do nothing, or not what was meant.
Result<void> CheckRemote(const RemoteSettings& remote, const std::string& pointer) {
  if (remote.listen.empty()) return {};
  if (remote.certificate.empty() || remote.key.empty()) {
    return BadInput(fmt::format("remote has no {}; `gpuadvised relay-certs` makes one",
                                remote.certificate.empty() ? "certificate" : "key"),
                    pointer);
  }
  if ((!remote.relays.empty() || !remote.standbys.empty()) && remote.ca.empty()) {
    return BadInput(
        "remote.relays and remote.standbys need remote.ca, the authority of their "
        "certificates",
        pointer + "/ca");
  }
  if (!remote.revoked.empty() && remote.ca.empty()) {
    return BadInput("remote.revoked needs remote.ca, the authority that revokes",
                    pointer + "/revoked");
  }
  if (remote.token_user_claim.empty()) {
    return BadInput("remote.token_user_claim is empty; write sun, as Slurm has it",
                    pointer + "/token_user_claim");
  }
  return {};
}

}  // namespace

Result<void> ReadRemote(const json& value, const std::string& pointer, RemoteSettings& into) {
  RemoteSettings read;
  const Keys keys = {{"listen", Into(values::Listen, read.listen)},
                     {"certificate", Into(values::Path, read.certificate)},
                     {"key", Into(values::Path, read.key)},
                     {"ca", Into(values::Path, read.ca)},
                     {"revoked", Into(values::Path, read.revoked)},
                     {"relays", Into(values::HostNames, read.relays)},
                     {"standbys", Into(values::HostNames, read.standbys)},
                     {"token_key", Into(values::Path, read.token_key)},
                     {"token_jwks", Into(values::Path, read.token_jwks)},
                     {"token_user_claim", Into(values::Text, read.token_user_claim)},
                     {"token_issuer", Into(values::Text, read.token_issuer)},
                     {"token_audience", Into(values::Text, read.token_audience)},
                     {"munge", FlagInto(read.munge)},
                     {"munge_socket", Into(values::Path, read.munge_socket)},
                     {"max_connections", CountInto(read.max_connections)},
                     {"max_connections_per_address", CountInto(read.max_connections_per_address)}};
  Result<void> done = ReadMapping(value, pointer, kRemoteForm, keys);
  if (done) done = CheckRemote(read, pointer);
  if (done) into = std::move(read);
  return done;
}

Result<void> ReadRelay(const json& value, const std::string& pointer, RelaySettings& into) {
  RelaySettings read;
  const Keys keys = {{"url", Into(values::Text, read.url)},
                     {"ca", Into(values::Path, read.ca)},
                     {"certificate", Into(values::Path, read.certificate)},
                     {"key", Into(values::Path, read.key)}};
  Result<void> done =
      ReadMapping(value, pointer, "{url: \"https://centre.example.org:6829\"}", keys);
  if (done) into = std::move(read);
  return done;
}

json ShowRemote(const RemoteSettings& remote) {
  return {{"listen", remote.listen},
          {"certificate", remote.certificate},
          {"key", remote.key},
          {"ca", remote.ca},
          {"revoked", remote.revoked},
          {"relays", remote.relays},
          {"standbys", remote.standbys},
          {"token_key", remote.token_key},
          {"token_jwks", remote.token_jwks},
          {"token_user_claim", remote.token_user_claim},
          {"token_issuer", remote.token_issuer},
          {"token_audience", remote.token_audience},
          {"munge", remote.munge},
          {"munge_socket", remote.munge_socket},
          {"max_connections", remote.max_connections},
          {"max_connections_per_address", remote.max_connections_per_address}};
}

json ShowRelay(const RelaySettings& relay) {
  return {
      {"url", relay.url}, {"ca", relay.ca}, {"certificate", relay.certificate}, {"key", relay.key}};
}

}  // namespace gpuadvise::daemon::remote_settings
