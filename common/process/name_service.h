// Users, groups and hosts as this machine knows them: /etc/passwd, /etc/hosts, sssd, LDAP, DNS.
//
// A static program cannot load the machine's NSS modules, which belong to its own libc: there
// `getent` is asked, a program of that machine, to which names of digits alone are unknown; where
// there is none, /etc/passwd and /etc/group. May block; from any thread. Without an answer there is
// no name, and who needs it says so.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuadvise {

// The login name behind a uid; "" for none.
std::string UserName(int64_t uid);

// The uids of those of `names` that are users.
std::map<std::string, int64_t> UserIds(const std::vector<std::string>& names);

// nullopt: there is no such group.
std::optional<gid_t> GroupId(const std::string& name);

// Groups without a name are left out.
std::vector<std::string> GroupNames(const std::vector<gid_t>& ids);

// What getaddrinfo() understands in this program of a host's name: itself, or in a static program
// its first address; "" for none.
std::string ReachableHost(const std::string& host);

// This machine's name, as Slurm's AllocNodes has it; "" if it has none.
std::string HostName();

}  // namespace gpuadvise
