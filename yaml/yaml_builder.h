// Builds a YamlDocument from yaml-cpp's events, without yaml-cpp's own node tree.
//
// Events come one by one, so nesting, size and aliases are bounded before anything is copied. The
// first thing that is wrong is thrown as a YamlFault, which ParseYaml catches; no other file sees
// it.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "yaml/yaml_document.h"

namespace gpuadvise {

struct YamlFault {
  int line = 0;  // counted from 1
  std::string sentence;
};

class YamlBuilder : public YAML::EventHandler {
 public:
  /// The finished document. REQUIRES: all events of one document were delivered.
  YamlDocument Take() { return std::move(document_); }
  bool saw_value() const { return saw_value_; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { CloseFrame(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { CloseFrame(); }

 private:
  struct Value {
    nlohmann::json json;
    size_t values = 1;  // itself and all below
    size_t bytes = 0;   // text in it
    int line = 0;
  };
  // A map or sequence whose end has not come yet.
  struct Frame {
    Value value;
    std::string pointer;
    YAML::anchor_t anchor = 0;
    std::optional<std::string> key;  // of a map, when its value comes next
    bool key_is_merge = false;       // the key is a plain `<<`
    std::set<std::string> keys;
    std::vector<nlohmann::json> merged;
  };

  void OpenFrame(const YAML::Mark& mark, YAML::anchor_t anchor, nlohmann::json empty);
  void CloseFrame();
  void Add(Value value, YAML::anchor_t anchor);
  void AddToFrame(Frame& frame, Value value);
  void Merge(Frame& frame, const Value& value);
  bool ExpectsKey() const;
  void SetKey(int line, const std::string& tag, const std::string& text);
  std::string PointerOfNext() const;
  int RecordLine(int line);  // of PointerOfNext(); the line it was first seen on
  void Count(int line, size_t values, size_t bytes);

  YamlDocument document_;
  bool saw_document_ = false;
  bool saw_value_ = false;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Value> anchors_;
  size_t values_ = 0;
  size_t bytes_ = 0;
  size_t pointer_bytes_ = 0;
};

}  // namespace gpuadvise
