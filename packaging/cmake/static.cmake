# Programs without shared libraries: GPUADVISE_STATIC_CLIENT (preset static-client) is the client alone, GPUADVISE_PORTABLE
# (preset portable, packaging/portable.sh) all of them. They run on any Linux of their architecture, of whatever libc.
#
# GPUADVISE_FMT and GPUADVISE_SPDLOG are what the rooms link: Debian has no static libraries of them, but all of both is
# in their headers.
#
# A static glibc cannot load libraries of the machine. Names of users, groups and hosts are asked of `getent`
# (common/process/name_service.cc), munge of its programs (common/munge/munge_programs.cc). Left out, each with a sentence
# where it is asked for: PostgreSQL (daemon/base/postgres_url.cc), tokens (daemon/remote/tokens_absent.cc), libslurm
# (daemon/collect/slurm_api_program.cc), NVML's figures of GPUs (client/run/gpu_sampler.cc).
set(GPUADVISE_FMT fmt::fmt)
set(GPUADVISE_SPDLOG spdlog::spdlog)
set(GPUADVISE_STATIC OFF)
if(NOT GPUADVISE_STATIC_CLIENT AND NOT GPUADVISE_PORTABLE)
  return()
endif()
set(GPUADVISE_STATIC ON)
set(GPUADVISE_FMT fmt::fmt-header-only)
set(GPUADVISE_SPDLOG spdlog::spdlog_header_only)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
target_compile_definitions(gpuadvise_flags INTERFACE GPUADVISE_STATIC)
set(PKG_CONFIG_ARGN --static)  # Debian 13's re2 needs abseil
