// Where a history in PostgreSQL lives: the URL of the settings, checked and without its secrets.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"

namespace gpuadvise::daemon {

struct PostgresPlace {
  // For libpq, as keyword='value': what the URL says, and how long to wait where it does not.
  std::string connection;
  // For people: "postgresql://ann@db.site/gpuadvise", with no password and no other option.
  std::string shown;
  std::string password;  // never shown; "": none in the URL

  friend bool operator==(const PostgresPlace&, const PostgresPlace&) = default;
};

// Why a static build, which has no libpq, refuses every URL.
inline constexpr const char* kNoPostgres =
    "the portable gpuadvised keeps its history in a file, not in PostgreSQL; leave history empty, "
    "or install gpuadvised from packages or source";

// Whether `text` begins as a URL of PostgreSQL does.
bool IsPostgresUrl(std::string_view text);

// Errors: kBadInput with a sentence that repeats nothing of what the URL holds.
Result<PostgresPlace> ReadPostgresUrl(const std::string& url);

// `url` with *** in place of its passwords.
std::string WithoutPassword(const std::string& url);

}  // namespace gpuadvise::daemon
