# What depends on where gpuadvise is installed: the unit's path to the daemon, and the folder of its settings.
#
# gpuadvise_write_unit(PREFIX OUTPUT): writes the systemd unit for a gpuadvised below PREFIX.
# gpuadvise_write_user_unit(PREFIX OUTPUT): the same for a user's own. The daemon looks for its
# settings in /etc/gpuadvise by itself; where they are elsewhere the unit names them.
# gpuadvise_settings_folder(PREFIX OUT): /etc/gpuadvise for /usr, /etc/opt/gpuadvise for /opt/gpuadvise (FHS), else PREFIX/etc/gpuadvise.
# Both also run at `cmake --install`, whose --prefix may be another than that of the build.
# REQUIRES: GPUADVISE_SOURCE_DIR, GPUADVISE_SBINDIR and GPUADVISE_SYSCONFDIR (those of GNUInstallDirs).
function(gpuadvise_settings_folder prefix out)
  if(IS_ABSOLUTE "${GPUADVISE_SYSCONFDIR}")
    set(folder ${GPUADVISE_SYSCONFDIR}/gpuadvise)
  elseif(prefix MATCHES "^/usr/?$")
    set(folder /etc/gpuadvise)
  elseif(prefix MATCHES "^/opt/gpuadvise/?$")
    set(folder /etc/opt/gpuadvise)
  else()
    set(folder ${prefix}/${GPUADVISE_SYSCONFDIR}/gpuadvise)
  endif()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

function(gpuadvise_write_unit prefix output)
  cmake_path(ABSOLUTE_PATH GPUADVISE_SBINDIR BASE_DIRECTORY "${prefix}" OUTPUT_VARIABLE sbin)
  set(gpuadvised ${sbin}/gpuadvised)
  gpuadvise_settings_folder(${prefix} settings)
  set(config_option "")
  if(NOT settings STREQUAL /etc/gpuadvise)
    set(config_option " --config ${settings}/gpuadvised.yaml")
  endif()
  configure_file(${GPUADVISE_SOURCE_DIR}/systemd/gpuadvised.service.in ${output} @ONLY)
endfunction()

function(gpuadvise_write_user_unit prefix output)
  cmake_path(ABSOLUTE_PATH GPUADVISE_SBINDIR BASE_DIRECTORY "${prefix}" OUTPUT_VARIABLE sbin)
  set(gpuadvised ${sbin}/gpuadvised)
  configure_file(${GPUADVISE_SOURCE_DIR}/systemd/user/gpuadvised.service.in ${output} @ONLY)
endfunction()
