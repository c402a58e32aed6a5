#include "client/mcp/json_rpc.h"

#include "client/terminal/printable.h"
#include "common/base/json_text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMaxMethodBytes = 128;

RpcMessage Wrong(RpcError error, const std::string& complaint, const json& id = nullptr) {
  RpcMessage wrong;
  wrong.error = error;
  wrong.complaint = complaint;
  wrong.id = id;
  return wrong;
}

bool IsId(const json& value) { return value.is_string() || value.is_number_integer(); }

RpcMessage Response(const json& object, const json& id) {
  if (!IsId(id)) {
    return Wrong(RpcError::kInvalidRequest, "a response needs the id of a request");
  }
  RpcMessage message;
  message.kind = RpcMessage::Kind::kResponse;
  message.id = id;
  if (object.contains("result")) message.result = object["result"];
  return message;
}

RpcMessage Call(const json& object, const json& id) {
  const json& method = object["method"];
  if (!method.is_string() || method.get_ref<const std::string&>().size() > kMaxMethodBytes) {
    return Wrong(RpcError::kInvalidRequest, "method must be a short string",
                 IsId(id) ? id : json());
  }
  RpcMessage message;
  message.kind =
      object.contains("id") ? RpcMessage::Kind::kRequest : RpcMessage::Kind::kNotification;
  message.method = method.get<std::string>();
  message.id = id;
  message.params = object.value("params", json::object());
  if (message.kind == RpcMessage::Kind::kRequest && !IsId(id)) {
    return Wrong(RpcError::kInvalidRequest, "id must be a string or an integer");
  }
  if (!message.params.is_object()) {
    return Wrong(RpcError::kInvalidParams, "params must be an object", IsId(id) ? id : json());
  }
  return message;
}

}  // namespace

RpcMessage ReadMessage(std::string_view line) {
  if (line.size() > kMaxMessageBytes) return Wrong(RpcError::kParse, "the message is too long");
  if (SizeOfJson(line).depth > kDeepestMessage) {
    return Wrong(RpcError::kParse, "the message is nested too deeply");
  }
  const json object = json::parse(line, nullptr, false);
  if (object.is_discarded()) return Wrong(RpcError::kParse, "the line is not JSON");
  if (object.is_array()) {
    return Wrong(RpcError::kInvalidRequest, "batches are not supported; send one message a line");
  }
  const bool is_rpc =
      object.is_object() && object.contains("jsonrpc") && object["jsonrpc"] == "2.0";
  if (!is_rpc) return Wrong(RpcError::kInvalidRequest, "the message is not JSON-RPC 2.0");
  const json id = object.value("id", json());
  if (object.contains("method")) return Call(object, id);
  if (object.contains("result") || object.contains("error")) return Response(object, id);
  return Wrong(RpcError::kInvalidRequest, "the message has neither a method nor a result",
               IsId(id) ? id : json());
}

json RpcResult(const json& id, json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json RpcFailure(const json& id, RpcError code, const std::string& sentence) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", static_cast<int>(code)}, {"message", Printable(sentence)}}}};
}

json RpcNotification(const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

json RpcRequest(const std::string& id, const std::string& method, json params) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

std::string MessageLine(const json& message) {
  return message.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace gpuadvise::client
