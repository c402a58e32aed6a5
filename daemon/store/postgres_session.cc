#include "daemon/store/postgres_session.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr unsigned kByteaType = 17;  // in pg_type, the same in all releases

// Numbers the parameters of `sql` as $1, …: ?1 by number, ? in order.
std::string WithDollars(const std::string& sql) {
  std::string result;
  int next = 0;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '?') {
      result += sql[i];
      continue;
    }
    result += '$';
    const bool has_number = i + 1 < sql.size() && sql[i + 1] >= '0' && sql[i + 1] <= '9';
    if (!has_number) result += fmt::format("{}", ++next);
  }
  return result;
}

// As accepted by the server: no NUL, and U+FFFD for invalid UTF-8.
std::string WellFormed(const std::string& text) {
  const auto is_plain = [](char c) { return static_cast<signed char>(c) > 0; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  const std::string dumped = json(text).dump(-1, ' ', true, json::error_handler_t::replace);
  std::string result = json::parse(dumped).get<std::string>();
  std::erase(result, '\0');
  return result;
}

// First line of an error from libpq or the server, without its prefix.
std::string FirstLine(std::string_view said) {
  for (const std::string_view kind : {"ERROR:  ", "FATAL:  "}) {
    if (said.starts_with(kind)) said.remove_prefix(kind.size());
  }
  return std::string(said.substr(0, said.find('\n')));
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string RemedyOfConnecting(const PGconn* connection, const std::string& said) {
  if (PQconnectionNeedsPassword(connection) != 0) {
    return "give it a password: history: ...?passfile=FILE, a file of mode 0600 that the daemon's "
           "user owns";
  }
  if (PQconnectionUsedPassword(connection) != 0 && Contains(said, "password")) {
    return "fix the password in its passfile";
  }
  if (Contains(said, "pg_hba.conf") || Contains(said, "authentication")) {
    return "allow the daemon's user in the server's pg_hba.conf";
  }
  if (Contains(said, "does not exist")) return "create it on the server, or fix history:";
  return "start the server, or fix history:";
}

// By SQLSTATE class (PostgreSQL manual, appendix A).
std::string RemedyOf(std::string_view state) {
  if (state == "53100") return "make room on the server's disk";
  if (state == "53200" || state == "53300") return "give the server more memory or connections";
  if (state == "42501") return "grant the daemon's user what it needs on the schema";
  if (state == "57014") return "look for what keeps the server busy or the tables locked";
  if (state == "25006") return "name the server that takes writes, not one that follows it";
  if (state.starts_with("57P") || state.starts_with("08")) return "start the server again";
  return "look at the server's log";
}

}  // namespace

// ---- rows ----------------------------------------------------------------------------------

PostgresRows::PostgresRows(pg_result* result) : result_(result) {}

void PostgresRows::Clear::operator()(pg_result* result) const { PQclear(result); }

int64_t PostgresRows::size() const { return result_ ? PQntuples(result_.get()) : 0; }

int64_t PostgresRows::changed() const {
  return result_ ? std::strtoll(PQcmdTuples(result_.get()), nullptr, 10) : 0;
}

bool PostgresRows::IsNull(int64_t row, int column) const {
  return PQgetisnull(result_.get(), static_cast<int>(row), column) != 0;
}

std::string PostgresRows::Text(int64_t row, int column) const {
  const int at = static_cast<int>(row);
  return {PQgetvalue(result_.get(), at, column),
          static_cast<size_t>(PQgetlength(result_.get(), at, column))};
}

int64_t PostgresRows::Integer(int64_t row, int column) const {
  return std::strtoll(PQgetvalue(result_.get(), static_cast<int>(row), column), nullptr, 10);
}

double PostgresRows::Real(int64_t row, int column) const {
  const char* text = PQgetvalue(result_.get(), static_cast<int>(row), column);
  double value = 0;
  std::from_chars(text, text + PQgetlength(result_.get(), static_cast<int>(row), column), value);
  return value;
}

std::vector<uint8_t> PostgresRows::Bytes(int64_t row, int column) const {
  const char* text = PQgetvalue(result_.get(), static_cast<int>(row), column);
  size_t size = 0;
  const std::unique_ptr<unsigned char, decltype(&PQfreemem)> bytes(
      PQunescapeBytea(reinterpret_cast<const unsigned char*>(text), &size), PQfreemem);
  if (!bytes) throw std::bad_alloc();
  return {bytes.get(), bytes.get() + size};
}

// ---- the session ---------------------------------------------------------------------------

void PostgresSession::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

PostgresSession::PostgresSession(pg_conn* connection, std::string shown)
    : connection_(connection), shown_(std::move(shown)) {}

PostgresSession::~PostgresSession() = default;

Result<std::unique_ptr<PostgresSession>> PostgresSession::Connect(const PostgresPlace& place) {
  std::unique_ptr<PostgresSession> session(
      new PostgresSession(PQconnectdb(place.connection.c_str()), place.shown));
  PGconn* connection = session->connection_.get();
  if (connection == nullptr) throw std::bad_alloc();
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);  // else to stderr
  if (PQstatus(connection) != CONNECTION_OK) {
    const std::string said = FirstLine(PQerrorMessage(connection));
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the history at {} cannot be reached: {}; {}", place.shown, said,
                            RemedyOfConnecting(connection, said)));
  }
  PQsetnonblocking(connection, 1);
  try {
    session->SetPatience(kPatience);
  } catch (const DatabaseFailure& failure) {
    return HistoryUnavailable(failure);
  }
  return session;
}

