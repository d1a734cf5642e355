// Starts Chromium, opens pages and reports checks. The packages of npm are found in the folder that
// the command line names, because the tree holds none.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [name, packages, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(packages) + '/');
const puppeteer = require('puppeteer-core');

export const pages = files.map((file) => pathToFileURL(path.resolve(file)).href);

// Violations of the rules of axe, one sentence each.
export async function violations(page) {
  await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
  const { violations: found } = await page.evaluate(() => window.axe.run());
  return found.map((one) => one.id + ': ' + one.help + ' at ' +
    one.nodes.map((node) => node.target.join(' ')).join(', '));
}

// A tab with its errors and requests. `prepare` is called before the page is opened.
export async function open(browser, url, { width = 1280, scheme = 'light', prepare } = {}) {
  const page = await browser.newPage();
  page.mistakes = [];
  page.requests = [];
  page.on('pageerror', (error) => page.mistakes.push(error.message));
  page.on('console', (line) => { if (line.type() === 'error') page.mistakes.push(line.text()); });
  page.on('request', (request) => page.requests.push(request.url()));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  if (prepare) await prepare(page);
  await page.goto(url);
  return page;
}

export const textOf = (page, selector) => page.$eval(selector, (one) => one.textContent);

// Runs the check that the command line names.
export async function run(checks) {
  assert.ok(Object.hasOwn(checks, name), 'no check is named ' + name);
  const browser = await puppeteer.launch({
    executablePath: process.env.KVCHECK_CHROMIUM || '/usr/bin/chromium',
    // Root has no sandbox, and containers little shared memory. The pages are our own.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    await checks[name](browser);
    console.log('passed: ' + name);
  } finally {
    await browser.close();
  }
}
