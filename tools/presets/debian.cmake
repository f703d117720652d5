# For Debian packages, which `cpack -G DEB` makes in the build folder.
include(${CMAKE_CURRENT_LIST_DIR}/release.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/debian_places.cmake)
