#!/usr/bin/env bash
# What completes the command lines of a program, and its manual pages: pages_test.sh PROGRAM FOLDER
# Every command and option that --help lists is offered, in every shell that is installed.
set -euo pipefail
program=$1
folder=$2
name=${program##*/}
export PATH="${program%/*}:$PATH" COLUMNS=200

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# The choices for the last of the words, in bash, one a line.
complete_in_bash() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  "_${name//-/_}" || true
  ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
}

# expect "WORDS..." CHOICE...: in bash. The last word may be empty; without choices bash completes files.
expect() {
  local words shown wanted=''
  IFS=' ' read -ra words <<<"$1"
  [[ $1 == *' ' ]] && words+=('')
  shift
  shown=$(complete_in_bash "${words[@]}" | sort | tr '\n' ' ')
  (($# == 0)) || wanted=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
  [[ $shown == "$wanted" ]] ||
    fail "bash completes '${words[*]}' with '$shown', not with '$*'"
}

# The names in a part ("Options", "Subcommands") of the help of a command.
names_in_help() {
  local part=$1
  shift
  "$@" --help | awk -v part="$part:" '$0 == part {on = 1; next} /^[^ ]/ || /^$/ {on = 0} on && /^  [^ ]/ {print $1}'
}

# check COMMAND...: what its help lists is offered and in its manual page; and so for the commands below.
check() {
  local path=("$@") offered names page
  offered=$(complete_in_bash "${path[@]}" -; complete_in_bash "${path[@]}" '')
  page=$(IFS=-; printf '%s/%s.1' "$folder" "${path[*]}")
  [[ -s $page ]] || fail "$page is missing"
  while read -r names; do
    local first=${names%%,*} long=${names#*,}
    [[ $names == --* ]] && long=$first
    long=${long%%\{*}  # CLI11 shows --no-proof{false}
    grep -qxe "$long" <<<"$offered" || fail "'${path[*]}' is not completed with $long"
    grep -qFe "${long//-/\\-}" "$page" || fail "$page does not describe $long"
  done < <(names_in_help Options "${path[@]}" | grep -- -)
  if command -v man >/dev/null; then
    local warnings
    warnings=$(man --warnings -l "$page" 2>&1 >/dev/null)
    [[ -z $warnings ]] || fail "$page: $warnings"
  fi
  while read -r names; do
    grep -qxe "$names" <<<"$offered" || fail "'${path[*]}' is not completed with $names"
    check "${path[@]}" "$names"
  done < <(names_in_help Subcommands "${path[@]}")
}

rm -rf "$folder"
mkdir -p "$folder"
"$program" --manual "$folder" >"$folder/log"
"$program" --completion bash >"$folder/bash"
# shellcheck disable=SC1091
source "$folder/bash"
check "$name"

if [[ $name == espalier ]]; then
  expect 'espalier pl' plan
  expect 'espalier plan --mod' --model
  expect 'espalier bound --model one-port' one-port one-port-unidirectional
  expect 'espalier generate st' star
  expect 'espalier generate star --host' --hosts
  expect 'espalier plan '
else
  expect 'espalier-mpi reduce' reduce reduce-scatter
  expect 'espalier-mpi bcast --ver' --verify
fi

"$program" --completion zsh >"$folder/zsh"
"$program" --completion fish >"$folder/fish"
! command -v zsh >/dev/null || zsh -n "$folder/zsh"
if command -v fish >/dev/null; then
  line=bcas wanted=bcast
  [[ $name != espalier ]] || line='generate sta' wanted=star
  shown=$(fish --no-config -c "source $folder/fish; complete -C '$name $line'" | cut -f1)
  [[ $shown == "$wanted" ]] || fail "fish completes '$line' with '$shown', not with '$wanted'"
fi
refusal=$("$program" --completion tcsh 2>&1) && fail "a completion for tcsh"
[[ $refusal == "$name: --completion: unknown shell 'tcsh'; one of: bash, zsh, fish" ]] || fail "$refusal"