void PostgresSession::SetPatience(std::chrono::seconds patience) {
  if (patience == patience_) return;
  patience_ = patience;
  ExecuteAll(fmt::format("SET statement_timeout = {0}; SET lock_timeout = {0}",
                         milliseconds(patience).count() * 7 / 8));
}

int PostgresSession::backend() const { return PQbackendPID(connection_.get()); }

void PostgresSession::Lose(const std::string& why) {
  lost_ = true;
  throw DatabaseFailure(
      fmt::format("the history at {}: {}; check that the server runs and can "
                  "be reached",
                  shown_, why));
}

void PostgresSession::WaitFor(short events, steady_clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) {
      Lose(fmt::format("the server has said nothing for {} s", patience_.count()));
    }
    pollfd file{PQsocket(connection_.get()), events, 0};
    const int ready = poll(&file, 1, static_cast<int>(left.count()));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) Lose("the connection broke");
  }
}

// Result of the sent statement; `sent` 0: sending failed. The caller owns it.
pg_result* PostgresSession::Receive(int sent) {
  PGconn* connection = connection_.get();
  if (sent == 0) Lose(FirstLine(PQerrorMessage(connection)));
  const auto until = steady_clock::now() + patience_;
  for (int left = PQflush(connection); left != 0; left = PQflush(connection)) {
    if (left < 0) Lose(FirstLine(PQerrorMessage(connection)));
    WaitFor(POLLIN | POLLOUT, until);
    if (PQconsumeInput(connection) == 0) Lose(FirstLine(PQerrorMessage(connection)));
  }
  pg_result* last = nullptr;
  for (;;) {
    while (PQisBusy(connection) != 0) {
      WaitFor(POLLIN, until);
      if (PQconsumeInput(connection) == 0) {
        PQclear(last);
        Lose(FirstLine(PQerrorMessage(connection)));
      }
    }
    pg_result* next = PQgetResult(connection);
    if (next == nullptr) return last;
    const bool failed = last != nullptr && PQresultStatus(last) == PGRES_FATAL_ERROR;
    if (failed) {
      PQclear(next);
    } else {
      PQclear(last);
      last = next;
    }
  }
}

PostgresRows PostgresSession::Checked(pg_result* result) {
  PostgresRows rows(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string said = FirstLine(PQresultErrorMessage(result));
  if (state == nullptr || PQstatus(connection_.get()) != CONNECTION_OK) Lose(said);
  throw DatabaseFailure(
      fmt::format("the history at {}: the server says: {}; {}", shown_, said, RemedyOf(state)));
}

namespace {

// Parameters in libpq's form.
struct Arrays {
  explicit Arrays(const std::vector<PostgresValue>& values) {
    texts.reserve(values.size());  // pointers into it stay
    for (const PostgresValue& value : values) {
      types.push_back(value.is_bytea ? kByteaType : 0);
      formats.push_back(value.is_bytea ? 1 : 0);
      texts.push_back(!value.bytes     ? std::string()
                      : value.is_bytea ? *value.bytes
                                       : WellFormed(*value.bytes));
      pointers.push_back(value.bytes ? texts.back().data() : nullptr);
      lengths.push_back(static_cast<int>(texts.back().size()));
    }
  }
  int count() const { return static_cast<int>(pointers.size()); }

  std::vector<std::string> texts;
  std::vector<Oid> types;
  std::vector<int> formats;
  std::vector<int> lengths;
  std::vector<const char*> pointers;
};

}  // namespace

PostgresRows PostgresSession::Execute(const std::string& sql,
                                      const std::vector<PostgresValue>& values) {
  const auto known = names_.find(sql);
  std::string name = known != names_.end() ? known->second : fmt::format("s{}", names_.size());
  if (known == names_.end()) {
    Checked(Receive(
        PQsendPrepare(connection_.get(), name.c_str(), WithDollars(sql).c_str(), 0, nullptr)));
    names_[sql] = name;
  }
  const Arrays arrays(values);
  return Checked(Receive(PQsendQueryPrepared(connection_.get(), name.c_str(), arrays.count(),
                                             arrays.pointers.data(), arrays.lengths.data(),
                                             arrays.formats.data(), 0)));
}

PostgresRows PostgresSession::ExecuteOnce(const std::string& sql,
                                          const std::vector<PostgresValue>& values) {
  const Arrays arrays(values);
  return Checked(Receive(PQsendQueryParams(
      connection_.get(), WithDollars(sql).c_str(), arrays.count(), arrays.types.data(),
      arrays.pointers.data(), arrays.lengths.data(), arrays.formats.data(), 0)));
}

void PostgresSession::ExecuteAll(const std::string& sql) {
  Checked(Receive(PQsendQuery(connection_.get(), sql.c_str())));
}

}  // namespace gpuadvise::daemon
