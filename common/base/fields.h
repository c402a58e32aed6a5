// A struct that enters or leaves the program as JSON has a field list, from which it is written and
// read. The structs of the API and their lists are made from common/api/answers.yaml.
//
//   struct Stage {
//     std::string name;
//     int64_t steps = 0;
//     template <typename F>
//     static void Fields(F&& f) {
//       f("name", &Stage::name);
//       f("steps", &Stage::steps, kOmitted);
//     }
//   };
//
// Each call of `f` names a member as JSON has it and points to it. Members may be bool, int64_t,
// double, text, JSON of any form, another such struct, and optionals, vectors and maps (text to
// value) of these. An empty optional is null. A trait follows where it is needed: kOmitted,
// Prefixed("wait_"). The members of an empty optional that is Prefixed are absent.
//
// Pure. Reading is lenient, for answers of other programs: a missing member or one of another type
// keeps its default. What a person wrote is read by FieldReader (json_fields.h), with sentences.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuadvise {

struct FieldTraits {
  // The member is absent where it is empty: an optional of nothing; otherwise null, "", no items.
  bool omitted = false;
  // The nested struct's members stand here, with this before their names.
  const char* prefix = nullptr;
};
inline constexpr FieldTraits kOmitted{.omitted = true};
// REQUIRES: the member is a struct with fields, or an optional one. Prefixed(""): its members under
// their own names.
constexpr FieldTraits Prefixed(const char* prefix) { return {.prefix = prefix}; }

namespace fields {

struct Ignore {
  template <typename... Arguments>
  void operator()(Arguments&&...) const {}
};

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct Inner {
  using Type = T;
};
template <typename T>
struct Inner<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

}  // namespace fields

template <typename T>
concept HasFields = requires {
  T::Fields(fields::Ignore{});
};

// ---- writing -------------------------------------------------------------------------------

template <HasFields T>
nlohmann::json ToJson(const T& value);

namespace fields {

template <typename T>
nlohmann::json Write(const T& value) {
  if constexpr (HasFields<T>) {
    return ToJson(value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? Write(*value) : nlohmann::json();
  } else if constexpr (IsVector<T>::value) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& item : value) list.push_back(Write(item));
    return list;
  } else if constexpr (IsMap<T>::value) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [key, item] : value) object[key] = Write(item);
    return object;
  } else {
    return value;
  }
}

inline bool IsEmpty(const nlohmann::json& value) {
  return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         (value.is_structured() && value.empty());
}

template <typename T>
void WriteInto(const T& value, const std::string& prefix, nlohmann::json& object) {
  T::Fields([&](const char* name, auto member, FieldTraits traits = {}) {
    using Member = std::remove_cvref_t<decltype(value.*member)>;
    if constexpr (HasFields<typename Inner<Member>::Type>) {
      if (traits.prefix != nullptr) {
        if constexpr (HasFields<Member>) {
          WriteInto(value.*member, prefix + traits.prefix, object);
        } else if (value.*member) {
          WriteInto(*(value.*member), prefix + traits.prefix, object);
        }
        return;
      }
    }
    nlohmann::json written = Write(value.*member);
    if (traits.omitted && (IsOptional<Member>::value ? written.is_null() : IsEmpty(written))) {
      return;
    }
    object[prefix + name] = std::move(written);
  });
}

}  // namespace fields

// `value` as a JSON object.
template <HasFields T>
nlohmann::json ToJson(const T& value) {
  nlohmann::json object = nlohmann::json::object();
  fields::WriteInto(value, "", object);
  return object;
}

// ---- reading -------------------------------------------------------------------------------

// What becomes of each text that is read, for example made printable.
using TextFilter = std::string (*)(const std::string&);

namespace fields {

// Whether `object` has any of its members; one that is null is none.
template <typename T>
bool ReadInto(const nlohmann::json& object, const std::string& prefix, TextFilter filter, T& value);

template <typename T>
bool HasTypeOf(const nlohmann::json& json) {
  if constexpr (HasFields<T> || IsMap<T>::value) return json.is_object();
  if constexpr (IsVector<T>::value) return json.is_array();
  if constexpr (std::is_same_v<T, std::string>) return json.is_string();
  if constexpr (std::is_same_v<T, bool>) return json.is_boolean();
  if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
    constexpr double kMost = 9e15;  // whole numbers are exact below 2^53
    return json.is_number() && std::abs(json.get<double>()) <= kMost;
  }
  if constexpr (std::is_same_v<T, double>) return json.is_number();
  return true;  // JSON of any form
}

template <typename T>
void Read(const nlohmann::json& json, TextFilter filter, T& value) {
  if constexpr (IsOptional<T>::value) {
    if (json.is_null() || !HasTypeOf<typename T::value_type>(json)) return;
    Read(json, filter, value.emplace());
  } else if (!HasTypeOf<T>(json)) {
    return;
  } else if constexpr (HasFields<T>) {
    ReadInto(json, "", filter, value);
  } else if constexpr (IsVector<T>::value) {
    for (const nlohmann::json& element : json) {
      if (HasTypeOf<typename T::value_type>(element)) Read(element, filter, value.emplace_back());
    }
  } else if constexpr (IsMap<T>::value) {
    for (const auto& [key, element] : json.items()) {
      Read(element, filter, value[filter != nullptr ? filter(key) : key]);
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    const auto& text = json.get_ref<const std::string&>();
    value = filter != nullptr ? filter(text) : text;
  } else if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
    value = static_cast<T>(std::llround(json.get<double>()));
  } else {
    value = json.get<T>();
  }
}

template <typename T>
bool ReadInto(const nlohmann::json& object, const std::string& prefix, TextFilter filter,
              T& value) {
  bool any = false;
  T::Fields([&](const char* name, auto member, FieldTraits traits = {}) {
    using Member = std::remove_cvref_t<decltype(value.*member)>;
    using Struct = typename Inner<Member>::Type;
    if constexpr (HasFields<Struct>) {
      if (traits.prefix != nullptr) {
        Struct read;
        if (!ReadInto(object, prefix + traits.prefix, filter, read)) return;
        value.*member = std::move(read);
        any = true;
        return;
      }
    }
    const auto found = object.find(prefix + name);
    if (found == object.end() || found->is_null()) return;
    Read(*found, filter, value.*member);
    any = true;
  });
  return any;
}

}  // namespace fields

// The T in `json`, whatever that holds: what is missing or of another type has its default.
template <HasFields T>
T FromJson(const nlohmann::json& json, TextFilter filter = nullptr) {
  T value;
  if (json.is_object()) fields::ReadInto(json, "", filter, value);
  return value;
}

}  // namespace gpuadvise
