# The small HTTP server of `penstock booking offer`: cpp-httplib, built as Debian builds it. Without the package the
# rest is built all the same, and --serve says what is missing.
if(PENSTOCK_HTTP)
  find_path(PENSTOCK_HTTPLIB_INCLUDE httplib.h)
  find_library(PENSTOCK_HTTPLIB_LIBRARY cpp-httplib)
  mark_as_advanced(PENSTOCK_HTTPLIB_INCLUDE PENSTOCK_HTTPLIB_LIBRARY)
  if(PENSTOCK_HTTPLIB_INCLUDE AND PENSTOCK_HTTPLIB_LIBRARY)
    # Its own pkg-config flags: the classes are laid out by them.
    set_source_files_properties(src/domains/booking/offer/server.cpp PROPERTIES COMPILE_DEFINITIONS
      "PENSTOCK_HTTP;CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
    target_link_libraries(penstock_booking_offer PRIVATE "${PENSTOCK_HTTPLIB_LIBRARY}")
  else()
    message(STATUS "cpp-httplib not found (libcpp-httplib-dev): no penstock booking offer --serve")
  endif()
endif()
