// The files of settings of a training's command, merged into one: what a file brings in
// (`defaults:` of Hydra and its like, `_base_`, `extends`) and what the command chooses of them
// (trainer=ddp).
//
// A file's own keys win over those that it brings in, unless `_self_` stands elsewhere; later
// entries win over earlier ones. Pure except for reading.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/script/launch_command.h"

namespace gpuadvise::client {

struct ConfigFiles {
  std::string path;              // the command's file; "": none is named
  bool is_read = false;          // that one
  bool takes_overrides = false;  // key=value on the command line: Hydra
  nlohmann::json merged = nlohmann::json::object();
  std::map<std::string, std::string> file_of;  // of each value, "trainer.devices"
  std::vector<std::string> unread;             // parts of it that are not found
  std::set<size_t> choices;                    // words of the command that name a file
};

// An object from YAML or, by the name of `path`, JSON.
std::optional<nlohmann::json> ParseConfig(const std::string& text, const std::string& path);

// `named`: the file or Hydra's name of one that a flag gives; "": none does.
ConfigFiles ReadConfigFiles(const LaunchCommand& command, const std::string& named,
                            const ReadNamedFile& read);

}  // namespace gpuadvise::client
