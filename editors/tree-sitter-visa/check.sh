#!/usr/bin/env bash
# Generates the parser, runs its tests, and parses every text that is at hand: none may have an error node.
#
# Needs tree-sitter (`cargo install tree-sitter-cli` or `npm install --global tree-sitter-cli`) and a C compiler.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v tree-sitter >/dev/null; then
  echo "NOT RUN: the tree-sitter grammar, as there is no tree-sitter"
  exit 0
fi

tree-sitter generate
tree-sitter test
for query in queries/*.scm; do
  tree-sitter query "$query" ../../fixtures/programs/loops.visaasm >/dev/null
done

texts=$(mktemp -d)
trap 'rm -rf "$texts"' EXIT
shared=../../../shared
folders=(../../fixtures)
if [ -d "$shared" ]; then
  folders+=("$shared/corpus" "$shared/cases" "$shared/cases240")
else
  echo "FIXTURES ONLY: there is no $shared"
fi
number=0
while IFS= read -r -d '' path; do
  number=$((number + 1))
  case $path in
    *.gz) gzip -dc "$path" >"$texts/$number.visaasm" ;;
    *) cp "$path" "$texts/$number.visaasm" ;;
  esac
  echo "$texts/$number.visaasm"
  echo "$number $path" >>"$texts/names"
done < <(find -L "${folders[@]}" \( -name '*.visaasm' -o -name '*.visaasm.gz' \) -print0) >"$texts/paths"

echo "$number texts"
# Names what does not parse, and fails then.
tree-sitter parse --quiet --stat --paths "$texts/paths" || {
  echo "the numbers of the texts:"
  cat "$texts/names"
  exit 1
}
