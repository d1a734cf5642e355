
const mostRows = 400;

// Positions as runs: "0–3, 10, 36–99".
function runsOf(positions, most) {
  const runs = [];
  positions.forEach((p) => {
    const last = runs.at(-1);
    if (last && last[1] === p - 1) last[1] = p; else runs.push([p, p]);
  });
  const named = runs.slice(0, most).map(([a, b]) => (a === b ? String(a) : a + '–' + b));
  const rest = runs.length > most ? ' and ' + countOf(runs.length - most, 'more run') : '';
  return named.join(', ') + rest;
}

// What a token is to its cache when `seen` tokens were seen.
function kindOf(cell, position, seen) {
  if (!cell.bounded) return 'kept';
  if (position < cell.sinks) return 'sink';
  return position >= seen - cell.recent ? 'recent' : 'middle';
}

// The score of a token that was evicted when `seen` tokens were seen; null if there is none.
function scoreOf(unit, seen, position) {
  const scored = decisionsAt(unit, seen).flatMap((one) => one.victims)
    .find(([victim]) => victim === position);
  return scored ? scored[1] : null;
}

function stepSentence(trace, { evicted }, seen) {
  const gone = evictedNow(evicted, seen);
  const kept = alive(evicted, seen, seen).length;
  const now = gone.length === 0 ? 'Nothing is evicted at this step.'
    : 'At this step ' + (gone.length === 1 ? 'one token is' : gone.length + ' tokens are') +
      ' evicted: ' + namedTokens(trace, gone, 8) + '.';
  return 'After ' + countOf(seen, 'token') + ', ' + kept + (kept === 1 ? ' is' : ' are') +
    ' resident and ' + (seen - kept) +
    (seen - kept === 1 ? ' has' : ' have') + ' been evicted. ' + now;
}

// Counts of the difference of two caches, and where they part.
function difference(shown, seen) {
  const { trace, a, b } = shown;
  const counts = { 'in-both': 0, 'only-a': 0, 'only-b': 0, evicted: 0 };
  const lists = { 'only-a': [], 'only-b': [] };
  for (let p = 0; p < seen; p += 1) {
    const name = classOf(a.evicted, b.evicted, p, seen);
    counts[name] += 1;
    lists[name]?.push(p);
  }
  const only = (name) => (counts[name] === 0 ? 'none' : counts[name] + ' (' +
    namedTokens(trace, lists[name], 4) + ')');
  return 'Of the ' + countOf(seen, 'token') + ' seen, both hold ' + counts['in-both'] + '; only A: ' +
    only('only-a') + '; only B: ' + only('only-b') + '; neither holds ' + counts.evicted + '.';
}

function partingSentence(shown, first) {
  if (first === 0) return 'A and B hold the same tokens at every step.';
  const { trace, a, b } = shown;
  const gone = (cache) => evictedNow(cache.evicted, first)
    .filter((p) => a.evicted[p] !== b.evicted[p]);
  const part = (name, positions) => name + ' evicts ' +
    (positions.length === 0 ? 'nothing of its own' : namedTokens(trace, positions, 3));
  return 'They part after ' + countOf(first, 'token') + ': ' + part('A', gone(a)) + ', ' +
    part('B', gone(b)) + '.';
}

function drawEvicted(shown, seen, redraw) {
  const caches = shown.b ? { A: shown.a, B: shown.b } : { A: shown.a };
  const rows = Object.entries(caches).flatMap(([name, { unit, evicted }]) => {
    const slots = slotsOf(shown.trace, unit);
    return evictedNow(evicted, seen).map((p) => ({ name, p, lived: seen - p,
      slot: slots ? slots[p] : null, score: scoreOf(unit, seen, p) }));
  });
  const columns = [{ title: 'Position', of: (row) => row.p },
    { title: 'Token', of: (row) => shownWord(shown.trace, row.p) },
    { title: 'Lived, in tokens', of: (row) => row.lived },
    { title: 'Slot', of: (row) => row.slot, text: orDash },
    { title: 'Score', of: (row) => row.score, text: (score) => shortNumber(score) }];
  if (shown.b) columns.unshift({ title: 'Cache', of: (row) => row.name });
  at('evicted-part').hidden = rows.length === 0;
  drawTable('evicted', columns, rows.slice(0, mostRows), redraw);
}

