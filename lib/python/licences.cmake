# What is linked into the wheel has licences that want to come with it. Debian keeps each as a file of its package.
foreach(package IN ITEMS libcli11-dev libdeflate-dev libfmt-dev libhwy-dev libpng-dev libpugixml-dev libspdlog-dev libstdc++6
    libxxhash-dev libzstd-dev libc6 nlohmann-json3-dev zlib1g-dev)
  set(file /usr/share/doc/${package}/copyright)
  if(EXISTS ${file})
    install(FILES ${file} DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT python RENAME ${package}.txt)
  else()
    message(WARNING "the wheel has no licence of ${package}: there is no ${file}")
  endif()
endforeach()
file(GLOB nanobind_licence ${nanobind_ROOT}/../../nanobind-*.dist-info/licenses/LICENSE)
install(FILES ${nanobind_licence} DESTINATION ${SKBUILD_METADATA_DIR}/licenses COMPONENT python RENAME nanobind.txt)
