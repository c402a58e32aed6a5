# Runs at `cmake --install`, with GPUADVISE_BINARY_DIR and what place_by_prefix.cmake needs: installs the unit, and the
# settings where there are none yet, so that a site's own are kept.
include(${GPUADVISE_SOURCE_DIR}/cmake/place_by_prefix.cmake)
set(unit ${GPUADVISE_BINARY_DIR}/install/gpuadvised.service)
gpuadvise_write_unit(${CMAKE_INSTALL_PREFIX} ${unit})
file(INSTALL ${unit} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system)
gpuadvise_settings_folder(${CMAKE_INSTALL_PREFIX} settings)
if(EXISTS "$ENV{DESTDIR}${settings}/gpuadvised.yaml")
  message(STATUS "Kept: $ENV{DESTDIR}${settings}/gpuadvised.yaml")
else()
  file(INSTALL ${GPUADVISE_SOURCE_DIR}/config/gpuadvised.yaml DESTINATION ${settings})
endif()
