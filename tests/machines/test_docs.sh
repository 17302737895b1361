#!/bin/bash
# The site of `make docs`: each Markdown file has a page, each link leads somewhere, nothing is loaded from a network, and the
# search knows the words. Where `make docs` has not been run, only with DOCS_TEST=1: its tools are 170 MB.
. tests/tap.sh
build=$(realpath "$build")
unset MAKEFLAGS MFLAGS MAKELEVEL ARGS
if [ -z "${DOCS_TEST-}" ] && [ ! -e "$build/site/tools/done" ]; then
    skip "the site" "make docs has not been run; DOCS_TEST=1 runs it"
    tap_done
fi
check "make docs" make BUILD="$build" docs
html=$build/site/html
pages() { # each Markdown file has its page, and its title is there
    local file page
    git ls-files '*.md' | while read -r file; do
        page=$html/${file%.md}.html
        [[ $file != *README.md ]] || page=$html/${file%README.md}index.html
        [ -s "$page" ] || echo "$file"
    done > "$tap_dir/missing"
    cat "$tap_dir/missing"
    [ ! -s "$tap_dir/missing" ]
}
check "each README and note has a page" pages
check "each link leads somewhere, and nothing is loaded from elsewhere" python3 tests/machines/site_links.py "$html"
search() { python3 -c 'import json, sys; found = {d["location"].split("#")[0] for d in json.load(open(sys.argv[1]))["docs"] if sys.argv[2] in d["text"]}; print(len(found)); sys.exit(sys.argv[3] not in found)' "$html/search/search_index.json" "$@"; }
check "the search knows what a note says" search "warpgroup" stages/6-wgmma-attention/index.html
check "sources that a page links to have a page" grep -q 'class="[^"]*highlight' "$html/stages/1-scalar/kernel.cu.html"
check "and are not in the search" bash -c '! grep -q "kernel.cu.html" "$1"' - "$html/search/search_index.json"
written_twice() { [ -z "$(git ls-files setup/site/style | grep '\.md$')" ]; }
check "no page has a second text" written_twice

# What breaks it: a small repository with a wrong link
tree=$tap_dir/tree
mkdir -p "$tree/setup" && cp -r setup/site "$tree/setup"
wrong() { # README'S TEXT, PATTERN: mkdocs ends with a message
    rm -rf "$tree/.git"
    printf '# One\n\n%s\n' "$1" > "$tree/README.md"
    printf '# Two\n\n## Here\n' | tee "$tree/GLOSSARY.md" > "$tree/CONTRIBUTING.md"
    git -C "$tree" init -q && git -C "$tree" add -A
    "$build/site/tools/bin/mkdocs" build --strict -f "$tree/setup/site/mkdocs.yml" -d "$tap_dir/html" > "$tap_dir/said" 2>&1
    local status=$?
    cat "$tap_dir/said"
    if [ -n "$2" ]; then [ $status -ne 0 ] && grep -q "$2" "$tap_dir/said"; else [ $status -eq 0 ]; fi
}
check "right links are right" wrong '[a](GLOSSARY.md#here) and [b](setup/site/hooks.py)' ""
check "a file that is not there" wrong '[a](none.md)' "none.md"
check "a place that is not there" wrong '[a](GLOSSARY.md#there)' "does not contain an anchor"
echo '<a href="none.html">' > "$tap_dir/html/page.html"
check "a link of HTML that leads nowhere" bash -c '! python3 tests/machines/site_links.py "$1"' - "$tap_dir/html"
echo '<script src="https://example.com/x.js"></script><a href="index.html">' > "$tap_dir/html/page.html"
check "a script from elsewhere" bash -c '! python3 tests/machines/site_links.py "$1"' - "$tap_dir/html"
tap_done
