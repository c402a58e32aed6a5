#include "client/clusters/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

bool IsClusterName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name != "all" &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                  c == '_' || c == '.';
         });
}

std::vector<std::string> BlankSeparated(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Result<void> TakeKey(const std::string& name, const std::string& key, const json& value,
                     Cluster& cluster) {
  const std::vector<std::string> known = {"daemon", "ca", "token_file", "munge_socket",
                                          "submit_command"};
  if (key == "ca_file" || key == "socket") {
    return BadInput(fmt::format("clusters.{}: {} is now called {}", name, key,
                                key == "socket" ? "daemon" : "ca"));
  }
  if (std::find(known.begin(), known.end(), key) == known.end()) {
    return BadInput(fmt::format("clusters.{}: unknown key {}{}; the keys are {}", name, Quoted(key),
                                DidYouMean(key, known), JoinNames(known)));
  }
  if (!value.is_string()) {
    return BadInput(fmt::format("clusters.{}.{} must be a text", name, key));
  }
  const auto& text = value.get_ref<const std::string&>();
  if (key == "daemon") {
    Result<std::vector<std::string>> places = ReadDaemonList(text);
    if (!places) return BadInput(fmt::format("clusters.{}: {}", name, places.error().message));
    cluster.daemon.places = std::move(*places);
  }
  if (key == "ca") cluster.daemon.ca = text;
  if (key == "token_file") cluster.daemon.token_file = text;
  if (key == "munge_socket") cluster.daemon.munge_socket = text;
  if (key == "submit_command") cluster.submit_command = BlankSeparated(text);
  return {};
}

}  // namespace

Result<Cluster> ReadCluster(const std::string& name, const json& value,
                            const DaemonAddress& usual) {
  if (!IsClusterName(name)) {
    return BadInput(
        fmt::format("clusters: {} is no name of a cluster; use Slurm's, of letters, "
                    "digits, - and _",
                    Quoted(Shortened(name, kMaxQuotedBytes))));
  }
  Cluster cluster{name, usual};
  cluster.daemon.places.clear();
  if (value.is_string()) {
    if (Result<void> taken = TakeKey(name, "daemon", value, cluster); !taken) {
      return tl::unexpected<Error>(taken.error());
    }
  } else if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      if (Result<void> taken = TakeKey(name, key, inner, cluster); !taken) {
        return tl::unexpected<Error>(taken.error());
      }
    }
  }
  if (!cluster.daemon.places.empty()) return cluster;
  return BadInput(
      fmt::format("clusters.{}: where is its gpuadvised? Write /PATH/OF/gpuadvised.sock, "
                  "https://HOST:PORT, or {{daemon: …, submit_command: …}}",
                  name));
}

Result<std::vector<Cluster>> ChooseClusters(const std::vector<Cluster>& known,
                                            const std::string& names) {
  if (known.empty()) {
    return BadInput(
        "no cluster is known here: name each with its gpuadvised under clusters: in "
        "/etc/gpuadvise/client.yaml or ~/.config/gpuadvise/client.yaml");
  }
  if (names == "all") return known;
  std::vector<std::string> all;
  for (const Cluster& cluster : known) all.push_back(cluster.name);
  std::vector<Cluster> chosen;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) {
    const auto found = std::find(all.begin(), all.end(), name);
    if (found == all.end()) {
      return BadInput(fmt::format("-M: there is no cluster {}{}; client.yaml knows {}",
                                  Quoted(Shortened(name, kMaxQuotedBytes)), DidYouMean(name, all),
                                  JoinNames(all)));
    }
    const bool twice = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Cluster& one) { return one.name == name; });
    if (!twice) chosen.push_back(known[static_cast<size_t>(found - all.begin())]);
  }
  if (chosen.empty()) return BadInput("-M: name clusters, such as -M a,b, or all");
  return chosen;
}

}  // namespace gpuadvise::client
