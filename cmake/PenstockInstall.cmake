# What `cmake --install` puts where, in three components: runtime, the program; development, archives, headers and the
# package for find_package(penstock); data, recipes, models and the comparison with other trainers.
include(CMakePackageConfigHelpers)
include(PenstockClosure)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")

# One export a module, so that a consumer meets the modules that he asks for and no others.
get_property(targets GLOBAL PROPERTY PENSTOCK_MODULES)
foreach(target ${targets})
  string(REGEX REPLACE "^penstock_" "" name ${target})
  install(TARGETS ${target} EXPORT ${target} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(EXPORT ${target} NAMESPACE penstock:: FILE ${name}.cmake DESTINATION "${package_folder}/modules"
          COMPONENT development)
  get_target_property(folder ${target} PENSTOCK_FOLDER)
  file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/penstock/${folder}/*.h")
  install(FILES ${headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/penstock/${folder}" COMPONENT development)
endforeach()
set(doors include/penstock/act.h "${PROJECT_BINARY_DIR}/include/penstock/version.h")
if(PENSTOCK_TORCH)
  list(APPEND doors include/penstock/penstock.h)
endif()
install(FILES ${doors} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/penstock" COMPONENT development)

penstock_write_closures("${PROJECT_BINARY_DIR}/penstockModules.cmake")
configure_package_config_file(cmake/penstockConfig.cmake.in "${PROJECT_BINARY_DIR}/penstockConfig.cmake"
                              INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/penstockConfig.cmake" "${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake"
              "${PROJECT_BINARY_DIR}/penstockModules.cmake"
        DESTINATION "${package_folder}" COMPONENT development)
penstock_write_pkg_config(act "acts with a policy that Penstock trained")
install(FILES "${PROJECT_BINARY_DIR}/penstock-act.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT development)

if(TARGET penstock_exe)
  penstock_library_folders(folders torch_cpu hwy::hwy fmt::fmt)
  # First a folder that moves with the prefix: the place for a libtorch of its own.
  file(RELATIVE_PATH libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}/penstock")
  # In the build too: CMake ends a path that it will change with a colon, and what stands behind it is the current folder.
  set_target_properties(penstock_exe PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries};${folders}"
                        BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS penstock_exe RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  # It lies in that folder itself.
  set_target_properties(penstock_full PROPERTIES INSTALL_RPATH "$ORIGIN;${folders}" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS penstock_full LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/penstock" COMPONENT runtime)
endif()
install(DIRECTORY models recipes DESTINATION "${CMAKE_INSTALL_DATADIR}/penstock" COMPONENT data)
install(DIRECTORY bench/compare DESTINATION "${CMAKE_INSTALL_DATADIR}/penstock" COMPONENT data
        USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE PATTERN "test_*" EXCLUDE)

if(PROJECT_IS_TOP_LEVEL)
  include(PenstockDeb)
endif()
