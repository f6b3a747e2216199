"""What Sphinx is told. Pages are in build/pages, where `docs.making` puts them; nothing here reaches the network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

project = "incrowd"
html_title = "incrowd"
copyright = "the incrowd authors, Apache-2.0"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings: list[str] = []
exclude_patterns: list[str] = []
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_show_search_summary = False  # it would fetch every page found, which browsers refuse to do for files
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme_options: dict[str, Any] = {"navigation_with_keys": True}


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f"<div class='math'>{_mathml(node.astext(), block=True)}</div>")
    raise nodes.SkipNode


def _mathml(text: str, *, block: bool) -> str:
    """Return a formula as MathML, which browsers show by themselves: no script, no font from elsewhere."""
    tree = latex2mathml.tex2mathml(text, as_block=block)
    return tree if isinstance(tree, str) else tree.toxml()


def setup(app: Any) -> dict[str, bool]:
    """Let formulas be MathML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
