// Sorts tables by their columns and filters the long ones, shows in the navigation which section is
// being read, and dims the other curves while the pointer is on one.
const number = /-?[0-9]+(\.[0-9]+)?/;

// What a cell is sorted by: its exact value; otherwise the number that it shows, as of a limit
// ("\u2265 0.99"); otherwise its text. An empty cell comes last in both directions.
function key(cell) {
  const exact = cell.dataset.value;
  if (exact === undefined) return cell.textContent;
  if (exact !== "") return Number(exact);
  const shown = cell.textContent.match(number);
  return shown ? Number(shown[0]) : undefined;
}

function sort(table, column, sign) {
  const rows = [...table.tBodies[0].rows];
  const order = (a, b) => {
    const x = key(a.cells[column]), y = key(b.cells[column]);
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return sign * (x < y ? -1 : x > y ? 1 : 0);
  };
  table.tBodies[0].append(...rows.sort(order));
}

for (const table of document.querySelectorAll("table")) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.title = "sort by this column";
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers are sorted with the largest first, because most of them are shares that were kept.
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const next = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach(one => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", next);
      sort(table, column, next === "ascending" ? 1 : -1);
    });
  });
}

// Whether each word is a number of the row or a part of one of its texts.
function matches(row, words) {
  const cells = [...row.cells].map(cell => [cell.textContent.trim().toLowerCase(),
                                            cell.classList.contains("n")]);
  return words.every(word => cells.some(([text, isNumber]) =>
    isNumber ? text === word : text.includes(word)));
}

function filter(table, asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) row.hidden = !matches(row, words);
  const left = rows.filter(row => !row.hidden).length;
  return left === rows.length ? "" : left + " of " + rows.length + " rows";
}

const manyRows = 15;
for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length <= manyRows) continue;
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  label.className = "filter";
  input.type = "search";
  input.placeholder = "such as h2o 64";
  input.addEventListener("input", () => { count.value = filter(table, input.value); });
  label.append("Only rows with ", input, " ", count);
  (table.closest(".wide") ?? table).before(label);
}

// A curve, or an area, is a group that has a title, in each panel of its figure.
for (const figure of document.querySelectorAll("figure svg")) {
  const curves = [...figure.querySelectorAll("g > title")];
  const highlight = name => curves.forEach(title => title.parentNode.classList.toggle(
    "dimmed", name !== undefined && title.textContent !== name));
  figure.addEventListener("pointerover", event => {
    const curve = curves.find(title => title.parentNode.contains(event.target));
    highlight(curve?.textContent);
  });
  figure.addEventListener("pointerleave", () => highlight());
}

// The navigation marks the last heading above the upper fifth of the window, which is what is read.
const links = [...document.querySelectorAll("nav.side a")];
const targets = links.map(link => document.getElementById(link.hash.slice(1)));
function markSection() {
  const line = innerHeight / 5;
  const here = targets.findLastIndex(target => target && target.getBoundingClientRect().top <= line);
  links.forEach((link, i) => link.classList.toggle("here", i === Math.max(here, 0)));
}
addEventListener("scroll", markSection, {passive: true});
addEventListener("resize", markSection);
markSection();
