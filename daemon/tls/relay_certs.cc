#include "daemon/tls/relay_certs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "daemon/base/system.h"
#include "daemon/tls/certificates.h"
#include "process/files.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kForAll = 0644;
constexpr mode_t kForOwner = 0600;
constexpr mode_t kFolder = 0755;
constexpr mode_t kSecretFolder = 0700;
constexpr size_t kMaxFileBytes = 1u << 20;
constexpr std::chrono::hours kAuthorityYears{24 * 3650};
constexpr const char* kDaemonUser = "gpuadvise";
constexpr const char* kRelayFolder = "/etc/gpuadvise/relay";  // RelaySettings' default

using Lines = std::vector<std::string>;

bool IsHostName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                  c == '-' || c == '_' || c == ':';
         });
}

Result<void> CheckNames(const RelayCertsRequest& request) {
  for (const auto* names : {&request.daemon_hosts, &request.relays, &request.revoke}) {
    for (const std::string& name : *names) {
      if (IsHostName(name)) continue;
      return BadInput(fmt::format("{} is no host name or address of at most 64 characters",
                                  Quoted(Shortened(name, kMostQuotedBytes))),
                      "");
    }
  }
  return {};
}

// "": there is no such file.
Result<std::string> ReadText(const fs::path& file) {
  const Result<OpenedFile> opened =
      OpenRegularFile(file.string(), {kMaxFileBytes, "certificate", std::nullopt});
  if (!opened) {
    if (opened.error().code == ErrorCode::kNotFound) return std::string();
    return Fail(opened.error().code, fmt::format("{}: {}", file.string(), opened.error().message));
  }
  const auto text = ReadAll(opened->descriptor, kMaxFileBytes);
  if (text) return *text;
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{}: {}", file.string(), std::strerror(text.error())));
}

Result<void> MakeFolder(const fs::path& folder, mode_t mode) {
  std::error_code status;
  fs::create_directories(folder.parent_path(), status);
  if (::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return {};
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} cannot be made: {}; run this as root, or give --dir a folder of your "
                          "own",
                          folder.string(), std::strerror(errno)));
}

std::string DayOf(UnixSeconds at) { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(at)); }

class Folder {
 public:
  Folder(const RelayCertsRequest& request, UnixSeconds now)
      : request_(request), dir_(request.dir), now_(now) {}

  Result<void> Do() {
    Result<void> done = MakeFolder(dir_, kFolder);
    if (done) done = MakeFolder(dir_ / "relays", kSecretFolder);
    if (done) done = HaveAuthority();
    for (const std::string& name : request_.revoke) {
      if (done) done = RevokeRelay(name);
    }
    if (done) done = HaveList();
    if (done) done = HaveDaemon();
    for (const std::string& name : RelaysWanted()) {
      if (done) done = HaveRelay(name);
    }
    return done;
  }

  Lines TakeLines() { return std::move(lines_); }

