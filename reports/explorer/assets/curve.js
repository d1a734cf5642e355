
// The part of the stream that the curve shows, in tokens seen.
const zoom = { from: 1, to: 1, hover: 0 };

function zoomTo(from, to, tokens) {
  const width = Math.min(tokens - 1, Math.max(8, Math.round(to - from)));
  zoom.from = Math.round(Math.min(Math.max(1, from), tokens - width));
  zoom.to = zoom.from + width;
}

// By a factor, around the present if it is shown.
function zoomBy(factor, seen, tokens) {
  const inside = seen >= zoom.from && seen <= zoom.to;
  const middle = inside ? seen : (zoom.from + zoom.to) / 2;
  zoomTo(middle - (middle - zoom.from) * factor, middle + (zoom.to - middle) * factor, tokens);
}

function svg(name, attributes) {
  const made = document.createElementNS(svgSpace, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

const height = 140;
const xOf = (n) => ((n - zoom.from) * 1000) / Math.max(1, zoom.to - zoom.from);
const yOf = (count, most) => height - 2 - (count * (height - 12)) / most;

// One step per token. With more tokens than points on the screen the extremes of each point are
// drawn, so that the teeth remain.
function pathOf(counts, most) {
  const stride = Math.max(1, Math.floor((zoom.to - zoom.from) / 2000));
  let path = '';
  for (let n = zoom.from; n <= zoom.to; n += stride) {
    const some = counts.subarray(n, Math.min(n + stride, zoom.to + 1));
    const ends = stride === 1 ? [some[0]] : [Math.max(...some), Math.min(...some)];
    ends.forEach((count) => {
      path += (path ? 'L' : 'M') + xOf(n).toFixed(2) + ' ' + yOf(count, most).toFixed(2);
    });
  }
  return path;
}

// Round numbers from `least` to `most`, at most so many.
function ticksOf(least, most, count) {
  const rough = Math.max(1, (most - least) / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const ticks = [];
  for (let n = Math.ceil(least / step) * step; n <= most; n += step) ticks.push(n);
  return ticks;
}

// Lines of a grid; their numbers are put beside the drawing, which is stretched.
function drawTicks(most) {
  const marks = [];
  const mark = (n, name, place, share) => {
    const label = element('span', String(n), name);
    label.style[place] = share.toFixed(2) + '%';
    marks.push(label);
  };
  // Fewer where the numbers would touch.
  const room = Math.min(8, Math.floor(at('curve').clientWidth / 70));
  const across = ticksOf(zoom.from, zoom.to, room);
  const up = ticksOf(0, most, 4);
  across.forEach((n) => mark(n, 'across', 'left', xOf(n) / 10));
  up.forEach((n) => mark(n, 'up', 'top', (yOf(n, most) * 100) / height));
  at('curve-ticks').replaceChildren(...marks);
  return [...across.map((n) => svg('line', { x1: xOf(n), x2: xOf(n), y1: 0, y2: height,
    class: 'grid' })), ...up.map((n) => svg('line', { x1: 0, x2: 1000, y1: yOf(n, most),
    y2: yOf(n, most), class: 'grid' }))];
}

function readout(shown, n) {
  const counts = (cache) => visibleCounts(cache.unit, cache.evicted)[n];
  const b = shown.b ? ' in A and ' + counts(shown.b) + ' in B' : '';
  return 'the query of token ' + (n - 1) + ' sees ' + counts(shown.a) + b;
}

// The residents that each query sees, and lines at the present and under the pointer.
function drawCurve(shown, seen) {
  const curve = at('curve');
  const caches = [shown.a, shown.b].filter(Boolean);
  const counts = caches.map((cache) => visibleCounts(cache.unit, cache.evicted));
  const most = counts.reduce((a, all) => all.reduce((x, y) => Math.max(x, y), a), 1);
  const drawn = drawTicks(most).concat(counts.map((all, index) => svg('path', {
    d: pathOf(all, most), class: index === 0 ? 'a' : 'b' })));
  [[seen, 'present'], [zoom.hover, 'hover']].forEach(([n, name]) => {
    if (n < zoom.from || n > zoom.to) return;
    drawn.push(svg('line', { x1: xOf(n), x2: xOf(n), y1: 0, y2: height, class: name }));
  });
  curve.replaceChildren(curve.querySelector('title'), ...drawn);
  at('curve-caption').textContent = 'Tokens that each query sees, its own included: at most ' +
    most + (shown.b ? '. A is the solid line, B the dashed one' : '') + '. Shown from ' +
    zoom.from + ' to ' + zoom.to + ' tokens.';
  at('curve-readout').textContent = zoom.hover > 0
    ? 'Under the pointer, ' + readout(shown, zoom.hover) + '.'
    : 'At this step, ' + readout(shown, seen) + '.';
}

// The number of tokens under the pointer.
function tokensUnder(event) {
  const box = at('curve').getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  return Math.round(zoom.from + share * (zoom.to - zoom.from));
}
