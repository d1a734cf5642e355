// Sorts tables by their columns, and shows in the navigation which section is being read.
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

const links = new Map([...document.querySelectorAll("nav.side a")].map(
    link => [document.getElementById(link.hash.slice(1)), link]));
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links.values()) link.classList.remove("here");
    links.get(entry.target).classList.add("here");
  }
}, {rootMargin: "0px 0px -80% 0px"});
for (const target of links.keys()) if (target) seen.observe(target);
