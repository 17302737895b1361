#!/bin/sh
# build_page.sh D3: page.html on stdout, with page.css, D3 and page.js in the places that it names.
set -eu
here=$(dirname "$0")
awk -v css="$here/page.css" -v d3="$1" -v js="$here/page.js" '
    function put(path,    line, got) {
        while ((got = (getline line < path)) > 0) print line
        if (got < 0) { print "build_page.sh: " path " cannot be read" > "/dev/stderr"; exit 1 }
    }
    /^@page.css@$/ { put(css); next }
    /^@d3@$/ { put(d3); next }
    /^@page.js@$/ { put(js); next }
    { print }' "$here/page.html"
