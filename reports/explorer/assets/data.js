'use strict';

// What the run holds; the format is described in the README of reports/explorer. Only the index is
// read when the page opens. A part of the data is inflated when a view needs it, and then kept.
let run = { traces: [] };
const never = 0xffffffff;
const decoded = { parts: 0, bytes: 0 };  // what was inflated, for the tests
const parts = new Map();

const whole = new Promise((done) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', done);
  else done();
});

function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  // Uint8Array.from() takes ten times as long for a string.
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The bytes of an element, whose text is not kept. The page runs its scripts before the browser has
// read the parts that the first view does not need.
async function inflated(id) {
  if (!('DecompressionStream' in window)) {
    throw new Error('This browser cannot inflate the data of the page; please open it in ' +
      'Chromium 80, Firefox 113, Safari 16.4 or a later one.');
  }
  if (!document.getElementById(id)) await whole;
  const element = document.getElementById(id);
  try {
    const stream = new Blob([bytesOf(element.textContent)]).stream()
      .pipeThrough(new DecompressionStream('deflate'));
    const buffer = await new Response(stream).arrayBuffer();
    decoded.parts += 1;
    decoded.bytes += buffer.byteLength;
    element.remove();
    return buffer;
  } catch {
    throw new Error('The data of this page are damaged; please write it again with ' +
      'kvcheck explore.');
  }
}

const jsonOf = (buffer) => JSON.parse(new TextDecoder().decode(buffer));

async function readIndex() {
  run = jsonOf(await inflated('index'));
}

function part(number) {
  if (!parts.has(number)) parts.set(number, inflated('part-' + number));
  return parts.get(number);
}

// Reads what the functions below need of a cache.
async function loadCache({ cell, unit }) {
  const { steps } = unit;
  const numbers = steps ? [cell.part, steps.part, steps.decisions] : [cell.part];
  const [lifetimes, arrays, decisions] = await Promise.all(numbers.map(part));
  cell.packed = lifetimes;
  if (!steps) return;
  steps.packed = arrays;
  unit.decisions ??= jsonOf(decisions);
}

async function loadWords(trace) {
  trace.words ??= trace.text < 0 ? [] : jsonOf(await part(trace.text));
}

// For each position, the number of tokens seen when it was evicted; `never` if it never was. A
// position whose number is above n is visible to the query of token n - 1.
function evictedAt(trace, { cell, unit }) {
  if (unit.numbers) return unit.numbers;
  const Lifetimes = trace.bytes === 2 ? Uint16Array : Uint32Array;
  unit.numbers = Uint32Array.from(new Lifetimes(cell.packed, unit.lifetimes, trace.tokens),
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
function attentionOf({ unit, evicted }, seen) {
  if (!unit.steps || unit.steps.mass < 0) return null;
  const counts = visibleCounts(unit, evicted);
  if (!unit.starts) {
    unit.starts = new Float64Array(counts.length);
    for (let n = 1; n < counts.length; n += 1) unit.starts[n] = unit.starts[n - 1] + counts[n - 1];
  }
  const from = unit.steps.mass + unit.starts[seen];
  return Float64Array.from(new Uint8Array(unit.steps.packed, from, counts[seen]),
    (code) => (code === 255 ? 0 : 2 ** (-code / 16)));
}

// Whether the layer lets the query of a step see a position at all; where its window is not known, it does.
function isInWindow({ steps }, position, seen) {
  return !steps || steps.window === 0 || position >= seen - steps.window;
}

function retainedOf(trace, { steps }, seen) {
  return steps ? new Float32Array(steps.packed, steps.retained, trace.tokens)[seen - 1] : null;
}

// The slot of each position, in which it is stored from its arrival to its eviction.
function slotsOf(trace, { steps }) {
  return steps ? new Uint32Array(steps.packed, steps.slots, trace.tokens) : null;
}

// The decisions of the policy when `seen` tokens were seen.
function decisionsAt(unit, seen) {
  return unit.steps ? unit.decisions.filter((one) => one.seen === seen) : [];
}

// The number of tokens seen at which a reader begins: an eviction in the middle of the stream, the
// last one if all are earlier, the end if there is none.
function tellingStep(evicted) {
  return nextEviction(evicted, Math.floor(evicted.length / 2) - 1, 1) ||
    nextEviction(evicted, evicted.length + 1, -1) || evicted.length;
}
