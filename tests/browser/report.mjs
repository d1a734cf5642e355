// Checks of the page of kvcheck report: of a replay of nine policies at two budgets, an evaluation and a
// timing of one model, with their comparison.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { open, pages, run, textOf, violations } from './browser.mjs';

const [report] = pages;

// The table below a heading, and the texts of one of its columns.
const tableAfter = (page, heading) => page.evaluateHandle((text) => {
  const title = [...document.querySelectorAll('h2, h3')].find((one) => one.textContent === text);
  let next = title;
  while (next && !next.querySelector('table')) next = next.nextElementSibling;
  return next.querySelector('table');
}, heading);
const column = (table, number) => table.evaluate((one, at) => [...one.tBodies[0].rows].map((row) =>
  row.cells[at].textContent), number);
const sorted = (table) => table.$$eval('thead th', (heads) => heads.map((head) =>
  head.getAttribute('aria-sort') ?? ''));

async function tables(browser) {
  const page = await open(browser, report);
  const table = await tableAfter(page, 'Summary, by budget and retained mass');
  const names = await table.$$eval('thead th', (heads) => heads.map((head) => head.textContent));
  assert.deepEqual(names.slice(0, 3), ['policy', 'budget', 'retained once evicting']);
  assert.deepEqual((await sorted(table)).filter(Boolean), []);
  const masses = (await column(table, 2)).map(Number);
  // By mouse: numbers begin with the largest, texts with the first.
  const buttons = await table.$$('thead th button');
  await buttons[2].click();
  assert.equal((await sorted(table))[2], 'descending');
  assert.deepEqual((await column(table, 2)).map(Number), [...masses].sort((a, b) => b - a));
  await buttons[0].click();
  assert.deepEqual(await sorted(table), ['ascending', ...Array(names.length - 1).fill('')]);
  const policies = await column(table, 0);
  assert.deepEqual(policies, [...policies].sort());
  // By keyboard: Enter and the blank sort by the head that has the focus, Tab goes to the next.
  await buttons[0].focus();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'budget');
  await page.keyboard.press('Enter');
  assert.equal((await sorted(table))[1], 'descending');
  await page.keyboard.press('Space');
  assert.equal((await sorted(table))[1], 'ascending');
  const budgets = (await column(table, 1)).map(Number);
  assert.deepEqual(budgets, [...budgets].sort((a, b) => a - b));
  assert.deepEqual([...(await column(table, 2)).map(Number)].sort(), [...masses].sort());
  // Every head of every table can be reached and says what it does.
  const [heads, sorting] = await page.evaluate(() => [document.querySelectorAll('thead th').length,
    document.querySelectorAll('thead th > button[title="sort by this column"]').length]);
  assert.ok(heads > 20);
  assert.equal(sorting, heads);
  assert.deepEqual(page.mistakes, []);
}

// Long tables have a filter: each word is a number, or a part of a text, of the rows that remain.
async function filters(browser) {
  const page = await open(browser, report);
  const table = await tableAfter(page, 'Summary, by budget and retained mass');
  const rows = () => table.$$eval('tbody tr', (all) => all.filter((row) => row.checkVisibility())
    .map((row) => row.cells[0].textContent + ' ' + row.cells[1].textContent));
  const before = await rows();
  assert.ok(before.length > 15);
  const label = await table.evaluateHandle((one) => one.closest('.wide').previousElementSibling);
  const counted = () => label.$eval('output', (one) => one.value);
  const input = await label.$('input');
  assert.equal(await counted(), '');
  await input.type('H2O');
  assert.deepEqual((await rows()).sort(), ['h2o 16', 'h2o 32']);
  await input.type(' 16');
  assert.deepEqual(await rows(), ['h2o 16']);
  assert.equal(await counted(), '1 of ' + before.length + ' rows');
  // A part of a number is not that number.
  await input.type(' 1');
  assert.deepEqual(await rows(), []);
  await input.evaluate((one) => {
    one.value = '';
    one.dispatchEvent(new Event('input'));
  });
  assert.deepEqual(await rows(), before);
  const short = await page.$$eval('table', (all) => all.filter((one) =>
    one.tBodies[0].rows.length < 10 &&
    one.closest('.wide')?.previousElementSibling?.className === 'filter').length);
  assert.equal(short, 0);
  assert.deepEqual(page.mistakes, []);
}

