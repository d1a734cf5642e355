// Checks of the page of kvcheck explore. The first page is of the bundled trace, with steps; the
// second of the same run, without a trace. Its specs are dense, window, h2o, streaming with lazy
// trims and tova with positions in the cache, all but the first with a budget of 64.
import assert from 'node:assert/strict';
import { open, run, textOf, violations } from './browser.mjs';
import { explorer, linkTo, pick, ready, seenIn, settled, withSteps, without }
  from './explorer_page.mjs';

// How many words of the text have each class.
const classes = (page) => page.$$eval('#text span', (words) => words.reduce((counts, word) => {
  counts[word.className] = (counts[word.className] ?? 0) + 1;
  return counts;
}, {}));

// Without a link a page opens where there is something to see, and not on the first spec's first token.
async function opening(browser) {
  for (const url of [withSteps, without]) {
    const page = await open(browser, url);
    await ready(page);
    assert.equal(await page.$eval('#policy', (list) => list.value), 'h2o');
    assert.equal(await seenIn(page), 256);
    assert.match(await textOf(page, '#status'), /^After 256 tokens, 64 are resident and 192 have/);
    assert.equal((await classes(page)).now, 1);
    assert.ok(await page.$eval('#walk-part', (part) => part.checkVisibility()));
    assert.deepEqual(page.mistakes, []);
  }
  // A link may name the cache alone: dense evicts nothing, and the trims of the other are 33 apart.
  for (const [policy, seen] of [['dense', 512], ['streaming lazy:32', 262]]) {
    const page = await explorer(browser, { policy });
    assert.equal(await seenIn(page), seen, policy);
  }
}

async function steps(browser) {
  const page = await explorer(browser, { policy: 'window', seen: 200 });
  // A window of 64 that is trimmed after the query keeps the last 64 and has evicted the first.
  assert.match(await textOf(page, '#status'),
    /^After 200 tokens, 64 are resident and 136 have been evicted\..* position 135\.$/);
  assert.match(await textOf(page, '#mask-caption'), /sees positions 135–199\./);
  assert.deepEqual(await classes(page), { evicted: 135, now: 1, resident: 63, newest: 1,
    future: 312 });
  const expectAt = async (seen) => assert.equal(await seenIn(page), seen);
  const moves = [['#forward', 201], ['#back', 200], ['#after', 201], ['#before', 200]];
  for (const [button, seen] of moves) { await page.click(button); await expectAt(seen); }
  const press = async (key, seen) => { await page.keyboard.press(key); await expectAt(seen); };
  await press('ArrowRight', 201);
  await page.keyboard.down('Shift');
  await press('ArrowLeft', 191);
  await page.keyboard.up('Shift');
  await press('Home', 1);
  await press('n', 65);
  assert.match(await textOf(page, '#status'), /^After 65 tokens, 64 are resident and 1 has been ev/);
  await press('p', 65);
  await press('End', 512);
  await page.focus('#time');
  await press('ArrowLeft', 511);
  await page.keyboard.down('Shift');
  await press('ArrowLeft', 501);
  await page.keyboard.up('Shift');
  await press('Home', 1);
  assert.match(await textOf(page, '#status'), /^After 1 token, 1 is resident and 0 have/);
  // The slider uses no letters.
  await press('n', 65);
  await press('Home', 1);
  assert.equal(await page.$eval('#time', (slider) => slider.ariaValueText ??
    slider.getAttribute('aria-valuetext')), '1 of 512 tokens');
  // Screen readers hear of the last step of many only.
  await page.evaluate(() => {
    window.heard = [];
    new MutationObserver(() => window.heard.push(document.getElementById('announce').textContent))
      .observe(document.getElementById('announce'), { childList: true, characterData: true });
  });
  for (let i = 0; i < 30; i += 1) await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.deepEqual(await page.evaluate(() => window.heard), [await textOf(page, '#status')]);
  const live = await page.$$eval('[aria-live], [role=status], output', (all) => all.map((one) =>
    one.id));
  assert.deepEqual(live, ['lacking-status', 'seen', 'announce']);
  assert.deepEqual(page.mistakes, []);
}

