# Run by cpack when the files of all packages are in place: adds the copyright and the changelogs to each, and compresses man
# pages. Times are those of SOURCE_DATE_EPOCH if it is set, so that packages are reproducible.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

# compress FILE: as Debian requires, without a name and a time in it.
function(compress)
  execute_process(COMMAND gzip --best --no-name --force -- ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(pair IN LISTS CPACK_BTF_PACKAGES)
  string(REPLACE ":" ";" pair ${pair})
  list(POP_FRONT pair component)
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  file(COPY ${CPACK_BTF_FOLDER}/copyright ${CPACK_BTF_CHANGELOG} DESTINATION ${share}/doc/${pair}
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  cmake_path(GET CPACK_BTF_CHANGELOG FILENAME name)
  file(RENAME ${share}/doc/${pair}/${name} ${share}/doc/${pair}/changelog)
  file(WRITE ${share}/doc/${pair}/changelog.Debian
    "btftool (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * What changed is in changelog.gz.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${share}/doc/${pair}/changelog ${share}/doc/${pair}/changelog.Debian)
  file(GLOB pages ${share}/man/man1/*.1)
  if(pages)
    compress(${pages})
  endif()
endforeach()
