# cmake -DTOOL=... -DFOLDER=... -P share.cmake: writes the completion scripts and man pages that the tool prints into FOLDER, in
# the places where they are installed.
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

# A page for each command that the help lists.
file(MAKE_DIRECTORY ${FOLDER}/man/man1)
execute_process(COMMAND ${TOOL} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".*\nSubcommands:" "" help "${help}")
string(REGEX MATCHALL "\n  [a-z]+" commands "${help}")
foreach(command IN LISTS commands ITEMS "")
  string(STRIP "${command}" command)
  string(JOIN - page btftool ${command})
  execute_process(COMMAND ${TOOL} help --man ${command}
    OUTPUT_FILE ${FOLDER}/man/man1/${page}.1 COMMAND_ERROR_IS_FATAL ANY)
endforeach()
