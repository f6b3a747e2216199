"""The look of a page: one column of cards, readable on a phone, in light and dark, and on paper.

`STYLE` touches nothing outside of its own elements, so that a notebook keeps its look; `PAGE_STYLE` is for a page
that is nobody else's.
"""

STYLE = """
.incrowd {
  color-scheme: light dark;
  --paper: #ffffff; --card: #f6f7f9; --ink: #1c2330; --faint: #5a6475; --line: #dfe3ea;
  --a: #3566b8; --b: #e08a2c; --good: #2c7a4b; --bad: #b3352b; --warn: #9a6700;
  --good-soft: #e4f3ea; --bad-soft: #fbe6e4; --warn-soft: #fdf1d6;
}
@media (prefers-color-scheme: dark) {
  .incrowd {
    --paper: #12161d; --card: #1b212b; --ink: #e7eaf0; --faint: #9aa5b8; --line: #303948;
    --a: #7fa8ec; --b: #f0ac5f; --good: #6fcf97; --bad: #f28b82; --warn: #f2c14e;
    --good-soft: #1c3527; --bad-soft: #432220; --warn-soft: #3d3216;
  }
}
.incrowd, .incrowd * { box-sizing: border-box; }
.incrowd { max-width: 1240px; margin: 0 auto; padding: 24px 20px 64px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.incrowd h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; }
.incrowd h2 { font-size: 1.25rem; margin: 44px 0 10px; padding-top: 14px; border-top: 1px solid var(--line); }
.incrowd h3 { font-size: 1rem; margin: 20px 0 8px; }
.incrowd p { margin: 6px 0; }
.incrowd p, .incrowd li, .incrowd dd, .incrowd h3 { overflow-wrap: anywhere; }
.incrowd .faint, .incrowd .reading dt { color: var(--faint); }
.incrowd ul { margin: 6px 0; padding-left: 20px; }
.incrowd .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(250px, 100%), 1fr)); gap: 14px;
  margin: 16px 0; }
.incrowd .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; }
.incrowd .card h3 { margin: 0 0 6px; font-size: .82rem; letter-spacing: .04em; text-transform: uppercase;
  color: var(--faint); }
.incrowd .badge { display: inline-block; white-space: nowrap; border-radius: 999px; padding: 1px 10px;
  font-size: .85rem; font-weight: 600; }
.incrowd .badge.low { background: var(--good-soft); color: var(--good); }
.incrowd .badge.noticeable { background: var(--warn-soft); color: var(--warn); }
.incrowd .badge.high { background: var(--bad-soft); color: var(--bad); }
.incrowd .badge.not-tried { background: var(--line); color: var(--faint); }
.incrowd .note { border-left: 4px solid var(--warn); background: var(--warn-soft); padding: 8px 12px;
  border-radius: 4px; margin: 8px 0; }
.incrowd .reading { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; margin: 8px 0 16px;
  font-size: .93rem; }
.incrowd .reading dd { margin: 0; min-width: 0; }
.incrowd .reading ul { margin: 0; }
.incrowd .leading { border-left: 6px solid var(--faint); border-radius: 6px; padding: 12px 16px; margin: 14px 0 10px;
  font-size: 1.12rem; }
.incrowd .leading .faint, .incrowd .leading details { font-size: .88rem; }
.incrowd .leading.good { border-color: var(--good); background: var(--good-soft); }
.incrowd .leading.warn { border-color: var(--warn); background: var(--warn-soft); }
.incrowd .leading.bad { border-color: var(--bad); background: var(--bad-soft); }
.incrowd .published { font-size: .9rem; color: var(--faint); }
.incrowd .hash, .incrowd pre { font-family: ui-monospace, "Liberation Mono", monospace; font-size: .82rem;
  overflow-wrap: anywhere; }
.incrowd pre { white-space: pre-wrap; background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: 10px 12px; color: var(--ink); }
.incrowd .rows { margin: 10px 0; }
.incrowd table { border-collapse: collapse; width: 100%; font-size: .92rem; }
.incrowd th, .incrowd td { text-align: left; padding: 6px 10px; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.incrowd td { overflow-wrap: anywhere; min-width: 5.5em; }
.incrowd th { overflow-wrap: break-word; }
.incrowd .wide th, .incrowd .wide td { min-width: 0; overflow-wrap: break-word; }
.incrowd .wide td:first-child, .incrowd .wide td:last-child { overflow-wrap: anywhere; min-width: 2.5em; }
.incrowd .numbers td:first-child { min-width: 10em; }
.incrowd thead th { color: var(--faint); font-weight: 600; }
.incrowd .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.incrowd thead .number { white-space: normal; }
.incrowd .ranking td:nth-child(1) { white-space: nowrap; }
.incrowd .ranking table { font-size: .84rem; }
.incrowd .ranking td:nth-child(2) { min-width: 150px; overflow-wrap: anywhere; }
.incrowd .ranking th, .incrowd .ranking td { padding: 6px 4px; }
.incrowd .scatter { width: 100%; }
.incrowd .bars { margin: 8px 0 14px; }
.incrowd .bar-row { display: grid; grid-template-columns: minmax(96px, 26%) minmax(0, 1fr);
  gap: 12px; align-items: center; margin: 4px 0; }
.incrowd .bar-row.stacked { grid-template-columns: minmax(96px, 26%) minmax(0, 1fr) 56px; }
.incrowd .bar-name { font-size: .9rem; line-height: 1.25; overflow-wrap: anywhere; text-align: right;
  color: var(--faint); }
.incrowd .bar-line { display: grid; grid-template-columns: minmax(0, 1fr) 118px; gap: 10px; align-items: center; }
.incrowd .bar-track { background: var(--line); border-radius: 3px; height: 11px; overflow: hidden; }
.incrowd .bar { height: 100%; min-width: 1px; }
.incrowd .bar.a, .incrowd .swatch.a { background: var(--a); }
.incrowd .bar.b, .incrowd .swatch.b { background: var(--b); }
.incrowd .bar.good, .incrowd .swatch.good { background: var(--good); }
.incrowd .bar.bad, .incrowd .swatch.bad { background: var(--bad); }
.incrowd .bar.faint, .incrowd .swatch.faint { background: var(--faint); }
.incrowd .bar-text { font-size: .85rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.incrowd .legend { display: flex; flex-wrap: wrap; gap: 16px; font-size: .88rem; color: var(--faint);
  margin: 4px 0 8px; }
.incrowd .swatch { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; }
.incrowd .stack { display: flex; height: 16px; border-radius: 3px; overflow: hidden; background: var(--line); }
.incrowd .part { background: var(--a); height: 100%; border-right: 1px solid var(--paper); }
.incrowd .shade-1 { opacity: .8; } .incrowd .shade-2 { opacity: .65; } .incrowd .shade-3 { opacity: .52; }
.incrowd .shade-4 { opacity: .42; }
.incrowd .shade-5 { opacity: .34; }
.incrowd .shade-6 { opacity: .27; }
.incrowd .shade-7 { opacity: .2; }
.incrowd .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(330px, 100%), 1fr));
  gap: 8px 32px; }
.incrowd details { margin: 8px 0; } .incrowd summary { cursor: pointer; color: var(--a); }
.incrowd svg { max-width: 100%; height: auto; }
.incrowd svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.incrowd nav { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: .9rem; margin: 10px 0 0; }
.incrowd a { color: var(--a); }
@media (max-width: 560px) {
  .incrowd { padding: 16px 12px 48px; }
  .incrowd .reading { grid-template-columns: 1fr; } .incrowd .reading dt { margin-top: 6px; }
  .incrowd .bar-row, .incrowd .bar-row.stacked { grid-template-columns: minmax(0, 1fr); gap: 1px; margin: 8px 0; }
  .incrowd .bar-name { text-align: left; }
  .incrowd .columns { grid-template-columns: 1fr; }
}
@media (max-width: 1120px) {
STACKED_WIDE
}
@media (max-width: 640px) {
STACKED
  .incrowd .scatter text { font-size: 21px; }
}
@media print { .incrowd h2 { break-after: avoid; } .incrowd .card, .incrowd .bars { break-inside: avoid; } }
"""

_STACKED = """
  KIND thead { display: none; }
  KIND table, KIND tbody, KIND tr, KIND td { display: block; width: auto; min-width: 0; }
  KIND tr { border-bottom: 1px solid var(--line); padding: 8px 0; }
  KIND td, KIND td:nth-child(n) { border: 0; padding: 2px 0; text-align: left; white-space: normal; min-width: 0; }
  KIND td:first-child { font-weight: 600; }
  KIND td + td::before { content: attr(data-label) ": "; color: var(--faint); }
"""
"""A table in which every row is a list: each cell behind the name of its column."""

STYLE = STYLE.replace("STACKED_WIDE", _STACKED.replace("KIND", ".incrowd .rows.wide").strip("\n")).replace(
    "STACKED", _STACKED.replace("KIND", ".incrowd .rows").strip("\n")
)

PAGE_STYLE = (
    STYLE.replace(".incrowd {\n  color-scheme", ":root {\n  color-scheme").replace(
        "  .incrowd {\n    --paper", "  :root {\n    --paper"
    )
    + """
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); }
"""
)
