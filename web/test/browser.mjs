// Chromium for the tests: a page that keeps account of everything that must not happen.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const kChromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const kPatienceMilliseconds = 15_000;
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export async function openBrowser() {
  if (!existsSync(kChromium)) throw new Error(`${kChromium} is not there; install chromium, or set CHROMIUM to its path`);
  return chromium.launch({ executablePath: kChromium, args: ['--no-sandbox'] });
}

/** A page whose `trouble` fills with console errors and warnings, exceptions, requests elsewhere. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(kPatienceMilliseconds);
  const trouble = { console: [], exceptions: [], elsewhere: [], policy: [] };
  const host = new URL(url).host;
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    const kind = /Content Security Policy/.test(message.text()) ? trouble.policy : trouble.console;
    kind.push(message.text());
  });
  page.on('pageerror', (error) => trouble.exceptions.push(String(error)));
  page.on('request', (request) => {
    const to = new URL(request.url());
    if (to.host !== host && to.protocol !== 'data:' && to.protocol !== 'blob:') trouble.elsewhere.push(request.url());
  });
  return { page, context, trouble };
}

export const kViews = ['now', 'nodes', 'queue', 'history', 'group', 'accuracy', 'ask'];

/** Goes to a view ("nodes?search=x") and waits until its answer is shown. */
export async function visit(page, url, hash) {
  await page.goto(`${url}#/${hash}`);
  await shown(page, hash.split('?')[0]);
}

export async function shown(page, view) {
  await page.waitForSelector(`main:has(h1:text-is("${titleOf(view)}"))`);
  if (view !== 'ask') await page.waitForSelector('.answered[aria-busy="false"] .panel, .answered[aria-busy="false"] .note, .trouble');
}

/** The text of the file is folded away at first. */
export async function openText(page) {
  await page.locator('.file-text').evaluate((fold) => (fold.open = true));
}

export const titleOf = (view) => view.charAt(0).toUpperCase() + view.slice(1);

/** Fills the editor with `text` where given, asks, and waits for the ranking or the error. */
export async function ask(page, text) {
  if (text !== undefined) {
    await openText(page);
    await page.fill('textarea', text);
  }
  await page.click('button.primary');
  await page.waitForSelector('button.primary[aria-disabled="false"]');
  await page.waitForSelector('#ranking, [role="alert"]');
}

/** Faults that axe finds, as short texts. */
export async function axeFaults(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(readFileSync(axePath, 'utf8'));
  const results = await page.evaluate(() =>
    window.axe.run(document, { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] }),
  );
  return results.violations.map(
    (one) =>
      `${one.impact} ${one.id}: ${one.nodes
        .slice(0, 3)
        .map((node) => node.target.join(' '))
        .join(' | ')}`,
  );
}
