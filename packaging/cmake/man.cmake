# Man pages, from packaging/man/*.scd: make_page.py puts in what the programs say of themselves (options, keys, settings), scdoc makes the page.
# Without scdoc no man pages are built.
find_program(SCDOC scdoc)
find_program(GZIP gzip)
set(GPUADVISE_CLIENT_PAGES "")
set(GPUADVISE_DAEMON_PAGES "")
if(NOT SCDOC OR NOT GZIP)
  message(STATUS "Man pages are not built: scdoc or gzip is not found")
  return()
endif()
add_subdirectory(packaging/man)

function(gpuadvise_install_page page component)
  string(REGEX MATCH "[0-9]$" section ${page})
  install(FILES ${PROJECT_BINARY_DIR}/man/${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
          COMPONENT ${component})
endfunction()
