# `cpack -G DEB` in the build folder: a .deb for each install component. libtorch is in none of them, as Debian has no
# package of the one that we build with.
set(CPACK_PACKAGE_NAME penstock)
set(CPACK_PACKAGE_VENDOR "the Penstock authors")
set(CPACK_PACKAGE_CONTACT "the Penstock authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL development data)
if(TARGET penstock_exe)
  list(PREPEND CPACK_COMPONENTS_ALL runtime)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME penstock)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "${PROJECT_DESCRIPTION}\nThe program. It looks for libtorch in lib/penstock beside its bin, then where it was built.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS penstock-data)
if(TARGET torch_cpu)
  penstock_library_folders(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS torch_cpu)
endif()

set(CPACK_DEBIAN_DATA_PACKAGE_NAME penstock-data)
set(CPACK_DEBIAN_DATA_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_DATA_DESCRIPTION
    "${PROJECT_DESCRIPTION}\nRecipes, models and the comparison with other trainers.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libpenstock-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "${PROJECT_DESCRIPTION}\nArchives and headers; find_package(penstock) and penstock-act.pc.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libhwy-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "zlib1g-dev, nlohmann-json3-dev")
include(CPack)
