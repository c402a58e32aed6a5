// Which slurm.conf a source of Slurm will use, found out before Slurm's own code looks for it:
// libslurm ends the whole process when it cannot read one, after a minute of trying.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::collect {

// The readable slurm.conf: `configured` (--slurm-conf, SLURM_CONF) if not empty, otherwise the
// first of `places`. "" with neither, where `configless`, asked last, says that Slurm will fetch
// it.
//
// Errors: kUnavailable with the path and the reason.
Result<std::string> FindSlurmConf(const std::string& configured,
                                  const std::vector<std::string>& places,
                                  const std::function<bool()>& configless);

// The same with SLURM_CONF and Slurm's usual places, and for Slurm without files SLURM_CONF_SERVER
// or a record of DNS: the order in which Slurm itself looks.
Result<std::string> FindSlurmConf();

// Whether DNS names a slurmctld for this host's domains (SRV _slurmctld._tcp). Waits some seconds
// for a name server that does not answer. `servers`: instead of those of resolv.conf.
bool DnsNamesSlurmctld(const std::vector<sockaddr_in>& servers = {});

}  // namespace gpuadvise::collect
