
// By what each table is sorted; kept while the stream is stepped through.
const order = {};

// Rows as a table whose columns sort by their headers: {title, of, text} gives the value that a
// column sorts by, and the text of a value if that is another.
function drawTable(id, columns, rows, redraw) {
  const table = at(id);
  const focused = document.activeElement?.dataset.column;
  order[id] ??= { column: 0, direction: 1 };
  if (order[id].column >= columns.length) order[id] = { column: 0, direction: 1 };
  const { column, direction } = order[id];
  const { of } = columns[column];
  const sorted = [...rows].sort((x, y) => {
    const [a, b] = [of(x), of(y)];
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * direction;
  });
  const header = element('tr');
  columns.forEach((one, index) => {
    const cell = element('th');
    cell.scope = 'col';
    const button = element('button', one.title);
    button.type = 'button';
    button.dataset.column = id + ' ' + index;
    button.addEventListener('click', () => {
      const same = order[id].column === index;
      order[id] = { column: index, direction: same ? -order[id].direction : 1 };
      redraw();
    });
    if (index === column) cell.ariaSort = direction > 0 ? 'ascending' : 'descending';
    cell.append(button);
    header.append(cell);
  });
  const head = element('thead');
  head.append(header);
  const body = element('tbody');
  sorted.forEach((row) => {
    const line = element('tr', undefined, row.className);
    columns.forEach((one) => line.append(element('td', (one.text ?? String)(one.of(row)))));
    body.append(line);
  });
  table.replaceChildren(table.caption, head, body);
  // The header that was pressed is a new element now.
  table.querySelector('[data-column="' + focused + '"]')?.focus();
}

const orDash = (value) => (value === null ? '–' : String(value));
