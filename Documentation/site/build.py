#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""build.py DIR: write the documentation as a web site to DIR/html, from README.md, the man pages
and the pages in reStructuredText. Sphinx treats each warning as an error. Afterwards no page may
load anything from elsewhere, and each link within the site must lead somewhere."""

import html
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent
TOP = DOCS.parent
MANUALS = ("weir.8", "weir-limit.8", "weir-source.8", "weir.conf.5", "weir.4", "weir-fleet.8")


def manual(page):
    """A man page: its headings are the site's, for the table of contents, the rest is mandoc's."""
    made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", DOCS / page], check=True,
                          text=True, capture_output=True).stdout
    made = re.sub(r'</?section[^>]*>\n?|<table class="(head|foot)">.*?</table>\n?', "", made, flags=re.S)
    made = re.sub(r'^<div class="manual-text">|</div>\s*$', "", made.strip())
    # The site has the manuals of weir alone.
    made = re.sub(r'<a class="Xr" href="(?!weir(?:-\w+)?\.[48]|weir\.conf\.5)[^"]*">(.*?)</a>', r"\1", made)
    parts = re.split(r'<h([12]) class="S[hs]" id="([^"]*)"><a[^>]*>(.*?)</a></h[12]>\n?', made, flags=re.S)
    name, section = page.rsplit(".", 1)
    title = f"{name}({section})"
    lines = [title, "=" * len(title), ""]
    for level, anchor, heading, text in zip(*[iter(parts[1:])] * 4):
        heading = html.unescape(re.sub(r"<[^>]*>|\n\s*", " ", heading)).replace("  ", " ").strip()
        number = re.match(r"(\d+)\. ", heading)
        lines += [f".. _recipe-{number[1]}:", ""] if number else []
        lines += [heading, " -~"[int(level)] * len(heading), "", ".. raw:: html", "",
                  f'   <span id="{anchor}"></span>']
        lines += ["   " + line for line in text.splitlines()] + [""]
    return "\n".join(lines)


def recipes(page):
    """Links to the recipes of weir(8)."""
    section = re.search(r"^\.Sh RECIPES\n(.*?)^\.Sh ", page, re.M | re.S).group(1)
    titles = re.findall(r"^\.Ss (.*)$", section, re.M)
    if len(titles) < 10:
        sys.exit(f"build.py: weir.8 has {len(titles)} recipes; ten or more are expected")
    return "\n".join(f"{number}. [{title}](recipe-{number})"
                     for number, title in (title.split(". ", 1) for title in titles))


def readme():
    text = (TOP / "README.md").read_text()
    text = re.sub(r"\]\(Documentation/(\w+\.(?:svg|png))\)", r"](\1)", text)
    text = re.sub(r"\]\(Documentation/(weir[-.\w]*\.[458])\)", r"](\1.rst)", text)
    text = re.sub(r"\]\(Documentation/(\w+\.rst)\)", r"](\1)", text)
    text = text.replace("](Documentation/NEWS)", "](NEWS.md)")
    return re.sub(r"\[(MAINTAINERS)\]\(MAINTAINERS\)", r"`\1`", text)


def fill(source):
    shutil.rmtree(source, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    for page in DOCS.glob("*.rst"):
        # The site has a table of contents of its own.
        text = re.sub(r"^\.\. contents::\n(   .*\n)*\n", "", page.read_text(), flags=re.M)
        (source / page.name).write_text(text)
    for page in MANUALS:
        (source / f"{page}.rst").write_text(manual(page))
    (source / "README.md").write_text(readme())
    news = (DOCS / "NEWS").read_text()
    (source / "NEWS.md").write_text(f"# What has changed\n\n```text\n{news}```\n")
    index = (HERE / "index.md").read_text()
    (source / "index.md").write_text(index.replace("@RECIPES@",
                                                   recipes((DOCS / "weir.8").read_text())))
    for picture in [*DOCS.glob("*.svg"), *DOCS.glob("*.png")]:
        shutil.copy(picture, source)
    shutil.copy(HERE / "conf.py", source)
    shutil.copy(HERE / "weir.css", source / "_static")


class Page(html.parser.HTMLParser):
    """The links, anchors and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loads = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        elif tag in ("img", "script", "iframe", "source") and attrs.get("src"):
            self.loads.append(attrs["src"])
        elif tag == "link" and attrs.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(attrs.get("href", ""))


def faults(site):
    """What is wrong with the links of the pages, a line each."""
    pages = {path.relative_to(site).as_posix(): Page(path) for path in site.glob("**/*.html")}
    for name, page in pages.items():
        for load in page.loads:
            if urllib.parse.urlsplit(load).netloc:
                yield f"{name} loads {load}"
        for link in page.links:
            part = urllib.parse.urlsplit(link)
            if part.scheme or part.netloc:
                continue
            target = urllib.parse.urljoin(name, urllib.parse.unquote(part.path)) if part.path else name
            if target not in pages:
                if not (site / target).exists():
                    yield f"{name}: there is no {link}"
            elif part.fragment and urllib.parse.unquote(part.fragment) not in pages[target].anchors:
                yield f"{name}: {target} has no #{part.fragment}"
    for sheet in site.glob("**/*.css"):
        for url in re.findall(r"url\(\s*['\"]?(\w+:)?//", sheet.read_text()):
            yield f"{sheet.relative_to(site)} loads from {url or '//'}"


def main():
    build = pathlib.Path(sys.argv[1])
    fill(build / "source")
    shutil.rmtree(build / "html", ignore_errors=True)
    done = subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-n", "-b", "html",
                           "-d", build / "trees", build / "source", build / "html"])
    wrong = sorted(set(faults(build / "html")))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if done.returncode or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
