// JSON-RPC 2.0 messages as the Model Context Protocol sends them: one JSON object a line.
//
// Pure. Nothing here trusts a line: its size, its depth and its members are checked first.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace gpuadvise::client {

inline constexpr size_t kMaxMessageBytes = 4 << 20;
inline constexpr int kDeepestMessage = 64;

// Codes of JSON-RPC 2.0, section 5.1, and one of ours (-32000 to -32019 are the server's).
enum class RpcError {
  kParse = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kBusy = -32000
};

struct RpcMessage {
  enum class Kind { kRequest, kNotification, kResponse, kWrong };

  Kind kind = Kind::kWrong;
  nlohmann::json id;      // kRequest, kResponse: a string or an integer; kWrong: null or that
  std::string method;     // kRequest, kNotification
  nlohmann::json params;  // an object; {} where there are none
  nlohmann::json result;  // kResponse: null where it is an error
  RpcError error = {};    // kWrong: what to answer
  std::string complaint;  // kWrong: the same as a sentence
};

RpcMessage ReadMessage(std::string_view line);

// Messages of ours, ready to be sent.
nlohmann::json RpcResult(const nlohmann::json& id, nlohmann::json result);
nlohmann::json RpcFailure(const nlohmann::json& id, RpcError code, const std::string& sentence);
nlohmann::json RpcNotification(const std::string& method, nlohmann::json params);
nlohmann::json RpcRequest(const std::string& id, const std::string& method, nlohmann::json params);

// One line with its end, in ASCII: no character inside can end the line or be invisible.
std::string MessageLine(const nlohmann::json& message);

}  // namespace gpuadvise::client
