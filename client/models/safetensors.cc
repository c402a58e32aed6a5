#include "client/models/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/process/descriptor.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeaderBytes = 64 << 20;  // a model of 10,000 tensors needs 1 MiB
constexpr size_t kMaxIndexBytes = 16 << 20;
constexpr size_t kMostShards = 10'000;
constexpr double kMostNumbers = 1e15;  // of one tensor

tl::unexpected<Error> Refuse(const std::string& path, const std::string& what) {
  return BadInput(path + ": " + what);
}

// Follows links, which the Hub's cache consists of.
Result<Descriptor> Open(const std::string& path, uint64_t* size) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    const int error = errno;
    return Fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kBadInput,
                fmt::format("{}: cannot be opened ({})", path, std::strerror(error)));
  }
  struct stat about {};
  if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return Refuse(path, "no regular file");
  }
  *size = static_cast<uint64_t>(about.st_size);
  return file;
}

bool ReadExactly(const Descriptor& file, char* to, size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(file.get(), to, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

uint64_t LittleEndian(const std::array<char, 8>& bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

Result<json> ReadHeader(const std::string& path) {
  uint64_t size = 0;
  Result<Descriptor> file = Open(path, &size);
  if (!file) return tl::unexpected<Error>(file.error());
  std::array<char, 8> length_bytes{};
  if (size < length_bytes.size() || !ReadExactly(*file, length_bytes.data(), length_bytes.size())) {
    return Refuse(path, "too short for a safetensors file; download it again");
  }
  const uint64_t length = LittleEndian(length_bytes);
  if (length > kMaxHeaderBytes) {
    return Refuse(path,
                  "not a safetensors file: its header would be longer than 64 MiB (a Git LFS "
                  "pointer?); download it again");
  }
  if (length > size - length_bytes.size()) {
    return Refuse(path, "cut off inside its header; download it again");
  }
  std::string text(length, '\0');
  if (!ReadExactly(*file, text.data(), text.size())) return Refuse(path, "cannot be read");
  Result<json> header = ParseJsonObject(text);
  if (!header) return Refuse(path, "its safetensors header " + header.error().message);
  return header;
}

// Number of elements of a tensor; nullopt: invalid entry.
std::optional<double> CountElements(const json& tensor) {
  if (!tensor.is_object()) return {};
  const auto shape = tensor.find("shape");
  if (shape == tensor.end() || !shape->is_array()) return {};
  double numbers = 1;
  for (const json& side : *shape) {
    if (!side.is_number_unsigned()) return {};
    numbers *= side.get<double>();
    if (numbers > kMostNumbers) return {};
  }
  return numbers;
}

// Whether the type is one in which quantisation packs weights.
bool IsPacked(const json& tensor) {
  const auto type = tensor.find("dtype");
  return type != tensor.end() && type->is_string() &&
         IsOneOf(type->get<std::string>(), {"U8", "I8", "I32", "U32"});
}

Result<std::set<std::string>> ListShards(const std::string& path) {
  const Result<std::string> text = ReadTextFile(path, kMaxIndexBytes);
  if (!text) return tl::unexpected<Error>(text.error());
  const Result<json> index = ParseJsonObject(*text);
  if (!index) return Refuse(path, index.error().message);
  const auto map = index->find("weight_map");
  if (map == index->end() || !map->is_object()) return Refuse(path, "has no weight_map");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    const std::string name = shard.is_string() ? shard.get<std::string>() : "";
    if (name.empty() || name.find('/') != std::string::npos) {
      return Refuse(path, "names a file that is not in its folder");
    }
    shards.insert(name);
  }
  if (shards.size() > kMostShards) return Refuse(path, "names too many files");
  return shards;
}

bool IsThere(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

Result<WeightCount> CountSafetensors(const std::string& path) {
  const Result<json> header = ReadHeader(path);
  if (!header) return tl::unexpected<Error>(header.error());
  WeightCount count;
  for (const auto& [name, tensor] : header->items()) {
    if (name == "__metadata__") continue;
    const std::optional<double> numbers = CountElements(tensor);
    if (!numbers) return Refuse(path, "its safetensors header has a tensor without a shape");
    count.parameters += *numbers;
    count.packed = count.packed || IsPacked(tensor);
  }
  return count;
}

Result<std::optional<WeightCount>> CountWeights(const std::string& folder) {
  const std::string index = folder + "/model.safetensors.index.json";
  const std::string single = folder + "/model.safetensors";
  std::set<std::string> files;
  if (IsThere(index)) {
    Result<std::set<std::string>> shards = ListShards(index);
    if (!shards) return tl::unexpected<Error>(shards.error());
    files = *std::move(shards);
  } else if (IsThere(single)) {
    files.insert("model.safetensors");
  }
  if (files.empty()) return std::optional<WeightCount>();
  WeightCount all;
  for (const std::string& file : files) {
    const Result<WeightCount> one = CountSafetensors(folder + "/" + file);
    if (!one) return tl::unexpected<Error>(one.error());
    all.parameters += one->parameters;
    all.packed = all.packed || one->packed;
  }
  return std::optional(all);
}

}  // namespace gpuadvise::client
