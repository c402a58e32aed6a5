// Training files made of a fuzz target's bytes: keys of the table, values of the bytes. Most of
// what bytes alone would say ends at the first bracket; this gets to what is done with a spec.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/keys/train_keys.h"

namespace gpuadvise {

class ByteStream {
 public:
  ByteStream(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  bool empty() const { return at_ == end_; }
  uint8_t Byte() { return empty() ? 0 : *at_++; }
  size_t Below(size_t count) { return (static_cast<size_t>(Byte()) << 8 | Byte()) % count; }

  template <typename T, size_t N>
  const T& OneOf(const T (&values)[N]) {
    return values[Below(N)];
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

inline nlohmann::json AnyNumber(ByteStream& bytes) {
  constexpr double kTelling[] = {0,    1,    2,  7,   64,     1024,  999'983, 1e6,  1e9,
                                 1e12, 1e18, -1, 0.5, 1e-300, 1e300, 3.9,     4096, 65'536};
  const double number = bytes.OneOf(kTelling);
  const bool whole = number == static_cast<double>(static_cast<int64_t>(number));
  return whole ? nlohmann::json(static_cast<int64_t>(number) + bytes.Byte() % 3)
               : nlohmann::json(number);
}

inline std::string AnyText(ByteStream& bytes) {
  constexpr const char* kTelling[] = {
      "l40s",       "rtx4090",    "a100-80gb", "llama-3-8b", "q_proj", "5 GB",       "21.3 GiB",
      "1-00:00:00", "adamw",      "",          "gpu:1",      "nope",   "a|b&(c)",    "n[1-3]",
      "classt01",   "gpu_shared", "auto",      "gpu:l40s:2", "all",    "n[1-999999]"};
  const uint8_t kind = bytes.Byte();
  if (kind < 220) return bytes.OneOf(kTelling);
  std::string text;
  for (size_t left = bytes.Below(kind > 252 ? 5000 : 40); left > 0; --left) {
    text += static_cast<char>('!' + bytes.Byte() % 90);
  }
  return text;
}

nlohmann::json SectionOf(std::string_view section, ByteStream& bytes);

inline nlohmann::json ValueFor(const TrainKey& key, ByteStream& bytes) {
  if (bytes.Byte() > 250) {
    return bytes.Byte() % 2 == 0 ? AnyNumber(bytes) : nlohmann::json(AnyText(bytes));
  }
  switch (key.kind) {
    case ValueKind::kWhole:
    case ValueKind::kNumber: {
      if (bytes.Byte() % 4 == 0) return AnyNumber(bytes);
      const auto low = static_cast<int64_t>(key.low);
      const auto room = static_cast<uint64_t>(std::min(key.high, 1e6)) - static_cast<uint64_t>(low);
      return low + static_cast<int64_t>(bytes.Below(static_cast<size_t>(room) + 1));
    }
    case ValueKind::kBool:
      return bytes.Byte() % 2 == 0;
    case ValueKind::kText:
      return AnyText(bytes);
    case ValueKind::kWord:
    case ValueKind::kSwitch:
      if (bytes.Byte() % 3 == 0) return bytes.Byte() % 2 == 0;
      return key.words[bytes.Below(key.words.size())];
    case ValueKind::kTexts: {
      nlohmann::json list = nlohmann::json::array();
      for (size_t left = bytes.Below(bytes.Byte() > 240 ? 300 : 4); left > 0; --left) {
        list.push_back(AnyText(bytes));
      }
      return list;
    }
    case ValueKind::kSize:
      return std::to_string(bytes.Byte()) + (bytes.Byte() % 2 == 0 ? " GB" : " MiB");
    case ValueKind::kTimeLimit:
      return std::to_string(bytes.Byte()) + ":00:00";
    case ValueKind::kMap:
      return SectionOf(key.path, bytes);
    case ValueKind::kList: {
      nlohmann::json list = nlohmann::json::array();
      for (size_t left = bytes.Below(bytes.Byte() > 240 ? 300 : 6); left > 0; --left) {
        list.push_back(SectionOf(key.path, bytes));
      }
      return list;
    }
    case ValueKind::kOther:
      if (key.path == "stages.model") return SectionOf("model", bytes);
      if (key.path == "stages.training") return SectionOf("training", bytes);
      if (bytes.Byte() % 2 == 0) return AnyNumber(bytes);
      if (bytes.Byte() % 2 == 0) return nlohmann::json::array({AnyNumber(bytes), AnyNumber(bytes)});
      return {{"hidden_size", AnyNumber(bytes)},
              {"num_hidden_layers", AnyNumber(bytes)},
              {"model_type", AnyText(bytes)},
              {"vocab_size", AnyNumber(bytes)}};
  }
  return nullptr;
}

inline nlohmann::json SectionOf(std::string_view section, ByteStream& bytes) {
  nlohmann::json map = nlohmann::json::object();
  const std::vector<const TrainKey*> keys = TrainKeysIn(section);
  for (size_t left = bytes.Below(keys.size() + 1); left > 0; --left) {
    const TrainKey& key = *keys[bytes.Below(keys.size())];
    map[std::string(key.name())] = ValueFor(key, bytes);
  }
  return map;
}

// A spec that may be answered, with what the bytes change of it.
inline nlohmann::json AnySpec(ByteStream& bytes) {
  nlohmann::json spec = {
      {"model", {{"hidden_size", 1024}, {"num_hidden_layers", 4}, {"num_attention_heads", 8}}},
      {"training", {{"max_steps", 100}, {"effective_batch_size", 16}}}};
  spec.merge_patch(SectionOf("", bytes));
  return spec;
}

}  // namespace gpuadvise
