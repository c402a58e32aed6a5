#include "common/process/name_service.h"

#include <unistd.h>

#include <array>

#ifdef GPUADVISE_STATIC
#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string_view>

#include "common/base/text.h"
#include "common/process/run_program.h"
#else
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <functional>
#endif

namespace gpuadvise {

#ifdef GPUADVISE_STATIC
namespace {

constexpr std::chrono::seconds kPatience{10};

using Entry = std::vector<std::string>;

std::vector<Entry> ReadEntries(std::string_view text, char separator) {
  std::vector<Entry> entries;
  for (const std::string_view line : SplitAt(text, '\n')) {
    const std::vector<std::string_view> fields = SplitAt(line, separator);
    if (fields.size() > 2) entries.emplace_back(fields.begin(), fields.end());
  }
  return entries;
}

// What /etc/passwd or /etc/group has of `keys`, names or ids.
std::vector<Entry> EntriesOfFile(const std::string& database,
                                 const std::vector<std::string>& keys) {
  std::ifstream file("/etc/" + database);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  std::vector<Entry> entries = ReadEntries(text.str(), ':');
  std::erase_if(entries, [&](const Entry& entry) {
    return std::none_of(keys.begin(), keys.end(),
                        [&](const std::string& key) { return key == entry[0] || key == entry[2]; });
  });
  return entries;
}

// What `getent DATABASE KEYS...` prints, line by line, of the keys that there are.
std::vector<Entry> Entries(const std::string& database, std::vector<std::string> keys,
                           char separator) {
  if (keys.empty()) return {};  // without a key it prints all there are
  ProgramCall call;
  call.command.words = {"getent", database};
  call.command.words.insert(call.command.words.end(), keys.begin(), keys.end());
  call.child.errors = ChildErrors::kDiscarded;
  call.deadline = kPatience;
  const ProgramEnd end = RunWithin(call);
  if (end.how != ProgramEnd::How::kNotRun) return ReadEntries(end.output, separator);
  return database == "ahosts" ? std::vector<Entry>() : EntriesOfFile(database, keys);
}

// The third field of a user's or a group's line.
std::optional<uint32_t> IdOf(const Entry& entry) {
  uint32_t id = 0;
  const char* end = entry[2].data() + entry[2].size();
  const auto [rest, status] = std::from_chars(entry[2].data(), end, id);
  return status == std::errc() && rest == end ? std::optional(id) : std::nullopt;
}

// getent takes numbers for ids, also "+1" and " 1", and "-s" for an option.
bool CanBeName(const std::string& key) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const char first = key.empty() ? '-' : key.front();
  return first != '-' && first != '+' && static_cast<unsigned char>(first) > ' ' &&
         !std::all_of(key.begin(), key.end(), is_digit);
}

// Whether the line is that of `key`; a directory that knows no case gives its own spelling back.
bool IsNamed(const Entry& entry, const std::string& key) {
  return LowerCase(entry[0]) == LowerCase(key);
}

// So that the command is not too long, and a slow directory has time for each part.
constexpr size_t kNamesAtOnce = 100;

}  // namespace

std::string UserName(int64_t uid) {
  for (const auto& entry : Entries("passwd", {std::to_string(uid)}, ':')) {
    if (IdOf(entry) == uid) return entry[0];
  }
  return "";
}

std::map<std::string, int64_t> UserIds(const std::vector<std::string>& names) {
  std::vector<std::string> keys = names;
  std::erase_if(keys, [](const std::string& key) { return !CanBeName(key); });
  std::map<std::string, int64_t> ids;
  for (size_t begin = 0; begin < keys.size(); begin += kNamesAtOnce) {
    const size_t end = std::min(begin + kNamesAtOnce, keys.size());
    const std::vector<std::string> part(keys.begin() + static_cast<ptrdiff_t>(begin),
                                        keys.begin() + static_cast<ptrdiff_t>(end));
    for (const auto& entry : Entries("passwd", part, ':')) {
      const auto key = std::find_if(part.begin(), part.end(),
                                    [&](const std::string& one) { return IsNamed(entry, one); });
      const auto id = IdOf(entry);
      if (key != part.end() && id) ids.emplace(*key, *id);
    }
  }
  return ids;
}

std::optional<gid_t> GroupId(const std::string& name) {
  if (!CanBeName(name)) return {};
  for (const auto& entry : Entries("group", {name}, ':')) {
    const auto id = IdOf(entry);
    if (id && IsNamed(entry, name)) return *id;
  }
  return {};
}

std::vector<std::string> GroupNames(const std::vector<gid_t>& ids) {
  std::vector<std::string> keys;
  for (const gid_t id : ids) keys.push_back(std::to_string(id));
  std::vector<std::string> names;
  for (const auto& entry : Entries("group", keys, ':')) names.push_back(entry[0]);
  return names;
}

std::string ReachableHost(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  in6_addr address{};  // or an IPv4 address, which is smaller
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, host.c_str(), &address) == 1) return host;
  }
  const auto addresses = Entries("ahosts", {host}, ' ');  // "10.0.0.1       STREAM host"
  return addresses.empty() ? "" : addresses.front().front();
}
#else
namespace {

// What the system says of a user; `ask` is getpwuid_r or getpwnam_r with its first argument.
// `take` is given the entry.
void AskSystem(const std::function<int(passwd*, char*, size_t, passwd**)>& ask,
               const std::function<void(const passwd&)>& take) {
  std::vector<char> buffer(4096);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    const int status = ask(&entry, buffer.data(), buffer.size(), &found);
    if (status == 0 && found != nullptr) take(*found);
    if (status != ERANGE || buffer.size() > (1u << 20)) return;
    buffer.resize(buffer.size() * 2);
  }
}

}  // namespace

std::string UserName(int64_t uid) {
  std::string name;
  AskSystem(
      [uid](passwd* entry, char* buffer, size_t size, passwd** found) {
        return getpwuid_r(static_cast<uid_t>(uid), entry, buffer, size, found);
      },
      [&](const passwd& user) { name = user.pw_name; });
  return name;
}

std::map<std::string, int64_t> UserIds(const std::vector<std::string>& names) {
  std::map<std::string, int64_t> ids;
  for (const std::string& name : names) {
    AskSystem(
        [&name](passwd* entry, char* buffer, size_t size, passwd** found) {
          return getpwnam_r(name.c_str(), entry, buffer, size, found);
        },
        [&](const passwd& user) { ids.emplace(name, static_cast<int64_t>(user.pw_uid)); });
  }
  return ids;
}

std::optional<gid_t> GroupId(const std::string& name) {
  const group* found = ::getgrnam(name.c_str());
  if (found == nullptr) return {};
  return found->gr_gid;
}

std::vector<std::string> GroupNames(const std::vector<gid_t>& ids) {
  std::vector<std::string> names;
  for (const gid_t id : ids) {
    if (const group* found = ::getgrgid(id); found != nullptr) names.emplace_back(found->gr_name);
  }
  return names;
}

std::string ReachableHost(const std::string& host) { return host; }
#endif

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace gpuadvise