// An empty entry is no number: it comes last in both directions.
async function gaps(browser) {
  const page = await open(browser, report);
  const table = await tableAfter(page, 'Caches that store more than their budget, or evict nothing');
  const [button] = (await table.$$('thead th button')).slice(2);
  for (let i = 0; i < 2; i += 1) {
    await button.click();
    const entries = await column(table, 2);
    const first = entries.findIndex((entry) => Number.isNaN(Number(entry)));
    assert.ok(first > 0, entries.join(' '));
    assert.ok(entries.slice(first).every((entry) => Number.isNaN(Number(entry))), entries.join(' '));
  }
}

async function findings(browser) {
  const page = await open(browser, report);
  const parts = await page.$$eval('main > *', (all) => all.slice(0, 3).map((one) => one.tagName + ' ' +
    one.className));
  assert.deepEqual(parts, ['H1 ', 'H2 finding', 'P findings']);
  const [first, ...others] = await page.$$eval('.findings', (all) => all.map((one) => one.textContent));
  assert.ok(others.length > 0);
  const said = first.match(
    /^With a budget of (\d+) tokens, (.+) kept most of the attention once it evicted: ([\d.]+)\u00a0% of/);
  assert.ok(said, first);
  // The sentence has the numbers of the table.
  const table = await tableAfter(page, 'Summary, by budget and retained mass');
  const rows = await table.$$eval('tbody tr', (all) => all.map((row) => [...row.cells].map((cell) =>
    cell.textContent)));
  const best = rows.filter((row) => row[1] === said[1]).sort((a, b) => b[2] - a[2])[0];
  assert.equal(best[0], said[2]);
  assert.ok(Math.abs(100 * best[2] - said[3]) <= 0.051, best[2] + ' ' + said[3]);
}

// The text of the trace, once for each of the best specs, with what remains of it.
async function words(browser) {
  const page = await open(browser, report);
  const texts = await page.$$eval('.text', (all) => all.map((one) => [one.textContent,
    one.previousElementSibling.tagName, [...one.children].map((word) => Number(word.className.slice(5)))]));
  assert.equal(texts.length, 8);
  for (const [text, before, shades] of texts) {
    assert.ok(text.length > 200 && text === texts[0][0]);
    assert.equal(before, 'H4');
    assert.equal(shades.length, 128);
    assert.ok(shades.every((shade) => shade >= 0 && shade <= 4));
    assert.ok(shades.includes(0));
  }
  // Four sinks and the last twelve tokens are in every cache of this spec, and no other.
  const at = await page.$$eval('h4', (all) => all.map((one) => one.textContent).indexOf('streaming'));
  assert.deepEqual(texts[at][2], [...Array(4).fill(4), ...Array(112).fill(0), ...Array(12).fill(4)]);
  assert.ok(texts.some(([, , shades]) => shades.some((shade) => shade > 0 && shade < 4)));
}

async function links(browser) {
  const page = await open(browser, report);
  const targets = await page.$$eval('a', (all) => all.map((one) => one.href));
  assert.ok(targets.length > 40);
  const ids = new Set(await page.$$eval('[id]', (all) => all.map((one) => one.id)));
  assert.equal(ids.size, (await page.$$('[id]')).length, 'two elements have one id');
  for (const target of new Set(targets)) {
    const [file, id] = target.split('#');
    assert.ok(fs.existsSync(fileURLToPath(file)), target);
    if (file === report) assert.ok(ids.has(decodeURIComponent(id)), target);
  }
  // The navigation leads to a section, and marks it when it is read.
  const [name, href] = await page.$$eval('nav.side a.part', (all) => [all[3].textContent,
    all[3].getAttribute('href')]);
  await page.evaluate((to) => document.querySelector('nav.side a[href="' + to + '"]').click(), href);
  await page.waitForFunction((to) => location.hash === to && Math.abs(
    document.querySelector(to).getBoundingClientRect().top) < 60, {}, href);
  assert.equal(await textOf(page, href), name);
  await page.waitForSelector('nav.side a.here[href="' + href + '"]');
  assert.equal((await page.$$('nav.side a.here')).length, 1);
  // The explorer opens at the trace of the section.
  const stepping = await page.$$eval('main a', (all) => all.filter((one) => one.textContent ===
    'Step through this stream').map((one) => one.href));
  assert.equal(stepping.length, 1);
  const explorer = await open(browser, stepping[0]);
  await explorer.waitForSelector('#loading[hidden]', { timeout: 30000 });
  for (const one of [page, explorer]) assert.deepEqual(one.mistakes, []);
}

