# Debian packages, by `cpack -G DEB` in a build folder that tools/presets/debian.cmake configured: the library, named after its
# soname as Debian requires, its development files, and the program.
get_target_property(soversion btf SOVERSION)
set(package_lib libbtf${soversion})
set(package_dev libbtf-dev)
set(package_tool btftool)

set(CPACK_PACKAGE_NAME btftool)
set(CPACK_PACKAGE_VENDOR "btftool")
# As with Debian's tools, whoever makes the packages is their maintainer.
set(CPACK_PACKAGE_CONTACT "The authors of btftool <btftool@example.org>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL lib dev tool)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_LIB_PACKAGE_NAME ${package_lib})
set(CPACK_DEBIAN_DEV_PACKAGE_NAME ${package_dev})
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME ${package_tool})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
set(CPACK_COMPONENT_DEV_DEPENDS lib)
set(CPACK_COMPONENT_TOOL_DEPENDS lib)

# The dependencies of the files are read from them. Users of the library need this version or, by docs/stability.md, a later one
# with the same soname. The program uses more than the public interface, and needs exactly this version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
# With the required mode, whatever that of the source is.
file(COPY ${CMAKE_CURRENT_LIST_DIR}/triggers DESTINATION ${PROJECT_BINARY_DIR}/package
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)

# Lists of packages show the first line of each.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_LIB_DESCRIPTION "Binary Tensor Format files: library
libbtf inspects, converts, compares, validates and repairs files in the
Binary Tensor Format (BTF), in which TFRT keeps tensors, and reads and
writes those of NumPy, safetensors, ONNX, TVM and others.

This package has the shared library.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "Binary Tensor Format files: development files
libbtf inspects, converts, compares, validates and repairs files in the
Binary Tensor Format (BTF), in which TFRT keeps tensors.

This package has the headers for C++ and C, files for CMake and pkg-config,
and examples.")
set(CPACK_DEBIAN_TOOL_DESCRIPTION "inspect, convert and compare files of tensors
btftool inspects, converts, compares, validates and repairs files in the
Binary Tensor Format (BTF), in which TFRT keeps tensors, and those of NumPy,
safetensors, ONNX, TVM, GGUF and PyTorch. It knows the tensor formats of
TensorRT, says why two dumps differ, and in which layer of a network a
difference began.

This package has the command, its manual pages, completion for shells, JSON
schemas and documents.")

# The files that Debian requires, and compressed man pages.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
set(CPACK_BTF_PACKAGES "lib:${package_lib}" "dev:${package_dev}" "tool:${package_tool}")
set(CPACK_BTF_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_BTF_CHANGELOG ${PROJECT_SOURCE_DIR}/docs/changelog.md)
include(CPack)
