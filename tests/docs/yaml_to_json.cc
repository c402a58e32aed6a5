// yaml_to_json FILE: the document as JSON, by the reader that the programs use. For tests in
// Python.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/yaml/yaml_file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto document = gpuadvise::LoadYamlFile(argv[1]);
  if (!document) {
    std::fprintf(stderr, "%s\n", document.error().message.c_str());
    return 1;
  }
  std::puts(document->root.dump().c_str());
  return 0;
}
