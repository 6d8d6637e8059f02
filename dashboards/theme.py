"""How pages look besides Streamlit's theme (``.streamlit/config.toml``): one style sheet, and the colours of charts.

The sheet takes its colours from the text around it, so that it holds for light and dark alike; the colours of charts
stand out from both grounds, and white from those of bars.
"""

from typing import Final

__all__ = ["COLOURS", "CSS"]

COLOURS: Final = {
    "active": "#0e7f86",
    "dimmed": "#6b797e",
    "added": "#12898f",
    "archived": "#c2621b",
    "now": "#c4457e",
}
"""By meaning; shapes, places and words always say the same."""

CSS: Final = """<style>
.mm-card, .mm-quote, .mm-facts, .mm-empty, .mm-steps, .mm-plain { overflow-wrap: anywhere; }
.mm-card { padding: .1rem 0; line-height: 1.5; }
.mm-said { font-size: 1.02rem; font-weight: 550; white-space: pre-wrap; margin: 0; }
.mm-title { font-size: 1.35rem; font-weight: 620; line-height: 1.4; white-space: pre-wrap; margin: 0 0 .4rem; }
.mm-about { font-size: .85rem; opacity: .82; margin: .15rem 0 0; }
.mm-plain { white-space: pre-wrap; margin: 0; }
.mm-dimmed .mm-said { font-weight: 450; opacity: .78; text-decoration: line-through; text-decoration-thickness: 1px; }
.mm-chip { display: inline-block; font-size: .78rem; padding: .05rem .5rem; margin: .15rem .3rem .15rem 0;
  border: 1px solid color-mix(in srgb, currentColor 35%, transparent); border-radius: 99px; }
.mm-chip.mm-good { border-color: #12898f; background: color-mix(in srgb, #12898f 16%, transparent); }
.mm-chip.mm-warn { border-color: #c2621b; background: color-mix(in srgb, #c2621b 16%, transparent); }
.mm-quote { margin: .45rem 0; padding: .35rem .8rem; white-space: pre-wrap; border-radius: .4rem;
  border-left: 3px solid color-mix(in srgb, currentColor 22%, transparent); }
.mm-quote.mm-source { border-left-color: #12898f; background: color-mix(in srgb, #12898f 9%, transparent); }
.mm-quote small, .mm-steps small { display: block; opacity: .82; font-size: .8rem; }
.mm-quote mark { color: inherit; background: color-mix(in srgb, #d9a521 34%, transparent); border-radius: .2rem;
  padding: 0 .1rem; }
.mm-numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .7rem; margin: .2rem 0;
  padding: 0 !important; }
.mm-numbers > div { border: 1px solid color-mix(in srgb, currentColor 18%, transparent); border-radius: .6rem;
  padding: .7rem .9rem; }
.mm-numbers dt { font-size: .85rem; opacity: .82; }
.mm-numbers small { display: block; opacity: .85; font-size: .78rem; font-weight: 400; }
.mm-numbers dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.35;
  font-variant-numeric: tabular-nums; }
.mm-note { font-size: .9rem; margin: 0; padding: .45rem .8rem; border-radius: .4rem;
  background: color-mix(in srgb, currentColor 8%, transparent); }
.mm-facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1.1rem;
  margin: .3rem 0; padding: 0 !important; font-size: .92rem; }
.mm-facts dt { opacity: .82; } .mm-facts dd { margin: 0; white-space: pre-wrap; }
.mm-parts { display: grid; grid-template-columns: max-content minmax(3rem, 1fr) max-content; gap: .15rem .7rem;
  align-items: center; font-size: .85rem; margin: .5rem 0 .2rem; max-width: 34rem; }
.mm-track { display: block; height: .5rem; border-radius: 99px; overflow: hidden;
  background: color-mix(in srgb, currentColor 12%, transparent); }
.mm-fill { display: block; height: 100%; border-radius: 99px; background: #12898f; }
.mm-fill.mm-factor { background: #8b989c; }
.mm-number { font-variant-numeric: tabular-nums; }
.mm-steps { list-style: none; margin: .2rem 0; padding: 0 0 0 .4rem !important; }
.mm-steps li { position: relative; margin: 0; padding: 0 0 .8rem 1.2rem;
  border-left: 2px solid color-mix(in srgb, currentColor 18%, transparent); }
.mm-steps li::before { content: ""; position: absolute; left: -.4rem; top: .35rem; width: .65rem; height: .65rem;
  border-radius: 50%; background: #8b989c; }
.mm-steps li.mm-now::before { background: #12898f; }
.mm-steps li:last-child { border-left-color: transparent; padding-bottom: .2rem; }
.mm-diff { margin: .5rem 0 .1rem; overflow-wrap: anywhere; } .mm-diff mark { color: inherit; border-radius: .2rem; }
.mm-line { margin: .1rem 0; padding: .15rem .6rem; white-space: pre-wrap; border-left: 3px solid transparent;
  border-radius: .3rem; }
.mm-line.mm-gone { border-left-color: #c2621b; background: color-mix(in srgb, #c2621b 12%, transparent); }
.mm-line.mm-comes { border-left-color: #12898f; background: color-mix(in srgb, #12898f 12%, transparent); }
.mm-line.mm-stays { border-left-color: color-mix(in srgb, currentColor 25%, transparent); }
.mm-gone mark { background: color-mix(in srgb, #c2621b 34%, transparent); }
.mm-comes mark { background: color-mix(in srgb, #12898f 34%, transparent); }
.mm-empty { text-align: center; padding: 1.6rem 1rem; border-radius: .7rem;
  border: 1px dashed color-mix(in srgb, currentColor 28%, transparent); }
.mm-empty h3 { margin: 0 0 .3rem; padding: 0; font-size: 1.1rem; } .mm-empty p { margin: 0; opacity: .85; }
.mm-empty code, .mm-empty b { font-weight: 600; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p { color: inherit; opacity: .92; }
[data-testid^="stBaseButton-primary"] p { color: light-dark(#ffffff, #0d2224); }
[data-testid="stMainBlockContainer"] { max-width: 78rem; padding-top: 3.4rem; padding-bottom: 4rem; }
[data-testid="stMetric"] { height: 100%; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding-left: 1rem; padding-right: 1rem; }
}
</style>"""
