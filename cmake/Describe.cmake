# SPDX-License-Identifier: Apache-2.0
# Writes the manual pages and completions of the command into a folder (cmake -P):
#   TESSERA    the command
#   COMMANDS   its subcommands
#   FOLDER     where the files go
function(write_output file)
  execute_process(COMMAND ${TESSERA} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${FOLDER}/bash ${FOLDER}/zsh ${FOLDER}/fish)
write_output(tessera.1 --manual tessera)
foreach(command IN LISTS COMMANDS)
  write_output(tessera-${command}.1 --manual ${command})
endforeach()
write_output(bash/tessera --completion bash)
write_output(zsh/_tessera --completion zsh)
write_output(fish/tessera.fish --completion fish)
