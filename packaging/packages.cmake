# .deb packages by CPack, one for each component of packaging/cmake/install.cmake:
#
#   cmake --preset release && cmake --build --preset release && cpack --config build/release/CPackConfig.cmake -B build/packages
#
# Build them on the Debian release they are for. gpuadvise-collect fits the one Slurm release whose libslurm it was built with.
if(GPUADVISE_STATIC_CLIENT)
  # The client alone, which needs no library of the machine: gpuadvise-VERSION-static-x86_64.tar.gz.
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_FILE_NAME gpuadvise-${PROJECT_VERSION}-static-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_STRIP_FILES ON)
  include(CPack)
  return()
endif()

set(GPUADVISE_MAINTAINER "gpuadvise <root@localhost>" CACHE STRING "Maintainer of the packages: NAME <ADDRESS>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT ${GPUADVISE_MAINTAINER})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_SET_DESTDIR ON) # /etc is not below the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL client daemon)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(recommended "python3 (>= 3.9)") # of gpuadvise-mcp
if(GPUADVISE_PORTABLE)
  # For any Debian and Ubuntu; of another architecture where that was built.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  endif()
else()
  string(APPEND recommended ", libssl3t64 | libssl3") # loaded when https is first spoken
endif()

set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME gpuadvise)
set(CPACK_DEBIAN_CLIENT_PACKAGE_RECOMMENDS ${recommended})
set(CPACK_DEBIAN_CLIENT_PACKAGE_SUGGESTS "slurm-client, gpuadvise-daemon")
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "choose where and how to run a training on a Slurm GPU cluster
gpuadvise ranks the ways to run a training job by queue wait + run time, says
when jobs start and why they wait, and submits with the user's own sbatch.
It asks gpuadvised, which runs on one host of the cluster.")

set(CPACK_DEBIAN_DAEMON_PACKAGE_NAME gpuadvise-daemon)
set(CPACK_DEBIAN_DAEMON_PACKAGE_DEPENDS
    "systemd | systemd-standalone-sysusers | systemd-sysusers, systemd | systemd-standalone-tmpfiles | systemd-tmpfiles")
set(CPACK_DEBIAN_DAEMON_PACKAGE_RECOMMENDS "gpuadvise, gpuadvise-collect")
set(CPACK_DEBIAN_DAEMON_PACKAGE_SUGGESTS "slurm-client")
set(debian ${PROJECT_SOURCE_DIR}/packaging/debian)
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_EXTRA ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/conffiles)
set(CPACK_DEBIAN_DAEMON_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_COMPONENT_DAEMON_DESCRIPTION "forecast job starts on a Slurm GPU cluster
gpuadvised watches the cluster and answers gpuadvise over a Unix socket, and
browsers where the site wants it. gpuadvise-backtest measures the forecasts
on a recorded job log.")

if(TARGET gpuadvise-collect-api)
  list(APPEND CPACK_COMPONENTS_ALL collect)
  set(CPACK_DEBIAN_COLLECT_PACKAGE_NAME gpuadvise-collect)
  set(CPACK_COMPONENT_COLLECT_DEPENDS daemon)
  set(slurm "")
  if(EXISTS ${SLURM_INCLUDE_DIR}/slurm/slurm_version.h)
    file(STRINGS ${SLURM_INCLUDE_DIR}/slurm/slurm_version.h defined REGEX "define SLURM_VERSION_NUMBER 0x")
    string(REGEX MATCH "0x([0-9a-f][0-9a-f])([0-9a-f][0-9a-f])" digits "${defined}")
    if(digits)
      math(EXPR year "0x${CMAKE_MATCH_1}")
      math(EXPR month "0x${CMAKE_MATCH_2}")
      string(REGEX REPLACE "^([0-9])$" "0\\1" month ${month})
      set(slurm " ${year}.${month}")
    endif()
  endif()
  set(CPACK_COMPONENT_COLLECT_DESCRIPTION "read the state of Slurm${slurm} through libslurm
gpuadvised reads nodes and jobs with it at less cost for slurmctld than with
Slurm's commands. It is made for Slurm${slurm}; without it, or with another
release, gpuadvised uses squeue and scontrol.")
endif()

# Debian wants a copyright file and a changelog in each package.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/packages/changelog "gpuadvise (${PROJECT_VERSION}) unstable; urgency=medium

  * Release ${PROJECT_VERSION}.

 -- ${GPUADVISE_MAINTAINER}  ${date}
")
find_program(GZIP gzip REQUIRED)
execute_process(COMMAND ${GZIP} -9nf ${PROJECT_BINARY_DIR}/packages/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(doc ${component})
  string(REPLACE client gpuadvise doc ${doc})
  string(REGEX REPLACE "^(daemon|collect)$" "gpuadvise-\\1" doc ${doc})
  install(FILES packaging/debian/copyright ${PROJECT_BINARY_DIR}/packages/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${doc} COMPONENT ${component}
          EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
