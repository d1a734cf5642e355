#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {

const char* const report_style = R"css(
:root { --ink: #1b1b1b; --quiet: #5b5b5b; --line: #d9d9d9; --ground: #ffffff; --shade: #f5f5f3;
  --link: #00508c; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --quiet: #a9a9a6; --line: #3d3d3d;
  --ground: #191919; --shade: #242424; --link: #7cc0f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 72rem; color: var(--ink);
  background: var(--ground);
  font: 16px/1.5 system-ui, "Helvetica Neue", Helvetica, Arial, sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 3rem 0 .75rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
a { color: var(--link); }
code { font: .9em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
p, dl, figcaption { max-width: 60rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .75rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
.note { padding: .6rem .9rem; background: var(--shade); border-left: 4px solid #d55e00; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { padding: .28rem .6rem; text-align: left; border-bottom: 1px solid var(--line);
  white-space: nowrap; overflow-wrap: normal; }
th { border-bottom: 2px solid var(--quiet); font-weight: 600; cursor: pointer; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--ground); }
tbody tr:hover td { background: var(--shade); }
figure { margin: 1rem 0 0; }
figure .wide { background: #ffffff; border-radius: 4px; }
figure svg image { image-rendering: pixelated; }
figure svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { margin-top: .5rem; font-size: .875rem; color: var(--quiet); }
.files { font-size: .875rem; margin: .3rem 0 0; }
@media (max-width: 44rem) {
  body { padding: 1rem .75rem 3rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; }
  figure svg { max-width: none; width: 46rem; }
  th:first-child, td:first-child { max-width: 11rem; overflow: hidden; text-overflow: ellipsis; }
}
@media print {
  :root { --ink: #000000; --quiet: #333333; --ground: #ffffff; --shade: #ffffff; --link: #000000; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: .15rem .3rem; }
  .files { display: none; }
  figure, tr { break-inside: avoid; }
  h2 { break-before: page; }
  h2, h3 { break-after: avoid; }
}
)css";

const char* const report_script = R"js(
for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("th").forEach((head, column) => {
    let up = false;
    head.title = "sort by this column";
    head.addEventListener("click", () => {
      up = !up;
      const key = row => {
        const cell = row.cells[column];
        if (cell.dataset.value === undefined) return cell.textContent;
        return cell.dataset.value === "" ? -Infinity : Number(cell.dataset.value);
      };
      const order = (a, b) => {
        const x = key(a), y = key(b);
        const sign = x < y ? -1 : x > y ? 1 : 0;
        return up ? sign : -sign;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(order));
    });
  });
}
)js";

}  // namespace kv::reports
