#include "daemon/settings/settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// What is wrong with `text`, as "POINTER: sentence"; "" when nothing is.
std::string Complaint(const char* text) {
  const Result<Settings> settings = SettingsFromJson(json::parse(text));
  return settings ? "" : settings.error().pointer + ": " + settings.error().message;
}

Settings Parsed(const char* text) {
  const Result<Settings> settings = SettingsFromJson(json::parse(text));
  EXPECT_TRUE(settings.has_value()) << settings.error().message;
  return settings.value_or(Settings());
}

TEST(Settings, AnEmptyDocumentMeansTheDefaults) {
  EXPECT_EQ(SettingsToJson(Parsed("{}")), SettingsToJson(Settings()));
  EXPECT_EQ(SettingsToJson(Parsed("null")), SettingsToJson(Settings()));
}

TEST(Settings, OnesThatWereRemovedNameWhatTakesTheirPlace) {
  const std::string standby = Complaint(R"({"standby": "/run/first.sock"})");
  EXPECT_EQ(standby.find("/standby: the setting standby was removed; give both daemons the same "),
            0u)
      << standby;
  EXPECT_EQ(Complaint(R"({"clusters": {"b": "https://b:6829"}})"),
            "/clusters: the setting clusters was removed; name the clusters in client.yaml and ask "
            "several of them with -M (docs/other-hosts.md)");
}

TEST(Settings, WhatIsShownReadsBackTheSame) {
  Settings settings;
  settings.socket = "/tmp/a.sock";
  settings.socket_mode = 0660;
  settings.socket_group = "gpu";
  settings.history = "postgresql://ann@db/gpu";
  settings.listen = "127.0.0.1:6828";
  settings.listen_tls = {"0.0.0.0:6829", "/d.crt",      "/d.key", "/jwt.key",
                         false,          "/munge.sock", 80,       9};
  settings.trusted_proxy = {"X-Remote-User", "unix:/run/gpuadvise/proxy.sock", "www-data"};
  settings.source = "replay:/tmp/log";
  settings.poll_interval = std::chrono::milliseconds(1500);
  settings.gpu_aliases = {{"biggpu", "a100-80gb"}};
  settings.untyped_gpus = {{{"", "", "gpu[01-08]"}, "l40s"}, {{"old", "", ""}, "rtx2080ti"}};
  settings.interconnects = {{{"", "ib", ""}, {0, 25}}, {{"", "", "n1"}, {45, 12.5}}};
  settings.slurmrestd = {"https://h:6820", "/etc/jwt", "root", "/etc/site.pem"};
  settings.simulation = {7, 60, "/srv/jobs"};
  settings.max_connections = 12;
  settings.max_connections_per_user = 3;
  settings.listen_max_connections_per_address = 7;
  settings.answer_cpu_time = std::chrono::milliseconds(400);
  const json shown = SettingsToJson(settings);
  const Result<Settings> again = SettingsFromJson(shown);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(SettingsToJson(*again), shown);
  EXPECT_EQ(again->untyped_gpus.at(0).where.node, "gpu[01-08]");
  EXPECT_DOUBLE_EQ(again->interconnects.at(0).interconnect.network_gb_per_s, 25);
  EXPECT_DOUBLE_EQ(again->interconnects.at(1).interconnect.link_gb_per_s, 45);
  EXPECT_EQ(again->simulation, settings.simulation);
  EXPECT_EQ(again->slurmrestd, settings.slurmrestd);
  EXPECT_EQ(again->listen_tls, settings.listen_tls);
}

TEST(Settings, ATlsListenerHasACertificateAndAKey) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"listen_tls": "0.0.0.0:6829"})", "is not a mapping"},
      {R"({"listen_tls": {"address": "0.0.0.0:6829", "key": "/k"}})", "has no certificate"},
      {R"({"listen_tls": {"address": "0.0.0.0:6829", "certificate": "/c"}})", "has no key"},
      {R"({"listen_tls": {"adress": "0.0.0.0:6829"}})", "address"},
      {R"({"listen_tls": {"munge": "yes"}})", "neither true nor false"},
      {R"({"listen_tls": {"max_connections": 0}})", "max_connections"}};
  for (const auto& [text, words] : wrong) {
    const std::string said = Complaint(text);
    EXPECT_NE(said.find(words), std::string::npos) << text << " -> " << said;
    EXPECT_TRUE(said.starts_with("/listen_tls")) << said;
  }
}

