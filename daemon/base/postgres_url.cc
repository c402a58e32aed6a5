#include "daemon/base/postgres_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#ifndef GPUADVISE_STATIC
#include <libpq-fe.h>
#endif

namespace gpuadvise::daemon {

#ifdef GPUADVISE_STATIC
Result<PostgresPlace> ReadPostgresUrl(const std::string&) { return BadInput(kNoPostgres); }
#else
namespace {

// libpq would wait for minutes where nobody answers, and for hours on a host that has gone.
const std::pair<const char*, const char*> kPatience[] = {
    {"connect_timeout", "3"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"fallback_application_name", "gpuadvised"}};

std::string Quoted(std::string_view value) {
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string ShownOf(const std::map<std::string, std::string>& said) {
  const auto value = [&](const char* keyword) {
    const auto found = said.find(keyword);
    return found == said.end() ? std::string() : found->second;
  };
  std::string shown = "postgresql://";
  if (const std::string user = value("user"); !user.empty()) shown += user + "@";
  shown += value("host").empty() ? value("hostaddr") : value("host");
  if (const std::string port = value("port"); !port.empty()) shown += ":" + port;
  shown += "/" + value("dbname");
  if (const std::string service = value("service"); !service.empty()) {
    shown += "?service=" + service;
  }
  return shown;
}

}  // namespace

Result<PostgresPlace> ReadPostgresUrl(const std::string& url) {
  char* why = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      IsPostgresUrl(url) && url.find('\0') == std::string::npos ? PQconninfoParse(url.c_str(), &why)
                                                                : nullptr,
      PQconninfoFree);
  PQfreemem(why);  // it repeats the URL, with its password
  if (!options) {
    return BadInput(
        "history is no URL that PostgreSQL's library can read; write "
        "postgresql://USER@HOST/DATABASE, with %XX for characters such as @ : / in a name, and "
        "?passfile=FILE for the password");
  }
  std::map<std::string, std::string> said;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) said[option->keyword] = option->val;
  }
  PostgresPlace place;
  place.shown = ShownOf(said);
  if (const auto found = said.find("password"); found != said.end()) place.password = found->second;
  for (const auto& [keyword, value] : kPatience) said.emplace(keyword, value);
  said["client_encoding"] = "UTF8";
  for (const auto& [keyword, value] : said) {
    place.connection += fmt::format("{}={} ", keyword, Quoted(value));
  }
  return place;
}

#endif

bool IsPostgresUrl(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

std::string WithoutPassword(const std::string& url) {
  std::string shown = url;
  const size_t begin = shown.find("://");
  if (begin == std::string::npos) return shown;
  const size_t host = begin + 3;
  const size_t at = shown.find('@', host);
  const size_t colon = shown.find(':', host);
  if (at < shown.find_first_of("/?", host) && colon < at) {
    shown.replace(colon + 1, at - colon - 1, "***");
  }
  for (const char* name : {"?password=", "&password=", "?sslpassword=", "&sslpassword="}) {
    const size_t found = shown.find(name);
    if (found == std::string::npos) continue;
    const size_t value = found + std::string_view(name).size();
    shown.replace(value, std::min(shown.find('&', value), shown.size()) - value, "***");
  }
  return shown;
}

}  // namespace gpuadvise::daemon