// Curves have names under the pointer, and of more than seven policies some are grey.
async function figures(browser) {
  const page = await open(browser, report);
  const titles = await page.$$eval('figure svg title', (all) => all.map((one) => one.textContent));
  assert.ok(titles.length > 20);
  assert.deepEqual(titles.filter((title) => /plot_/.test(title) || title === ''), []);
  const drawing = await page.$eval('#trace-1-budget + figure svg', (one) => one.outerHTML);
  assert.match(drawing, /others, see the table/);
  assert.ok(titles.some((title) => title.includes('h2o')));
  const unnamed = await page.$$eval('figure svg', (all) => all.filter((one) =>
    !one.getAttribute('aria-label') && !one.querySelector(':scope > title')).length);
  assert.equal(unnamed, 0);
  // The others are dimmed while the pointer is on a curve, in all panels.
  const curves = '#trace-1-budget + figure svg g:has(> title)';
  const dimmed = () => page.$$eval(curves, (all) => [true, false].map((is) => [...new Set(
    all.filter((one) => one.classList.contains('dimmed') === is)
      .map((one) => one.querySelector('title').textContent))]));
  await page.$$eval(curves, (all) => all
    .find((one) => one.querySelector('title').textContent === 'h2o')
    .querySelector('path, use').dispatchEvent(new PointerEvent('pointerover', { bubbles: true })));
  const [others, named] = await dimmed();
  assert.deepEqual(named, ['h2o']);
  assert.ok(others.length > 5);
  await page.$eval('#trace-1-budget + figure svg', (one) =>
    one.dispatchEvent(new PointerEvent('pointerleave')));
  assert.deepEqual((await dimmed())[0], []);
}

// Both colour schemes at all widths: nothing wider than the window, and no rule of axe is broken.
async function looks(browser) {
  for (const scheme of ['light', 'dark']) {
    for (const width of [400, 768, 1280, 1400, 1920]) {
      const page = await open(browser, report, { width, scheme });
      const where = scheme + '-' + width;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, where + ': the page is ' + wide + ' wide');
      if (width >= 1400) {
        const hidden = await page.$$eval('.wide', (all) => all.filter((one) =>
          one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) =>
          one.previousElementSibling?.textContent + ': ' + one.scrollWidth));
        assert.deepEqual(hidden, [], where + ': these do not fit');
      }
      // On a dark page figures neither glare nor lose the ground that their colours are made for.
      const card = await page.$eval('figure .wide', (one) => getComputedStyle(one).backgroundColor);
      assert.equal(card, scheme === 'dark' ? 'rgb(222, 222, 219)' : 'rgb(255, 255, 255)', where);
      if (process.env.KVCHECK_SCREENSHOTS) {
        await page.screenshot({ fullPage: true,
          path: process.env.KVCHECK_SCREENSHOTS + '/report-' + where + '.png' });
      }
      // Rules differ by scheme; widths between the ends add nothing to them.
      if (width === 400 || width === 1920) assert.deepEqual(await violations(page), [], where);
      assert.deepEqual(page.mistakes, []);
      await page.close();
    }
  }
}

async function alone(browser) {
  const page = await open(browser, report);
  const asked = page.requests.filter((url) => !url.startsWith('data:'));
  assert.deepEqual(asked.map((url) => url.split('#')[0]), [report]);
  // Without JavaScript nothing is lost but sorting.
  const off = await open(browser, report, { prepare: (one) => one.setJavaScriptEnabled(false) });
  const heads = await page.$$eval('thead th', (all) => all.length);
  assert.equal(await off.$$eval('thead th', (all) => all.length), heads);
  assert.equal((await off.$$('thead button')).length, 0);
  const shown = await off.$$eval('.findings, figure, main table', (all) => all.filter((one) =>
    !one.closest('details') && !one.checkVisibility()).length);
  assert.equal(shown, 0);
  await off.click('summary');
  assert.ok(await off.$eval('details table', (one) => one.checkVisibility()));
}

await run({ tables, filters, gaps, findings, words, links, figures, looks, alone });
