"""site_links.py HTML: every link and picture of a site's pages leads to a file there, and every #anchor to an element of it;
nothing is loaded from elsewhere. Prints those that do not, and fails."""
import html.parser
import pathlib
import posixpath
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        for name in ("href", "src"):
            if given.get(name):
                (self.loads if tag in ("img", "script", "link", "iframe") else self.links).append(given[name])


root = pathlib.Path(sys.argv[1])
pages = {path.relative_to(root).as_posix(): Page(path) for path in root.rglob("*.html")}
files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
bad, n = [], 0
for name, page in pages.items():
    if name == "404.html":  # its links are of the site that serves it
        continue
    for link in page.links + page.loads:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.loads:
                bad.append(f"{name}: loads {link}")
            continue
        n += 1
        path = urllib.parse.unquote(parts.path)
        to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        to = "index.html" if to == "." else to
        anchor = urllib.parse.unquote(parts.fragment)
        if to not in files:
            bad.append(f"{name}: {link} leads nowhere")
        elif anchor and to in pages and anchor not in pages[to].ids:
            bad.append(f"{name}: {link}: no such place there")
print(*bad[:20], f"{n} links of {len(pages)} pages, {len(bad)} bad", sep="\n")
sys.exit(bool(bad) or n < 1)
