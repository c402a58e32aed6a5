// Finds the slurm.conf that Slurm's own code would use. Done in advance because libslurm ends the
// whole process, after a minute of retries, if it cannot read one.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::collect {

// A readable slurm.conf: `configured` (--slurm-conf, SLURM_CONF) if not empty, else the first of
// `places`. "" if there is neither, but `configless`, called last, returns true: Slurm will fetch
// it.
//
// Errors: kUnavailable with the path and the reason.
Result<std::string> FindSlurmConf(const std::string& configured,
                                  const std::vector<std::string>& places,
                                  const std::function<bool()>& configless);

// As above with SLURM_CONF and Slurm's usual places; configless with SLURM_CONF_SERVER or a DNS
// record. This is Slurm's own search order.
Result<std::string> FindSlurmConf();

// Whether DNS names a slurmctld for this host's domains (SRV _slurmctld._tcp). Waits a few seconds
// for an unresponsive name server. `servers`: replace those of resolv.conf unless empty.
bool DnsNamesSlurmctld(const std::vector<sockaddr_in>& servers = {});

}  // namespace gpuadvise::collect
