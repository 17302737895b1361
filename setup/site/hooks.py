"""What mkdocs.yml's pages are: each Markdown file of the repository, where it lies; a page with the text of each source file
that one of them links to; a list for a folder without README. Other linked files come along as they are."""
import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^()\s]+)(\))")
FENCED = re.compile(r"(^ *(?:```|~~~).*?^ *(?:```|~~~) *$)", re.M | re.S)
LANGUAGE = {"cu": "cuda", "cuh": "cuda", "c": "c", "h": "c", "py": "python", "sh": "bash", "mk": "make", "json": "json", "txt": "text",
            "def": "c", "js": "javascript", "css": "css", "toml": "toml", "yml": "yaml"}
LONGEST = 200_000   # bytes of a source that becomes a page
FOLDERS = ["stages", "notebooks", "profiler", "emulator", "runtime", "common", "chips", "plots", "examples", "records", "setup", "tests"]


def tracked():
    return subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.rstrip("\0").split("\0")


class Site:
    """Which file stands for a path of the repository."""

    def __init__(self, paths):
        self.files, self.folders = set(paths), {""}
        for path in paths:
            folder = posixpath.dirname(path)
            while folder:
                self.folders.add(folder)
                folder = posixpath.dirname(folder)

    def target(self, page, link):
        """(path in the repository, #anchor), or None for another site's."""
        if re.match(r"[a-z]+:|//|#", link):
            return None
        path, mark, anchor = link.partition("#")
        return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)).removeprefix("./"), mark + anchor

    def page_of(self, path):
        """The page that shows it; the path itself where it is copied."""
        path = "" if path == "." else path
        if path in self.folders:
            readme = posixpath.join(path, "README.md")
            return readme if readme in self.files else posixpath.join(path, "folder.md")
        if path in self.files and is_source(path):
            return f"{path}.md"
        return path


def is_source(path):
    name = posixpath.basename(path)
    return (name.rpartition(".")[2] in LANGUAGE or name in ("Makefile", "Containerfile", "images", "LICENSE")) and \
        (ROOT / path).stat().st_size < LONGEST


def links_of(text):
    """Outside of fenced code."""
    for part in FENCED.split(text)[::2]:
        yield from LINK.findall(re.sub(r"`[^`\n]*`(?!\])", "", part))


def code(path):
    language = LANGUAGE.get(posixpath.basename(path).rpartition(".")[2], "make" if path.endswith("Makefile") else "text")
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    return f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n`````` {{.{language} linenums=\"1\"}}\n{text}\n``````\n"


def listing(folder, site):
    inside = sorted({path[len(folder) + 1:].split("/")[0] for path in site.files if path.startswith(folder + "/")})
    return f"---\nsearch:\n  exclude: true\n---\n# {folder}\n\n" + "".join(f"* `{name}`\n" for name in inside)


def on_files(files, config):
    site = config["site"] = Site(tracked())
    pages = sorted(path for path in site.files if path.endswith(".md"))
    shown = set(pages)
    for page in pages:
        files.append(File.generated(config, page, abs_src_path=str(ROOT / page)))
    for page in pages:
        for _, link, _ in links_of((ROOT / page).read_text()):
            found = site.target(page, link)
            if not found or site.page_of(found[0]) in shown:
                continue
            path, wanted = found[0], site.page_of(found[0])
            shown.add(wanted)
            if path in site.folders:
                files.append(File.generated(config, wanted, content=listing(path, site)))
            elif wanted != path:
                files.append(File.generated(config, wanted, content=code(path)))
            elif path in site.files:
                files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    config["nav"] = navigation(pages)
    return files


def title(page):
    first = (ROOT / page).read_text().split("\n", 1)[0]
    return first.removeprefix("# ") if first.startswith("# ") else page


def navigation(pages):
    def below(folder):
        own = [page for page in pages if posixpath.dirname(page) == folder]
        readme = f"{folder}/README.md"
        entries = [readme] if readme in own else []
        entries += [{title(page): page} for page in own if page != readme]
        inner = sorted({page[len(folder) + 1:].split("/")[0] for page in pages if page.count("/") > folder.count("/") + 1
                        and page.startswith(folder + "/")})
        for name in inner:
            found = below(f"{folder}/{name}")
            only = found[0] if len(found) == 1 and isinstance(found[0], str) else None
            entries.append({name: only or found})
        return entries
    rest = [folder for folder in sorted({page.split("/")[0] for page in pages if "/" in page}) if folder not in FOLDERS]
    return [{"attnlab": ["README.md", {"Glossary": "GLOSSARY.md"}, {"Contributing": "CONTRIBUTING.md"}]},
            *({folder: below(folder)} for folder in FOLDERS + rest)]


def on_page_markdown(markdown, page, config, files):
    site, path = config["site"], page.file.src_uri
    if path not in site.files:
        return markdown

    def moved(match):
        found = site.target(path, match[2])
        if not found:
            return match[0]
        if found[0] not in site.files and found[0] not in site.folders and found[0] != ".":
            return match[0]  # mkdocs says so; or it is code
        to = site.page_of(found[0])
        anchor = re.sub(r"^#L(\d+).*", r"#__codelineno-0-\1", found[1])
        return f"{match[1]}{posixpath.relpath(to, posixpath.dirname(path) or '.')}{anchor}{match[3]}"
    parts = FENCED.split(markdown)
    parts[::2] = [LINK.sub(moved, part) for part in parts[::2]]
    return "".join(parts)
