# Library, headers, executable, recipes, models and the package config for find_package(penstock).
include(CMakePackageConfigHelpers)

install(TARGETS ${PENSTOCK_MODULES} EXPORT penstockTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS penstock_exe RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY include/penstock DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY models recipes DESTINATION "${CMAKE_INSTALL_DATADIR}/penstock")
install(DIRECTORY bench/compare DESTINATION "${CMAKE_INSTALL_DATADIR}/penstock" USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE PATTERN "test_*" EXCLUDE)
install(EXPORT penstockTargets NAMESPACE penstock:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")
configure_package_config_file(cmake/penstockConfig.cmake.in
  "${CMAKE_BINARY_DIR}/penstockConfig.cmake"
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/penstockConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/penstockConfig.cmake" "${CMAKE_BINARY_DIR}/penstockConfigVersion.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")
