#include "daemon/collect/slurm_conf.h"

#include <arpa/nameser.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <resolv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace gpuadvise::collect {
namespace {

// DNS is the last resort, asked once at startup.
constexpr int kDnsSeconds = 2;
constexpr int kDnsTries = 2;

// Why the file cannot be read; "": readable. A folder can be opened but not read.
std::string WhyUnreadable(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (file && (std::fgetc(file.get()) != EOF || std::ferror(file.get()) == 0)) return "";
  return std::strerror(errno);
}

}  // namespace

Result<std::string> FindSlurmConf(const std::string& configured,
                                  const std::vector<std::string>& places,
                                  const std::function<bool()>& configless) {
  if (!configured.empty()) {
    const std::string why = WhyUnreadable(configured);
    if (why.empty()) return configured;
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("Slurm's configuration {} cannot be read: {}; fix it, or set SLURM_CONF",
                    configured, why));
  }
  for (const std::string& place : places) {
    if (WhyUnreadable(place).empty()) return place;
  }
  if (configless()) return std::string();
  return Fail(ErrorCode::kUnavailable,
              fmt::format("no slurm.conf that can be read in {}, and no record _slurmctld._tcp in "
                          "DNS; set SLURM_CONF, or SLURM_CONF_SERVER on a cluster without "
                          "configuration files",
                          fmt::join(places, ", ")));
}

bool DnsNamesSlurmctld(const std::vector<sockaddr_in>& servers) {
  struct __res_state state {};
  if (::res_ninit(&state) != 0) return false;
  state.retrans = kDnsSeconds;
  state.retry = kDnsTries;
  if (!servers.empty()) {
    state.nscount = static_cast<int>(std::min<size_t>(servers.size(), MAXNS));
    std::copy_n(servers.begin(), state.nscount, state.nsaddr_list);
  }
  std::array<unsigned char, NS_MAXMSG> answer;
  const int size =
      ::res_nsearch(&state, "_slurmctld._tcp", ns_c_in, ns_t_srv, answer.data(), answer.size());
  ::res_nclose(&state);
  ns_msg message;
  return size > 0 && ::ns_initparse(answer.data(), size, &message) == 0 &&
         ns_msg_count(message, ns_s_an) > 0;
}

Result<std::string> FindSlurmConf() {
  const char* configured = std::getenv("SLURM_CONF");
  return FindSlurmConf(
      configured == nullptr ? "" : configured,
      {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/etc/slurm-llnl/slurm.conf",
       "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf"},
      [] { return std::getenv("SLURM_CONF_SERVER") != nullptr || DnsNamesSlurmctld(); });
}

}  // namespace gpuadvise::collect
