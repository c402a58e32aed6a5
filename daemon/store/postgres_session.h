// One connection to a PostgreSQL server, by libpq: statements with parameters, and nobody waits for
// ever. libpq's own calls would, where a server is stopped or a firewall forgets the connection.
//
// Blocking. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "daemon/base/postgres_url.h"
#include "daemon/store/history_database.h"

// libpq's own type names.
struct pg_conn;
struct pg_result;

namespace gpuadvise::daemon {

// A parameter value: text, or raw bytea.
struct PostgresValue {
  std::optional<std::string> bytes;  // nullopt: NULL
  bool is_bytea = false;
};

// Result of a statement.
class PostgresRows {
 public:
  PostgresRows() = default;
  explicit PostgresRows(pg_result* result);

  int64_t size() const;
  int64_t changed() const;  // rows, by what returns none
  // REQUIRES: row and column are there.
  bool IsNull(int64_t row, int column) const;
  std::string Text(int64_t row, int column) const;  // "" for NULL
  int64_t Integer(int64_t row, int column) const;   // 0 for NULL
  double Real(int64_t row, int column) const;
  std::vector<uint8_t> Bytes(int64_t row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

class PostgresSession {
 public:
  // Errors: kUnavailable, naming the server, what it said and the remedy.
  static Result<std::unique_ptr<PostgresSession>> Connect(const PostgresPlace& place);
  ~PostgresSession();
  PostgresSession(const PostgresSession&) = delete;
  PostgresSession& operator=(const PostgresSession&) = delete;

  // A statement may take so long; the server gives up a little earlier, so that one that is only
  // slow costs no session. Throws DatabaseFailure. REQUIRES: no transaction is open, or the
  // patience is the one there is.
  static constexpr std::chrono::seconds kPatience{15};
  void SetPatience(std::chrono::seconds patience);

  // One statement, prepared at its first use. Its parameters are ?1, ?2 ... or ?, in their order.
  // Throws DatabaseFailure; then IsLost() says whether this session can be used any further.
  PostgresRows Execute(const std::string& sql, const std::vector<PostgresValue>& values = {});

  // As Execute(), without keeping it prepared: for statements that are never the same.
  PostgresRows ExecuteOnce(const std::string& sql, const std::vector<PostgresValue>& values = {});

  // Several statements without parameters, between them ";".
  void ExecuteAll(const std::string& sql);

  bool IsLost() const { return lost_; }
  int backend() const;  // the server's number of its process

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };

  PostgresSession(pg_conn* connection, std::string shown);
  pg_result* Receive(int sent);
  PostgresRows Checked(pg_result* result);
  void WaitFor(short events, std::chrono::steady_clock::time_point until);
  [[noreturn]] void Lose(const std::string& why);

  const std::unique_ptr<pg_conn, Finish> connection_;
  const std::string shown_;
  std::map<std::string, std::string> names_;  // of prepared statements
  std::chrono::seconds patience_{0};
  bool lost_ = false;
};

}  // namespace gpuadvise::daemon
