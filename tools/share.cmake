# cmake -DTOOL=... -DFOLDER=... -P share.cmake: what the tool prints for shells, into FOLDER as it is installed.
file(REMOVE_RECURSE ${FOLDER})
foreach(place IN ITEMS
    bash:bash-completion/completions/btftool zsh:zsh/site-functions/_btftool fish:fish/vendor_completions.d/btftool.fish)
  string(REPLACE ":" ";" place ${place})
  list(POP_FRONT place shell)
  cmake_path(ABSOLUTE_PATH place BASE_DIRECTORY ${FOLDER})
  cmake_path(GET place PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${TOOL} completion ${shell} OUTPUT_FILE ${place} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
