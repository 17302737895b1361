#!/bin/bash
# pip.sh PYTHON LIST: installs LIST with that Python's pip, and says what it downloads and that it unpacks. Where that fails,
# one line says why. Exit status: 0, or 1.
set -u
said=
while IFS= read -r line; do
    said+=$line$'\n'
    case $line in
        *" MB)") read -r verb rest <<< "$line" && [ "$verb" = Downloading ] && echo "setup:   downloading $rest" ;;
        "Installing collected packages: "*) echo "setup:   unpacking $(tr -cd , <<< "$line," | wc -c) packages" ;;
    esac
done < <("$1" -m pip install --progress-bar off --disable-pip-version-check -r "$2" 2>&1; echo "status $?")
[ "${said##*status }" != $'0\n' ] || exit 0
connection="new connection: ([^']*)'"
if [[ $said =~ $connection ]]; then
    echo "setup: pip could not install $2: ${BASH_REMATCH[1]}; it needs a network, and behind a proxy https_proxy" >&2
    exit 1
fi
cause=
while read -r line; do
    case $line in ERROR:\ *) cause=${cause:-${line#ERROR: }} ;; esac
done <<< "$said"
echo "setup: pip could not install $2: ${cause:-no word of why}; $1 -m pip install -r $2 says more" >&2
exit 1