// The row of the mask: which positions the query sees, and how much it attends to each.
function drawMask({ trace, focus }, seen) {
  const rows = alive(focus.evicted, seen, seen - 1);
  const visible = rows.filter((p) => isInWindow(focus.unit, p, seen));
  const attention = attentionOf(focus, seen);
  const drawn = [svg('rect', { x: 0, y: 0, width: seen, height: 40, class: 'hidden-tokens' })];
  let begin = -1;
  for (let p = 0; p <= seen; p += 1) {
    const inside = p < seen && focus.evicted[p] > seen - 1 && isInWindow(focus.unit, p, seen);
    if (inside && begin < 0) begin = p;
    if (!inside && begin >= 0) {
      drawn.push(svg('rect', { x: begin, y: 0, width: p - begin, height: 40, class: 'seen' }));
      begin = -1;
    }
  }
  if (attention) {
    const bars = rows.map((p, rank) => 'M' + (p + 0.5) + ' 40V' +
      (40 - 40 * Math.sqrt(attention[rank])).toFixed(2)).join('');
    drawn.push(svg('path', { d: bars, class: 'bars', 'stroke-width': 0.8 }));
  }
  const mask = at('mask');
  mask.setAttribute('viewBox', '0 0 ' + seen + ' 40');
  mask.replaceChildren(mask.querySelector('title'), ...drawn);
  const windowed = visible.length === rows.length ? ''
    : ', or precede the window of the newest ' + countOf(focus.unit.steps.window, 'token') +
      ' that this layer of the model has';
  const selects = focus.cell.selects ? ' Each query selects pages of these for itself.' : '';
  at('mask-caption').textContent = 'The query of token ' + (seen - 1) + ' may see ' +
    (visible.length === seen ? 'every token up to itself.'
      : visible.length + ' of ' + countOf(seen, 'token') + '; the others are masked or no longer ' +
        'stored' + windowed + '. It sees positions ' + runsOf(visible, 12) + '.') + selects +
    (attention ? ' The height of a bar is the root of the attention, the mean over the heads of ' +
      'the unit.' : '');
  const retained = retainedOf(trace, focus.unit, seen);
  at('retained').textContent = retained !== null
    ? 'Of the attention that this query pays when nothing is evicted, ' + shortNumber(retained) +
      ' falls on tokens that it still sees (retained mass).'
    : 'Attention, scores and slots of this unit are not in the page; kvcheck explore --trace ' +
      'FILE adds them, for the unit that --unit names or for all.';
}

// The rows that the query sees.
function drawCache(shown, seen, redraw) {
  const { trace, focus } = shown;
  const { cell, unit, evicted } = focus;
  const visible = alive(evicted, seen, seen - 1);
  const attention = attentionOf(focus, seen);
  const slots = slotsOf(trace, unit);
  const rows = visible.map((p, rank) => ({ rank, p, rotary: cell.ranks ? rank : p,
    kind: evicted[p] === seen ? 'evicted now' : kindOf(cell, p, seen),
    slot: slots ? slots[p] : null, mass: attention ? attention[rank] : null,
    className: evicted[p] === seen ? 'now' : '' })).filter(({ p }) => isInWindow(unit, p, seen));
  const columns = [{ title: 'Rank', of: (row) => row.rank },
    { title: 'Position', of: (row) => row.p },
    { title: 'Rotated by', of: (row) => row.rotary },
    { title: 'Token', of: (row) => shownWord(trace, row.p) },
    { title: 'Part', of: (row) => row.kind },
    { title: 'Slot', of: (row) => row.slot, text: orDash },
    { title: 'Attention', of: (row) => row.mass, text: (mass) => shortNumber(mass, 2) }];
  // The newest, which a reader of a long list would look for.
  const few = rows.length > mostRows ? rows.slice(rows.length - mostRows) : rows;
  at('cache-note').textContent = (cell.ranks
    ? 'Positions are ranks in the cache (positions=' + cell.positions + '): keys are rotated by ' +
      'their rank among the visible tokens.'
    : 'Positions are those of the stream (positions=absolute), so gaps remain where tokens were ' +
      'evicted.') + (few.length < rows.length ? ' The last ' + few.length + ' of ' + rows.length +
      ' rows are listed.' : '');
  drawTable('cache', columns, few, redraw);
}
