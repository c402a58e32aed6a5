# Everything that is installed, by the folders of the FHS (GNUInstallDirs), in three components: client, daemon and
# collect, the program that is made for one release of Slurm. The .deb packages are these components (packaging/packages.cmake).
#
# The daemon finds its collectors from its own place, ../libexec/gpuadvise; catalogues and defaults are inside the
# programs. So everything works under any prefix, and the folder may be moved.
include(packaging/cmake/place_by_prefix.cmake)
set(GPUADVISE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(GPUADVISE_SBINDIR ${CMAKE_INSTALL_SBINDIR})
set(GPUADVISE_SYSCONFDIR ${CMAKE_INSTALL_SYSCONFDIR})
set(GPUADVISE_UNIT ${PROJECT_BINARY_DIR}/systemd/gpuadvised.service)  # as a package has it, for tests
gpuadvise_write_unit(/usr ${GPUADVISE_UNIT})

set(data ${CMAKE_INSTALL_DATADIR}/gpuadvise)
set(share_doc ${CMAKE_INSTALL_DATADIR}/doc)

install(TARGETS gpuadvise DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT client)
install(FILES packaging/completions/gpuadvise.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME gpuadvise COMPONENT client)
install(FILES packaging/completions/_gpuadvise DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT client)
install(FILES packaging/completions/gpuadvise.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT client)
install(FILES integrations/plugins/cli_filter.lua integrations/plugins/README.md DESTINATION ${data}/plugins COMPONENT client)
install(DIRECTORY integrations DESTINATION ${data} COMPONENT client PATTERN __pycache__ EXCLUDE PATTERN mcp EXCLUDE
        PATTERN plugins EXCLUDE)
install(PROGRAMS integrations/mcp/gpuadvise_mcp.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME gpuadvise-mcp
        COMPONENT client)
install(FILES config/gpus.yaml ${PROJECT_BINARY_DIR}/config/models.yaml config/job.sbatch
              ${PROJECT_BINARY_DIR}/config/train.schema.json DESTINATION ${data} COMPONENT client)
install(FILES README.md LICENSE DESTINATION ${share_doc}/gpuadvise COMPONENT client)
install(DIRECTORY docs/ DESTINATION ${share_doc}/gpuadvise COMPONENT client
        FILES_MATCHING PATTERN "*.md" PATTERN "*.yaml" PATTERN screenshots EXCLUDE PATTERN plots EXCLUDE)
install(DIRECTORY examples DESTINATION ${share_doc}/gpuadvise COMPONENT client)
foreach(page IN LISTS GPUADVISE_CLIENT_PAGES)
  gpuadvise_install_page(${page} client)
endforeach()
if(GPUADVISE_STATIC_CLIENT)
  return()
endif()

install(TARGETS gpuadvised DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT daemon)
install(TARGETS gpuadvise-backtest DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)
install(TARGETS gpuadvise-collect DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/gpuadvise COMPONENT daemon)
install(FILES packaging/sysusers.conf DESTINATION lib/sysusers.d RENAME gpuadvise.conf COMPONENT daemon)
install(FILES packaging/tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME gpuadvise.conf COMPONENT daemon)
install(DIRECTORY config/grafana config/prometheus DESTINATION ${data} COMPONENT daemon)
install(FILES config/gpuadvised.yaml systemd/listen.conf systemd/socket-group.conf DESTINATION ${data}
        COMPONENT daemon)
install(CODE "set(GPUADVISE_SOURCE_DIR \"${GPUADVISE_SOURCE_DIR}\")
set(GPUADVISE_BINARY_DIR \"${PROJECT_BINARY_DIR}\")
set(GPUADVISE_SBINDIR \"${GPUADVISE_SBINDIR}\")
set(GPUADVISE_SYSCONFDIR \"${GPUADVISE_SYSCONFDIR}\")
include(\"${PROJECT_SOURCE_DIR}/packaging/cmake/install_by_prefix.cmake\")" COMPONENT daemon)
foreach(page IN LISTS GPUADVISE_DAEMON_PAGES)
  gpuadvise_install_page(${page} daemon)
endforeach()

if(TARGET gpuadvise-collect-api)
  install(TARGETS gpuadvise-collect-api DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/gpuadvise COMPONENT collect)
endif()
