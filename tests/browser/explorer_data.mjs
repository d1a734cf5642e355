// Checks of how the page of kvcheck explore reads its data. It is of 4,096 tokens, 24 heads and 8
// policies, with the steps of one head for each.
import assert from 'node:assert/strict';
import { open, pages, run, textOf } from './browser.mjs';
import { idle, pick, ready } from './explorer_page.mjs';

const [large] = pages;

const decodedBy = (page) => page.evaluate(() => ({ ...decoded }));

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
  for (const name of ['lru', 'fifo', 'random']) await page.select('#policy', name);
  await idle(page);
  assert.match(await textOf(page, '#spec'), /^random/);
  assert.deepEqual(page.mistakes, []);
}

await run({ lazy });
