// Checks of how the page of kvcheck explore reads its data. The first page is of 4,096 tokens, 24
// heads and 8 policies, with the steps of one head for each; the second of two policies, of which
// one ran with three seeds, at one budget; the third is the first with words, in a layer with a window.
import assert from 'node:assert/strict';
import { open, pages, run, textOf } from './browser.mjs';
import { linkTo, pick, ready } from './explorer_page.mjs';

const [large, withSeeds, odds] = pages;

const decodedBy = (page) => page.evaluate(() => ({ ...decoded }));
const optionsOf = (page, id) => page.$eval('#' + id, (list) => [...list.options].map((one) =>
  one.value));

async function opened(browser, url) {
  const page = await open(browser, url);
  await ready(page);
  return page;
}

// A large page is shown when the arrays of one cache are inflated, and others when they are selected.
async function lazy(browser) {
  const page = await opened(browser, large);
  // The index; lifetimes of the heads of one policy; and of one head arrays and decisions.
  const first = await decodedBy(page);
  assert.equal(first.parts, 4);
  assert.ok(first.bytes > 1.2e6 && first.bytes < 3e6, first.bytes + ' bytes');
  assert.equal(await page.$$eval('script[id^=part-]', (all) => all.length), 21);
  assert.match(await textOf(page, '#status'), /^After 2048 tokens, 256 are resident/);
  // Steps need nothing more, and neither does another head of the policy but its numbers.
  await page.click('#forward');
  await pick(page, '#head', '23');
  assert.deepEqual(await decodedBy(page), first);
  assert.match(await textOf(page, '#retained'), /of this unit are not in the page/);
  await pick(page, '#policy', 'tova');
  assert.equal((await decodedBy(page)).parts, 5);
  await pick(page, '#head', '0');
  assert.equal((await decodedBy(page)).parts, 7);
  assert.match(await textOf(page, '#retained'), /retained mass/);
  // What was inflated is kept.
  await pick(page, '#policy', 'h2o');
  assert.equal((await decodedBy(page)).parts, 7);
  // The last of several selections is shown, whichever is read first.
  await page.evaluate(() => {
    const { inflated: read } = window;
    window.inflated = async (id) => {
      window.inflated = read;
      await new Promise((done) => { window.release = done; });
      window.late = true;
      return read(id);
    };
  });
  await page.select('#policy', 'lru');
  await pick(page, '#policy', 'fifo');
  assert.equal(await page.evaluate(() => window.late), undefined);
  await page.evaluate(() => window.release());
  await page.waitForFunction(() => window.late && decoded.parts === 13);
  assert.match(await textOf(page, '#spec'), /^fifo/);
  // An address may name what the browser has not read yet when the script begins.
  const other = await opened(browser, large + linkTo({ policy: 'lru', head: '11' }));
  assert.match(await textOf(other, '#spec'), /^lru/);
  assert.equal((await decodedBy(other)).parts, 2);
  for (const one of [page, other]) assert.deepEqual(one.mistakes, []);
}

async function seeds(browser) {
  const page = await opened(browser, withSeeds + linkTo({ policy: 'random', seen: 200 }));
  assert.deepEqual(await optionsOf(page, 'seed'), ['1', '2', '3']);
  const shows = (id) => page.$eval('#' + id, (list) => list.checkVisibility() && !list.disabled);
  assert.ok(await shows('seed'));
  assert.equal(await shows('otherSeed'), false);
  // The long name of a stream is beside its label, and leaves room for other lists.
  const [label, list, layer] = await page.$$eval('#trace, label:has(#trace), #layer', (all) =>
    all.map((one) => one.getBoundingClientRect().toJSON()));
  assert.ok(label.height < 1.5 * list.height, label.height + ' ' + list.height);
  assert.ok(Math.abs(layer.top - list.top) < 5, layer.top + ' ' + list.top);
  const status = await textOf(page, '#status');
  await pick(page, '#seed', '3');
  assert.notEqual(await textOf(page, '#status'), status);
  assert.match(await textOf(page, '#spec'), /, seed 3\.\n/);
  // Attention and scores are those of the seed.
  assert.match(await textOf(page, '#retained'), /retained mass/);
  await page.waitForFunction(() => location.hash.includes('seed=3'));
  const link = page.url();
  const stated = await textOf(page, '#status');
  // Two seeds of one policy, compared.
  await pick(page, '#other', 'random');
  assert.ok(await shows('otherSeed'));
  assert.match(await textOf(page, '#parting'), /^They part after \d+ tokens/);
  assert.match(await textOf(page, '#spec'), /^A: random.*, seed 3\.\nB: random.*, seed 1\.\n/);
  await pick(page, '#otherSeed', '3');
  assert.equal(await textOf(page, '#parting'), 'A and B hold the same tokens at every step.');
  // A policy that draws nothing has one seed, which is shown and cannot be changed.
  await pick(page, '#policy', 'h2o');
  assert.deepEqual(await page.$eval('#seed', (list) => [list.value, list.disabled]), ['1', true]);
  const again = await opened(browser, link);
  assert.equal(await again.$eval('#seed', (list) => list.value), '3');
  assert.equal(await textOf(again, '#status'), stated);
  // A page of one seed has no list of seeds.
  const one = await opened(browser, large);
  assert.equal(await one.$eval('#seed', (list) => list.checkVisibility()), false);
  for (const each of [page, again, one]) assert.deepEqual(each.mistakes, []);
}

// Words of blanks have signs, long ones are cut, and a query sees no farther than its layer's window.
async function odd(browser) {
  const page = await opened(browser, odds + '#policy=h2o&seen=600');
  assert.match(await textOf(page, '#mask-caption'), new RegExp('^The query of token 599 may see \\d\\d of ' +
    '600 tokens; .* or precede the window of the newest 100 tokens that this layer of the model has\\.'));
  const cells = await page.$$eval('#cache tbody tr', (rows) => rows.map((row) =>
    [Number(row.cells[1].textContent), row.cells[3].textContent]));
  assert.ok(cells.length > 10);
  const words = ['␣', '⏎', '(empty)', '\u202Eabc', 'word', 'x'.repeat(39) + '…'];
  for (const [position, word] of cells) {
    assert.ok(position >= 500, position);
    assert.equal(word, words[position % 6]);
  }
  assert.match(await textOf(page, '#status'), /evicted: “\u2068.*\u2069” at position \d+\.$/);
  assert.deepEqual(page.mistakes, []);
}

await run({ lazy, seeds, odd });