async function comparison(browser) {
  const page = await explorer(browser, { policy: 'h2o', other: 'window', seen: 200 });
  const counts = await classes(page);
  const stated = (await textOf(page, '#counts')).match(
    /^Of the 200 tokens seen, both hold (\d+); only A: (\d+) \(.*; only B: (\d+) \(.* holds (\d+)\.$/);
  assert.deepEqual(stated.slice(1).map(Number),
    [counts['in-both'], counts['only-a'], counts['only-b'], counts.evicted]);
  assert.equal(counts['in-both'] + counts['only-a'], 64);
  assert.equal(counts['only-a'] + counts['only-b'] + counts['in-both'] + counts.evicted, 200);
  const gone = await page.$$eval('#evicted tbody td:first-child', (cells) => cells.map((cell) =>
    cell.textContent));
  assert.deepEqual(gone, ['A', 'B']);
  // The first step at which they differ, and the one before.
  await page.click('#to-parting');
  const first = await seenIn(page);
  assert.match(await textOf(page, '#parting'), new RegExp('^They part after ' + first + ' tokens'));
  assert.ok((await classes(page))['only-a'] > 0);
  await page.click('#back');
  assert.equal((await classes(page))['only-a'], undefined);
  // Words are shaded by the attention of the cache whose details are shown, which sees others.
  await page.keyboard.press('End');
  await pick(page, '#shade', 'attention');
  const paid = () => page.$$eval('#text span', (words) => words.flatMap((word, position) =>
    (word.className === 'paid' ? [position] : [])));
  const ofA = await paid();
  assert.equal(await textOf(page, '#text-title'), 'Text, in A');
  await pick(page, '#of', 'b');
  assert.equal(await textOf(page, '#text-title'), 'Text, in B');
  const seen = await seenIn(page);
  const newest = [...Array(seen).keys()].slice(-65);
  assert.deepEqual(await paid(), newest);
  assert.notDeepEqual(ofA, newest);
  const [shades, shares] = await page.evaluate(() => [
    [...document.querySelectorAll('#text .paid')].map((word) => word.dataset.shade),
    [...attentionOf(shown.b, state.seen)].map((share) => Math.sqrt(share).toFixed(3))]);
  assert.deepEqual(shades, shares);
  await pick(page, '#shade', 'residency');
  assert.equal(await page.$eval('#otherBudget', (list) => list.closest('label').hidden), false);
  await pick(page, '#other', '');
  assert.equal(await page.$eval('#difference', (part) => part.hidden), true);
  await pick(page, '#other', 'h2o');
  assert.equal(await textOf(page, '#parting'), 'A and B hold the same tokens at every step.');
  // Only B evicts at first: A trims when 96 tokens are stored.
  await pick(page, '#policy', 'streaming lazy:32');
  assert.match(await textOf(page, '#parting'),
    /^They part after 65 tokens: A evicts nothing of its own, B evicts .* position \d+\.$/);
  assert.deepEqual(page.mistakes, []);
}

async function walk(browser) {
  const boxes = (page, name) => page.$$eval('#boxes ' + name, (all) => all.map((one) =>
    one.textContent));
  const page = await explorer(browser, { policy: 'h2o', layer: 5, head: 0, seen: 200, stage: 0 });
  assert.equal((await boxes(page, 'li')).length, 65);
  assert.equal((await boxes(page, '.now')).length, 0);
  await page.click('#stage-forward');
  const [victim, ...others] = await boxes(page, '.now');
  assert.equal(others.length, 0);
  assert.match(await textOf(page, '#walk-text'), new RegExp('Of 33 candidates, h2o keeps 32 and ' +
    'selects .* position ' + victim + ' \\(score [0-9.]+\\)\\. The lowest scores that remain: '));
  assert.equal((await boxes(page, '.guarded')).length, 32);
  await page.click('#stage-forward');
  assert.match(await textOf(page, '#walk-text'), /^Its row \(slot \d+\) is given .* 64 of 65 rows/);
  assert.equal((await boxes(page, '.freed')).length, 1);
  await page.click('#stage-forward');
  assert.match(await textOf(page, '#walk-text'), /keep the positions of the stream.* position 200/);
  assert.ok(!(await boxes(page, 'li')).includes(victim));
  await page.click('#stage-back');
  assert.ok(await page.$('#stage-freed[aria-current=step]'));

  const ranks = await explorer(browser, { policy: 'tova in-cache', seen: 200, stage: 3 });
  assert.deepEqual(await boxes(ranks, 'li'), [...Array(64).keys()].map(String));
  assert.match(await textOf(ranks, '#walk-text'), /the next query is at rank 64, not 200\.$/);
  assert.match(await textOf(ranks, '#cache-note'), /^Positions are ranks in the cache/);

  const lazy = await explorer(browser, { policy: 'streaming lazy:32', seen: 96, stage: 1 });
  assert.equal(await lazy.$eval('#walk-part', (part) => part.hidden), true);
  await lazy.click('#walk-next');
  assert.equal(await seenIn(lazy), 97);
  assert.equal((await boxes(lazy, '.now')).length, 33);
  assert.match(await textOf(lazy, '#walk-text'), /There is nothing to decide: the oldest/);

  const bare = await open(browser, without + linkTo({ policy: 'h2o', seen: 200, stage: 1 }));
  await ready(bare);
  assert.match(await textOf(bare, '#walk-text'), /kvcheck explore --trace FILE adds it\.$/);
  assert.match(await textOf(bare, '#spec'), /The words of this trace are not in the page/);
  assert.equal(await bare.$eval('#shade [value=attention]', (one) => one.disabled), true);
  for (const one of [page, ranks, lazy, bare]) assert.deepEqual(one.mistakes, []);
}

async function tables(browser) {
  const page = await explorer(browser, { policy: 'h2o', layer: 5, head: 0, seen: 200 });
  const column = (number) => page.$$eval('#cache tbody tr td:nth-child(' + number + ')',
    (cells) => cells.map((cell) => cell.textContent));
  const sorted = () => page.$$eval('#cache th', (all) => all.map((one) => one.ariaSort ?? ''));
  assert.deepEqual((await sorted()).slice(0, 2), ['ascending', '']);
  const positions = (await column(2)).map(Number);
  assert.equal(positions.length, 65);
  // By keyboard: from the first header to the second, then twice Enter.
  await page.focus('#cache th button');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.deepEqual((await sorted()).slice(0, 2), ['', 'ascending']);
  await page.keyboard.press('Enter');
  assert.deepEqual((await sorted()).slice(0, 2), ['', 'descending']);
  assert.deepEqual((await column(2)).map(Number), positions.reverse());
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Position');
  // The order remains for other steps, and shares of attention sum to one.
  await page.click('#forward');
  assert.deepEqual((await sorted()).slice(0, 2), ['', 'descending']);
  // Rows of the first queries differ in length, so that a row which begins elsewhere has another sum.
  const sums = await page.evaluate(() => [1, 2, 3, 10, 64, 201, 512].map((seen) =>
    attentionOf(shown.a, seen).reduce((a, b) => a + b)));
  sums.forEach((sum) => assert.ok(Math.abs(sum - 1) < 0.03, sums.join(' ')));
  assert.deepEqual(await page.evaluate(() => [0.00094, 0, 0.0012, -0.0001].map((value) =>
    shortNumber(value, 2))), ['< 0.001', '0', '0.0012', '> −0.001']);
  const slots = await column(6);
  assert.equal(new Set(slots).size, slots.length);
  assert.deepEqual(page.mistakes, []);
}

// A click on a word goes to the step that evicted it, or at which it came if it never goes.
async function words(browser) {
  const page = await explorer(browser, { policy: 'window', seen: 512 });
  const click = (position) => page.$eval('#text span:nth-child(' + (position + 1) + ')',
    (word) => word.click());
  await click(10);
  assert.equal(await seenIn(page), 75);
  assert.match(await textOf(page, '#status'), /one token is evicted: .* position 10\.$/);
  await page.keyboard.press('End');
  await click(500);
  assert.equal(await seenIn(page), 501);
  await page.evaluate(() => window.getSelection().selectAllChildren(document.getElementById('text')));
  await click(10);
  assert.equal(await seenIn(page), 501);
  // A click and the keys go together, although the text has the focus then and scrolls.
  await page.evaluate(() => window.getSelection().removeAllRanges());
  await page.click('#text span:nth-child(11)');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'text');
  for (const [key, seen] of [['ArrowRight', 76], ['ArrowLeft', 75], ['n', 76], ['p', 75]]) {
    await page.keyboard.press(key);
    assert.equal(await seenIn(page), seen, key);
  }
  // The trim is beside the text where there is room, so that a step shows both.
  for (const [width, beside] of [[1280, true], [768, false]]) {
    await page.setViewport({ width, height: 900 });
    const [text, trim] = await page.$$eval('.beside > section', (all) => all.map((one) =>
      one.getBoundingClientRect().top));
    assert.equal(text === trim, beside, width + ' px');
  }
  assert.deepEqual(page.mistakes, []);
}

async function curve(browser) {
  const page = await explorer(browser, { policy: 'streaming lazy:32', other: 'h2o', seen: 200 });
  const shownRange = async () => (await textOf(page, '#curve-caption'))
    .match(/Shown from (\d+) to (\d+) tokens/).slice(1).map(Number);
  assert.deepEqual(await shownRange(), [1, 512]);
  assert.equal((await page.$$('#curve path')).length, 2);
  const ticks = (name) => page.$$eval('#curve-ticks .' + name, (all) => all.map((one) =>
    Number(one.textContent)));
  assert.deepEqual(await ticks('across'), [100, 200, 300, 400, 500]);
  assert.deepEqual(await ticks('up'), [0, 50]);
  const tall = await page.$$eval('#curve-ticks span', (all) => all.map((one) =>
    one.getBoundingClientRect().height));
  assert.ok(Math.max(...tall) < 20, 'a number is broken into lines');
  await page.click('#zoom-in');
  const [from, to] = await shownRange();
  assert.ok(to - from < 260 && from < 200 && to > 200, from + ' ' + to);
  const inside = await ticks('across');
  assert.ok(inside.length >= 4 && inside[0] >= from && inside.at(-1) <= to, inside.join(' '));
  await page.keyboard.press('-');
  assert.deepEqual(await shownRange(), [1, 512]);
  await page.keyboard.press('+');
  await page.keyboard.press('0');
  assert.deepEqual(await shownRange(), [1, 512]);
  const box = await (await page.$('#curve')).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  assert.match(await textOf(page, '#curve-readout'),
    /^Under the pointer, the query of token 25\d sees \d+ in A and 65 in B\.$/);
  await page.mouse.click(box.x + box.width - 1, box.y + 20);
  assert.equal(await seenIn(page), 512);
  assert.deepEqual(page.mistakes, []);
}

// Both colour schemes at all widths: nothing wider than the window, and no rule of axe is broken.
async function looks(browser) {
  const states = [{ policy: 'h2o', other: 'window', seen: 200, stage: 1 },
    { policy: 'h2o', layer: 5, head: 0, shade: 'attention', seen: 300, stage: 2 }];
  for (const scheme of ['light', 'dark']) {
    for (const width of [400, 768, 1280, 1920]) {
      for (const [number, state] of states.entries()) {
        const page = await explorer(browser, state, { width, scheme });
        const where = scheme + '-' + width + '-' + number;
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, where + ': the page is ' + wide + ' wide');
        if (process.env.KVCHECK_SCREENSHOTS) {
          await page.screenshot({ fullPage: true,
            path: process.env.KVCHECK_SCREENSHOTS + '/' + where + '.png' });
        }
        // Rules differ by scheme and by state; widths between the ends add nothing to them.
        if (width === 400 || width === 1920) assert.deepEqual(await violations(page), [], where);
        assert.deepEqual(page.mistakes, []);
        await page.close();
      }
    }
  }
}

// How long a page takes from the start of its loading until it shows the data; for measurements.
async function opens(browser) {
  for (let i = 0; i < 5; i += 1) {
    const page = await open(browser, withSteps);
    await ready(page);
    // Since the navigation began; the browser reads the rest of the page for longer.
    const [shown, read] = await page.evaluate(() => [
      performance.getEntriesByName('ready')[0].startTime,
      performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd]);
    console.log('opened in ' + Math.round(shown) + ' ms, read in ' + Math.round(read) + ' ms');
    const step = await page.evaluate(() => {
      const from = performance.now();
      for (let seen = 1; seen <= 20; seen += 1) go(seen * 20);
      return (performance.now() - from) / 20;
    });
    console.log('a step takes ' + step.toFixed(1) + ' ms');
    await page.close();
  }
}

await run({ opening, steps, comparison, walk, tables, words, curve, looks, opens });
