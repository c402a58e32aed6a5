# The client without shared libraries (preset static-client): it runs on any Linux of its architecture, of whatever libc.
# GPUADVISE_FMT is what common links: fmt has no static library in Debian, but all of it is in its headers.
#
# What a static glibc cannot do is load libraries of the machine: names of users and groups are asked of `id`
# (client/commands/system_names.cc), and NVML's figures of GPUs are left out (client/run/gpu_sampler.cc).
set(GPUADVISE_FMT fmt::fmt)
if(NOT GPUADVISE_STATIC_CLIENT)
  return()
endif()
set(GPUADVISE_FMT fmt::fmt-header-only)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
target_compile_definitions(gpuadvise_flags INTERFACE GPUADVISE_STATIC)
set(PKG_CONFIG_ARGN --static)  # Debian 13's re2 needs abseil