TEST(Settings, OnesOfEarlierVersionsAreRefusedWithTheNewWay) {
  for (const char* text : {R"({"remote": {"listen": "0.0.0.0:6829"}})", R"({"relay": null})"}) {
    EXPECT_NE(Complaint(text).find("listen_tls"), std::string::npos) << Complaint(text);
    EXPECT_NE(Complaint(text).find("was removed"), std::string::npos) << Complaint(text);
  }
}

TEST(Settings, ATrustedProxyIsKnownByWhatNobodyElseHas) {
  const auto complaint = [](const std::string& proxy) {
    return Complaint((R"({"listen": "10.0.0.1:6828", "trusted_proxy": )" + proxy + "}").c_str());
  };
  EXPECT_EQ(complaint(R"({"header": "X-Remote-User", "address": "10.0.0.7"})"), "");
  EXPECT_EQ(complaint(R"({"header": "X-Remote-User", "address": "2001:db8::7"})"), "");
  EXPECT_EQ(complaint(R"({"header": "REMOTE_USER", "address": "unix:/p.sock", "user": "www"})"),
            "");
  EXPECT_EQ(complaint(R"({"header": "", "address": "", "user": ""})"), "");
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"header": "X-User"})", "has no address"},
      {R"({"address": "10.0.0.7"})", "has no header"},
      {R"({"header": "X-User", "address": "127.0.0.1"})", "every user of this machine"},
      {R"({"header": "X-User", "address": "::1"})", "every user of this machine"},
      {R"({"header": "X-User", "address": "::ffff:127.0.0.1"})", "every user of this machine"},
      {R"({"header": "X-User", "address": "fe80::1"})", "no address of one machine"},
      {R"({"header": "X-User", "address": "10.0.0.0/8"})", "no address of one machine"},
      {R"({"header": "X-User", "address": "proxy.example.org"})", "no address of one machine"},
      {R"({"header": "X-User", "address": "unix:/p.sock"})", "trusted_proxy.user is empty"},
      {R"({"header": "X-User", "address": "unix:p.sock", "user": "w"})", "no absolute path"},
      {R"({"header": "X-User", "address": "10.0.0.7", "user": "w"})", "for a proxy on a Unix"},
      {R"({"header": "Host", "address": "10.0.0.7"})", "a header of the proxy's own"},
      {R"({"header": "sec-fetch-site", "address": "10.0.0.7"})", "a header of the proxy's own"},
      {R"({"header": "X User:", "address": "10.0.0.7"})", "a header of the proxy's own"},
      {R"({"headers": "X-User", "address": "10.0.0.7"})", "header"},
      {R"("X-User")", "not a mapping"},
  };
  for (const auto& [proxy, words] : wrong) {
    const std::string said = complaint(proxy);
    EXPECT_NE(said.find(words), std::string::npos) << proxy << " -> " << said;
    EXPECT_TRUE(said.starts_with("/trusted_proxy")) << said;
  }
  EXPECT_NE(Complaint(R"({"trusted_proxy": {"header": "X-User", "address": "10.0.0.7"}})")
                .find("listen is empty"),
            std::string::npos);
}

TEST(Settings, DurationsAreReadInEveryUnit) {
  EXPECT_EQ(Parsed(R"({"poll_interval": "500ms"})").poll_interval, std::chrono::milliseconds(500));
  EXPECT_EQ(Parsed(R"({"poll_interval": "30s"})").poll_interval, std::chrono::seconds(30));
  EXPECT_EQ(Parsed(R"({"poll_interval": "2 min"})").poll_interval, std::chrono::minutes(2));
  EXPECT_EQ(Parsed(R"({"poll_interval": "1.5h"})").poll_interval, std::chrono::minutes(90));
  EXPECT_EQ(Parsed(R"({"poll_interval": 45})").poll_interval, std::chrono::seconds(45));
  EXPECT_EQ(Parsed(R"({"poll_interval": "45"})").poll_interval, std::chrono::seconds(45));
}

