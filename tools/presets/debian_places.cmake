# The folders in which Debian packages install their files.
execute_process(COMMAND dpkg-architecture --query DEB_HOST_MULTIARCH
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE triplet COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_INSTALL_PREFIX /usr CACHE PATH "")
set(CMAKE_INSTALL_LIBDIR lib/${triplet} CACHE PATH "")
# The library is in a standard folder.
set(CMAKE_SKIP_INSTALL_RPATH ON CACHE BOOL "")
