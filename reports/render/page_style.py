"""The style sheet of the html page: type, space, and the colours that pictures name."""

PAGE_STYLE = """\
:root {
  --ink: #1b2430; --muted: #5b6775; --grid: #dde2e8; --paper: #ffffff; --wash: #f5f7f9;
  --accent: #0072b2; --alarm: #9a3412; --alarm-wash: #fff4ec;
  --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73; --series-4: #cc79a7;
  --series-5: #b8860b; --series-6: #5aa9dc; --series-7: #7a5195; --series-8: #6b6b6b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6eaf0; --muted: #a3adba; --grid: #343d49; --paper: #12171e; --wash: #1a2129;
    --accent: #5aa9e6; --alarm: #fdba74; --alarm-wash: #2b1d13;
    --series-1: #3f9bdc; --series-2: #f07f2e; --series-3: #2fc79a; --series-4: #e39cc4;
    --series-5: #d9a93a; --series-6: #8cc8ee; --series-7: #b08bd0; --series-8: #9a9a9a;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 860px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.02em; margin: 0 0 20px; }
h2 {
  font-size: 1.2rem; letter-spacing: -0.01em; margin: 48px 0 12px; padding-top: 16px;
  border-top: 1px solid var(--grid);
}
p { margin: 0 0 14px; }
p.lead { font-size: 1.08rem; font-weight: 550; }
p.note { color: var(--muted); font-size: 0.86rem; }
p.to_do { border-left: 3px solid var(--accent); padding: 2px 0 2px 12px; }
p.banner {
  background: var(--alarm-wash); color: var(--alarm); border: 1px solid currentColor; border-radius: 8px;
  padding: 12px 16px; font-weight: 600;
}
code {
  font: 0.88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--wash);
  padding: 2px 5px; border-radius: 4px; overflow-wrap: anywhere;
}
figure { margin: 20px 0 28px; }
figcaption { color: var(--muted); font-size: 0.86rem; margin: 8px 0; }
figure.table p.note { margin-top: 10px; }
figcaption b { color: var(--ink); }
.scroll { overflow-x: auto; -webkit-overflow-scrolling: touch; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { display: block; width: 100%; min-width: 680px; height: auto; }
svg * { stroke-linejoin: round; }
table { border-collapse: collapse; width: 100%; font-size: 0.88rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 8px; text-align: right; white-space: nowrap; }
thead th { color: var(--muted); font-weight: 500; border-bottom: 1px solid var(--grid); }
th:first-child { text-align: left; padding-left: 0; font-weight: 400; }
tbody tr:not(.group):hover { background: var(--wash); }
tr.group th { font-weight: 650; padding-top: 12px; }
tr.group span { position: sticky; left: 0; }
@media (max-width: 600px) {
  main { padding: 20px 14px 48px; }
  h1 { font-size: 1.4rem; }
  tbody th:first-child:not([colspan]) { position: sticky; left: 0; background: var(--paper); }
}
@media print {
  main { max-width: none; }
  figure { break-inside: avoid; }
}
"""