TEST(Settings, TheAddressOfSlurmrestdIsASocketOrAUrl) {
  for (const char* url : {"", "unix:/run/slurmrestd.sock", "http://h:6820", "https://h"}) {
    EXPECT_EQ(Complaint(json({{"slurmrestd", {{"url", url}}}}).dump().c_str()), "") << url;
  }
  EXPECT_EQ(Complaint(R"({"slurmrestd": {"url": "localhost:6820"}})"),
            "/slurmrestd/url: slurmrestd.url is \"localhost:6820\"; write "
            "unix:/run/slurmrestd.sock, http://HOST:6820 or https://HOST:6820");
  EXPECT_NE(Complaint(R"({"slurmrestd": {"token": "x"}})").find("token_file"), std::string::npos);
  EXPECT_NE(Complaint(R"({"slurmrestd": "unix:/run/s"})"), "");
  EXPECT_NE(Complaint(R"({"slurmrestd": {"url": "http://h", "token_file": "jwt"}})"), "");
}

TEST(Settings, AHistoryInAServerIsShownWithoutItsPassword) {
  const Settings settings = Parsed(R"({"history": "postgresql://ann:x@db/gpu"})");
  EXPECT_EQ(settings.history, "postgresql://ann:x@db/gpu");
  EXPECT_EQ(SettingsToJson(settings)["history"], "postgresql://ann:***@db/gpu");
  EXPECT_NE(Complaint(R"({"history": "mysql://db"})").find("postgresql://USER@HOST/DATABASE"),
            std::string::npos);
}

TEST(Settings, ModesAreOctalWithAndWithoutQuotes) {
  EXPECT_EQ(Parsed(R"({"socket_mode": "0660"})").socket_mode, 0660u);
  EXPECT_EQ(Parsed(R"({"socket_mode": 660})").socket_mode, 0660u);
}

TEST(Settings, EverySourceIsAccepted) {
  for (const char* source :
       {"auto", "slurm-api", "slurm-cli", "slurm-rest", "sim", "replay:/var/log/x.jsonl"}) {
    EXPECT_EQ(Complaint(json({{"source", source}}).dump().c_str()), "") << source;
  }
}

TEST(Settings, AMisspeltKeyIsAnsweredWithTheNearest) {
  EXPECT_EQ(Complaint(R"({"pol_interval": 30})"),
            "/pol_interval: unknown key pol_interval; did you mean poll_interval?");
  EXPECT_EQ(Complaint(R"({"simulation": {"sed": 3}})"),
            "/simulation/sed: unknown key simulation.sed; did you mean seed?");
}

TEST(Settings, AStrangeKeyIsAnsweredWithAllThatAreKnown) {
  EXPECT_EQ(Complaint(R"({"simulation": {"colour_of_the_sky": 3}})"),
            "/simulation/colour_of_the_sky: unknown key simulation.colour_of_the_sky; known are "
            "seed, speed and jobs_dir");
}

struct BadValue {
  const char* text;
  const char* complaint;
};

class BadSettings : public testing::TestWithParam<BadValue> {};

TEST_P(BadSettings, AreAnsweredWithWhatToWriteInstead) {
  EXPECT_EQ(Complaint(GetParam().text), GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadSettings,
    testing::Values(
        BadValue{R"({"socket": "here.sock"})",
                 "/socket: socket is \"here.sock\"; write an absolute path (it starts with /)"},
        BadValue{R"({"socket": ""})", "/socket: socket is empty; write an absolute path"},
        BadValue{R"({"state_dir": null})",
                 "/state_dir: state_dir is empty; write an absolute path"},
        BadValue{
            R"({"socket_mode": "rw-rw"})",
            "/socket_mode: socket_mode is \"rw-rw\"; write octal permissions such as \"0660\""},
        BadValue{R"({"socket_mode": 438})",
                 "/socket_mode: socket_mode is 438; write octal permissions such as \"0660\""},
        BadValue{R"({"socket_mode": 1777})",
                 "/socket_mode: socket_mode is 1777; write octal permissions such as \"0660\""},
        BadValue{R"({"socket_group": 5})", "/socket_group: socket_group is 5; write a text"},
        BadValue{
            R"({"listen": "localhost"})",
            "/listen: listen is \"localhost\"; write HOST:PORT such as 127.0.0.1:6828, or nothing"},
        BadValue{R"({"listen": "localhost:70000"})",
                 "/listen: listen is \"localhost:70000\"; write HOST:PORT such as 127.0.0.1:6828, "
                 "or nothing"},
        BadValue{R"({"source": "slurm"})",
                 "/source: source is \"slurm\"; write one of auto, slurm-api, slurm-cli, "
                 "slurm-rest, sim, "
                 "replay:FILE"},
        BadValue{R"({"source": "replay:log"})",
                 "/source: source is \"replay:log\"; write replay: and an absolute path"},
        BadValue{R"({"poll_interval": "soon"})",
                 "/poll_interval: poll_interval is \"soon\"; write a duration such as 30s, 5m, 1h "
                 "or 7d"},
        BadValue{R"({"poll_interval": "30 parsecs"})",
                 "/poll_interval: poll_interval is \"30 parsecs\"; write a duration such as 30s, "
                 "5m, 1h or 7d"},
        BadValue{R"({"poll_interval": 0})",
                 "/poll_interval: poll_interval is 0; write a duration from 100ms to 24h"},
        BadValue{R"({"stale_after": -5})",
                 "/stale_after: stale_after is -5; write a duration from 100ms to 24h"},
        BadValue{R"({"policy_interval": "9999999h"})",
                 "/policy_interval: policy_interval is \"9999999h\"; write a duration from 100ms "
                 "to 24h"},
        BadValue{R"({"max_connections": 0})",
                 "/max_connections: max_connections is 0; write a whole number from 1 to 100000"},
        BadValue{R"({"max_connections": 1.5})",
                 "/max_connections: max_connections is 1.5; write a whole number from 1 to 100000"},
        BadValue{R"({"max_connections": 18446744073709551615})",
                 "/max_connections: max_connections is 18446744073709551615; "
                 "write a whole number from 1 to 100000"},
        BadValue{R"({"metrics": {"exporter_names": true}})",
                 "/metrics: the setting metrics was removed; /metrics has the gpuadvise_* names "
                 "alone (docs/metrics.md); for slurm_* use Slurm's own metrics (MetricsType in "
                 "25.11 and later) or prometheus-slurm-exporter"},
        BadValue{R"({"simulation": {"speed": 0}})",
                 "/simulation/speed: simulation.speed is 0; write a number from 0.001 to 100000"},
        BadValue{R"({"simulation": 3})",
                 "/simulation: simulation is not a mapping; write {seed: 1, speed: 1}"},
        BadValue{R"({"log_level": "loud"})",
                 "/log_level: log_level is \"loud\"; write one of debug, info, warning, error"},
        BadValue{R"({"gpu_aliases": ["a100"]})",
                 "/gpu_aliases: gpu_aliases is not a mapping; write GRES type: catalogue name, one "
                 "a line"},
        BadValue{R"({"untyped_gpus": {"gpu": "l40s"}})",
                 "/untyped_gpus: untyped_gpus is not a list; write \"- {partition|feature|node: "
                 "NAME, gpu: CATALOGUE NAME}\" a line"},
        BadValue{R"({"untyped_gpus": [{"gpu": "l40s"}]})",
                 "/untyped_gpus/0: a rule of untyped_gpus needs exactly one condition; "
                 "write {partition|feature|node: NAME, gpu: CATALOGUE NAME}"},
        BadValue{R"({"untyped_gpus": [{"gpu": "l40s", "nodes": "a"}]})",
                 "/untyped_gpus/0/nodes: unknown key untyped_gpus.0.nodes; did you mean node?"},
        BadValue{R"({"untyped_gpus": [{"node": "a"}]})",
                 "/untyped_gpus/0: a rule of untyped_gpus needs a gpu; write "
                 "{partition|feature|node: NAME, gpu: CATALOGUE NAME}"},
        BadValue{R"({"interconnects": [{"node": "a", "feature": "ib"}]})",
                 "/interconnects/0: a rule of interconnects needs exactly one condition; write "
                 "{partition|feature|node: NAME, network_gbit_per_s: 200}"},
        BadValue{R"({"interconnects": [{"node": "a"}]})",
                 "/interconnects/0: a rule of interconnects needs a rate; write "
                 "{partition|feature|node: NAME, network_gbit_per_s: 200}"},
        BadValue{R"({"interconnects": [{"node": "a", "network_gbit_per_s": -1}]})",
                 "/interconnects/0/network_gbit_per_s: interconnects.0.network_gbit_per_s is -1; "
                 "write a number from 0.001 to 100000"}));

TEST(Settings, ADocumentThatIsNoMappingIsRefused) {
  EXPECT_EQ(Complaint("[1]"), ": the settings are not a mapping; write one \"key: value\" a line");
}

TEST(Settings, ALongBadValueIsShownShortened) {
  const std::string text = json({{"log_level", std::string(500, 'x')}}).dump();
  EXPECT_LT(Complaint(text.c_str()).size(), 200u);
}

TEST(Settings, ChangedKeysAreThoseThatDiffer) {
  Settings other;
  other.poll_interval = std::chrono::seconds(5);
  other.gpu_aliases = {{"x", "l40s"}};
  EXPECT_EQ(ChangedKeys(Settings(), other),
            (std::vector<std::string>{"poll_interval", "gpu_aliases"}));
  EXPECT_TRUE(ChangedKeys(other, other).empty());
}

TEST(Settings, OnesMarkedSoAreReadAtTheStartOnly) {
  EXPECT_TRUE(NeedsRestart("socket"));
  EXPECT_TRUE(NeedsRestart("listen_tls"));
  EXPECT_FALSE(NeedsRestart("poll_interval"));
  EXPECT_FALSE(NeedsRestart("no_such_setting"));
}

}  // namespace
}  // namespace gpuadvise::daemon
