# cmake -C tools/presets/release.cmake -S . -B BUILD: what is handed to others. No tests, and no path of this machine in it.
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(BUILD_TESTING OFF CACHE BOOL "")
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
cmake_path(GET source PARENT_PATH source)
# Two builds of one commit give the same bytes wherever they are.
set(CMAKE_CXX_FLAGS "$ENV{CXXFLAGS} -ffile-prefix-map=${source}=." CACHE STRING "")