 private:
  Result<void> HaveAuthority() {
    Result<std::string> certificate = ReadText(dir_ / "ca.crt");
    Result<std::string> key = ReadText(dir_ / "ca.key");
    if (!certificate) return tl::unexpected<Error>(certificate.error());
    if (!key) return tl::unexpected<Error>(key.error());
    if (!certificate->empty() && !key->empty()) {
      authority_ = {std::move(*certificate), std::move(*key)};
      return {};
    }
    if (certificate->empty() != key->empty()) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("{} has only one of ca.crt and ca.key; put the other back, or give "
                              "--dir an empty folder and renew every relay",
                              dir_.string()));
    }
    Result<CertifiedKey> made = MakeAuthority("gpuadvise relays", kAuthorityYears, now_);
    if (!made) return tl::unexpected<Error>(made.error());
    authority_ = std::move(*made);
    lines_.push_back(
        fmt::format("made {}, an authority for this cluster's relays alone; keep "
                    "ca.key to yourself: whoever has it can be any user",
                    (dir_ / "ca.crt").string()));
    Result<void> kept = Write(dir_ / "ca.key", authority_.key, kForOwner);
    return kept ? Write(dir_ / "ca.crt", authority_.certificate, kForAll) : kept;
  }

  Result<void> HaveList() {
    const Result<std::string> list = ReadText(dir_ / "revoked.crl");
    if (!list) return tl::unexpected<Error>(list.error());
    if (!list->empty()) return {};
    const Result<std::string> made = Revoked(authority_, "", "", now_);
    if (!made) return tl::unexpected<Error>(made.error());
    return Write(dir_ / "revoked.crl", *made, kForAll);
  }

  Result<void> RevokeRelay(const std::string& name) {
    const fs::path folder = dir_ / "relays" / name;
    const Result<std::string> certificate = ReadText(folder / "relay.crt");
    if (!certificate) return tl::unexpected<Error>(certificate.error());
    if (certificate->empty()) {
      return BadInput(fmt::format("there is no certificate of {} in {}", name, folder.string()),
                      "");
    }
    std::vector<std::string> all = Replaced(name);  // somebody may have kept an earlier key
    all.push_back(*certificate);
    Result<std::string> list = ReadText(dir_ / "revoked.crl");
    for (size_t i = 0; list && i < all.size(); ++i) list = Revoked(authority_, *list, all[i], now_);
    if (!list) return tl::unexpected<Error>(list.error());
    if (Result<void> kept = Write(dir_ / "revoked.crl", *list, kForAll); !kept) return kept;
    std::error_code status;
    fs::remove_all(folder, status);
    fs::remove_all(dir_ / "replaced" / name, status);
    lines_.push_back(
        fmt::format("revoked the certificate of {}; the daemon knows within 5 s where "
                    "revoked: names {}",
                    name, (dir_ / "revoked.crl").string()));
    return {};
  }

  // The certificates that a relay had before and that are valid still.
  std::vector<std::string> Replaced(const std::string& name) const {
    std::vector<std::string> texts;
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(dir_ / "replaced" / name, status)) {
      Result<std::string> text = ReadText(entry.path());
      const auto facts = text ? FactsOf(*text) : Result<CertificateFacts>(CertificateFacts());
      if (facts && facts->expires_at > now_) texts.push_back(std::move(*text));
    }
    return texts;
  }

  // Keeps `certificate`, which another takes the place of, until it ends: for a revocation.
  Result<void> KeepReplaced(const std::string& name, const std::string& certificate) {
    const Result<CertificateFacts> facts = FactsOf(certificate);
    if (!facts || facts->expires_at <= now_ || !IsIssuedBy(authority_, certificate)) return {};
    const fs::path folder = dir_ / "replaced" / name;
    for (const fs::path& each : {dir_ / "replaced", folder}) {
      if (Result<void> made = MakeFolder(each, kSecretFolder); !made) return made;
    }
    return Write(folder / fmt::format("{}.crt", facts->expires_at), certificate, kForOwner);
  }

  // Whether what is in `certificate` can stay for so long and for `hosts`.
  bool IsGood(const std::string& certificate, const std::vector<std::string>& hosts) const {
    const Result<CertificateFacts> facts = FactsOf(certificate);
    if (!facts || !IsIssuedBy(authority_, certificate)) return false;
    const bool names_all = std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
      return std::find(facts->hosts.begin(), facts->hosts.end(), host) != facts->hosts.end();
    });
    return names_all && facts->expires_at - now_ > std::chrono::seconds(kRenewedBefore).count();
  }

  Result<void> HaveDaemon() {
    const Result<std::string> certificate = ReadText(dir_ / "daemon.crt");
    if (!certificate) return tl::unexpected<Error>(certificate.error());
    std::vector<std::string> hosts = request_.daemon_hosts;
    const Result<CertificateFacts> facts = FactsOf(*certificate);
    if (hosts.empty() && facts) hosts = facts->hosts;
    if (hosts.empty()) return {};
    if (IsGood(*certificate, hosts)) return Keep("daemon.crt", *facts);
    const fs::path key = dir_ / "daemon.key";
    const Result<void> made =
        Make({hosts.front(), CertificateUse::kDaemon, hosts, request_.valid_for},
             dir_ / "daemon.crt", key);
    if (!made) return made;
    const std::optional<int64_t> user = UidOfUser(kDaemonUser);
    if (user && ::chown(key.c_str(), static_cast<uid_t>(*user), static_cast<gid_t>(-1)) != 0) {
      lines_.push_back(
          fmt::format("  give it to the daemon: chown {} {}", kDaemonUser, key.string()));
    }
    lines_.push_back(fmt::format(
        "  gpuadvised.yaml there: remote: {{listen: \"0.0.0.0:6829\", certificate: {0}/daemon.crt, "
        "key: {0}/daemon.key, ca: {0}/ca.crt, revoked: {0}/revoked.crl, relays: [NAME, ...]}}",
        dir_.string()));
    return {};
  }

  // Those asked for, and all that are there.
  std::vector<std::string> RelaysWanted() const {
    std::vector<std::string> names = request_.relays;
    std::error_code status;
    for (const auto& entry : fs::directory_iterator(dir_ / "relays", status)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  Result<void> HaveRelay(const std::string& name) {
    const fs::path folder = dir_ / "relays" / name;
    Result<void> done = MakeFolder(folder, kSecretFolder);
    if (!done) return done;
    const Result<std::string> certificate = ReadText(folder / "relay.crt");
    if (!certificate) return tl::unexpected<Error>(certificate.error());
    if (IsGood(*certificate, {})) return Keep("relays/" + name, *FactsOf(*certificate));
    if (done = KeepReplaced(name, *certificate); !done) return done;
    done = Make({name, CertificateUse::kRelay, {}, request_.valid_for}, folder / "relay.crt",
                folder / "relay.key");
    if (done) done = Write(folder / "ca.crt", authority_.certificate, kForAll);
    if (!done) return done;
    lines_.push_back(fmt::format(
        "  copy it: tar -C {0} -c . | ssh root@{1} 'mkdir -p {2} && tar -C {2} -x && chown -R {3}: "
        "{2}'",
        folder.string(), name, kRelayFolder, kDaemonUser));
    lines_.push_back(fmt::format("  and name {} in relays: of the daemon's gpuadvised.yaml", name));
    return {};
  }

  Result<void> Make(const CertificateRequest& asked, const fs::path& certificate,
                    const fs::path& key) {
    const Result<CertifiedKey> made = MakeCertificate(authority_, asked, now_);
    if (!made) return tl::unexpected<Error>(made.error());
    if (Result<void> kept = Write(key, made->key, kForOwner); !kept) return kept;
    lines_.push_back(fmt::format("made {}, valid until {}", certificate.string(),
                                 DayOf(now_ + std::chrono::seconds(asked.valid_for).count())));
    return Write(certificate, made->certificate, kForAll);
  }

  Result<void> Keep(const std::string& what, const CertificateFacts& facts) {
    lines_.push_back(
        fmt::format("kept {}, valid until {}", (dir_ / what).string(), DayOf(facts.expires_at)));
    return {};
  }

  static Result<void> Write(const fs::path& file, const std::string& text, mode_t mode) {
    return ReplaceFile(file.string(), text, mode);
  }

  const RelayCertsRequest& request_;
  const fs::path dir_;
  const UnixSeconds now_;
  CertifiedKey authority_;
  Lines lines_;
};

}  // namespace

Result<Lines> MakeRelayCerts(const RelayCertsRequest& request, UnixSeconds now) {
  if (const Result<void> names = CheckNames(request); !names) {
    return tl::unexpected<Error>(names.error());
  }
  Folder folder(request, now);
  if (const Result<void> done = folder.Do(); !done) return tl::unexpected<Error>(done.error());
  Lines lines = folder.TakeLines();
  if (lines.empty()) {
    lines.emplace_back("nothing to do; --daemon HOST and --relay HOST make certificates");
  }
  return lines;
}

}  // namespace gpuadvise::daemon
