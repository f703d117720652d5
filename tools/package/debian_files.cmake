# Run by cpack when the files of all packages lie where they are packed from: each gets its copyright and its changelogs, and
# manual pages are compressed. Times are those of SOURCE_DATE_EPOCH where it is set, so that a package has the same bytes again.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

# compress FILE: as Debian wants it, with no name and no time in it.
function(compress)
  execute_process(COMMAND gzip --best --no-name --force -- ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(pair IN LISTS CPACK_BTF_PACKAGES)
  string(REPLACE ":" ";" pair ${pair})
  list(POP_FRONT pair component)
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  file(COPY ${CPACK_BTF_FOLDER}/copyright DESTINATION ${share}/doc/${pair} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(WRITE ${share}/doc/${pair}/changelog.Debian
    "btftool (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * What changed is in changelog.gz.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  configure_file(${CPACK_BTF_CHANGELOG} ${share}/doc/${pair}/changelog COPYONLY)
  compress(${share}/doc/${pair}/changelog ${share}/doc/${pair}/changelog.Debian)
  file(GLOB pages ${share}/man/man1/*.1)
  if(pages)
    compress(${pages})
  endif()
endforeach()
