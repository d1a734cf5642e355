'use strict';

// What the run holds; the format is described in the README of reports/explorer.
let run = { traces: [] };
let packed = null;  // the bytes of all arrays
const never = 0xffffffff;

async function inflated(text) {
  if (!('DecompressionStream' in window)) {
    throw new Error('This browser cannot inflate the data of the page; please open it in ' +
      'Chromium 80, Firefox 113, Safari 16.4 or a later one.');
  }
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

async function readData() {
  const element = document.getElementById('data');
  const buffer = await inflated(element.textContent).catch((error) => {
    throw error.message.startsWith('This browser') ? error
      : new Error('The data of this page are damaged; please write it again with kvcheck explore.');
  });
  element.remove();
  const length = new DataView(buffer).getUint32(0, true);
  run = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  packed = buffer.slice(4 + length);
}

// For each position, the number of tokens seen when it was evicted; `never` if it never was. A
// position whose number is above n is visible to the query of token n - 1.
function evictedAt(trace, unit) {
  if (unit.numbers) return unit.numbers;
  const Lifetimes = trace.bytes === 2 ? Uint16Array : Uint32Array;
  unit.numbers = Uint32Array.from(new Lifetimes(packed, unit.lifetimes, trace.tokens),
    (lifetime, position) => (lifetime === 0 ? never : position + lifetime));
  return unit.numbers;
}

// For n = 1 to tokens: how many positions the query of token n - 1 sees, its own among them.
function visibleCounts(unit, evicted) {
  if (unit.counts) return unit.counts;
  const change = new Int32Array(evicted.length + 2);
  evicted.forEach((at) => { if (at < evicted.length) change[at + 1] -= 1; });
  unit.counts = new Int32Array(evicted.length + 1);
  for (let n = 1; n <= evicted.length; n += 1) {
    unit.counts[n] = unit.counts[n - 1] + 1 + change[n];
  }
  return unit.counts;
}

// What a position is after `seen` tokens, when the cache was trimmed.
function stateOf(evicted, position, seen) {
  if (position >= seen) return 'future';
  if (evicted[position] === seen) return 'now';
  if (evicted[position] < seen) return 'evicted';
  return position === seen - 1 ? 'newest' : 'resident';
}

// The positions that are resident after `seen` tokens, or with `seen` - 1 those that the query of
// the last token sees.
function alive(evicted, tokens, least) {
  const positions = [];
  for (let p = 0; p < tokens; p += 1) if (evicted[p] > least) positions.push(p);
  return positions;
}

function evictedNow(evicted, seen) {
  const positions = [];
  for (let p = 0; p < seen; p += 1) if (evicted[p] === seen) positions.push(p);
  return positions;
}

// The nearest number of tokens after (or, with -1, before) `seen` at which something was evicted.
function nextEviction(evicted, seen, direction) {
  let best = 0;
  evicted.forEach((at) => {
    if (at > evicted.length || (at - seen) * direction <= 0) return;
    if (best === 0 || (best - at) * direction > 0) best = at;
  });
  return best;
}

// The first number of tokens after which two caches hold different residents; 0 if there is none.
function firstParting(one, other) {
  let first = never;
  for (let p = 0; p < one.length; p += 1) {
    if (one[p] !== other[p]) first = Math.min(first, one[p], other[p]);
  }
  return first > one.length ? 0 : first;
}

// The attention of the query of token seen - 1 to what it sees, by rank: each at 2 % or better.
// Null if the page does not have it.
function attentionOf(trace, unit, seen) {
  if (!unit.steps || unit.steps.mass < 0) return null;
  const counts = visibleCounts(unit, evictedAt(trace, unit));
  if (!unit.starts) {
    unit.starts = new Float64Array(counts.length);
    for (let n = 1; n < counts.length; n += 1) unit.starts[n] = unit.starts[n - 1] + counts[n - 1];
  }
  const codes = new Uint8Array(packed, unit.steps.mass + unit.starts[seen], counts[seen]);
  return Float64Array.from(codes, (code) => (code === 255 ? 0 : 2 ** (-code / 16)));
}

function retainedOf(trace, unit, seen) {
  return unit.steps ? new Float32Array(packed, unit.steps.retained, trace.tokens)[seen - 1] : null;
}

// The slot of each position, in which it is stored from its arrival to its eviction.
function slotsOf(trace, unit) {
  return unit.steps ? new Uint32Array(packed, unit.steps.slots, trace.tokens) : null;
}

// The decisions of the policy when `seen` tokens were seen.
function decisionsAt(unit, seen) {
  return unit.steps ? unit.steps.decisions.filter((one) => one.seen === seen) : [];
}

// Whether a cache evicts other tokens than the oldest after its sinks.
function selects(evicted, sinks) {
  for (let p = sinks + 1; p < evicted.length; p += 1) if (evicted[p] < evicted[p - 1]) return true;
  return false;
}

// How much a reader sees in a cache: nothing evicted, the oldest, others, or those with their scores.
function interest(trace, { cell, unit }) {
  const scored = (one) => one.victims.some(([, score]) => score !== null);
  if (unit.steps?.decisions.some(scored)) return 3;
  const evicted = evictedAt(trace, unit);
  if (selects(evicted, cell.sinks)) return 2;
  return evicted.some((at) => at <= evicted.length) ? 1 : 0;
}

// The first cache of those of most interest. Of each cell only the units that the page knows best are
// looked at, or its first if it knows none better, because a page may hold thousands.
function mostTelling(trace, caches) {
  const looked = caches.filter(({ cell, unit }) =>
    (cell.units.some((one) => one.steps) ? unit.steps : unit === cell.units[0]));
  const interests = looked.map((one) => interest(trace, one));
  return looked[interests.indexOf(Math.max(...interests))];
}

// The number of tokens seen at which a reader begins: an eviction in the middle of the stream, the last
// one if all are earlier, the end if there is none.
function tellingStep(evicted) {
  return nextEviction(evicted, Math.floor(evicted.length / 2) - 1, 1) ||
    nextEviction(evicted, evicted.length + 1, -1) || evicted.length;
}
