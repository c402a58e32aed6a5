// The page in Korean: from the same catalogue as the client, in every view, at every width.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sentencesOf } from '../languages.mjs';
import { ask, kViews, visit } from './browser.mjs';
import { makeWorld, until, withPage } from './world.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const catalogue = [at('../po/ko.po'), at('../../po/ko.po')].find((path) => existsSync(path));
const korean = sentencesOf(readFileSync(catalogue), 'ko.po');
const world = makeWorld();
const inKorean = (path) => `${world.fake.url}?lang=ko#/${path}`;

function sourceFiles() {
  return readdirSync(at('../src'), { recursive: true })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => [file, readFileSync(at(`../src/${file}`), 'utf8')]);
}

test('Every sentence that is said has a translation', () => {
  const missing = [];
  for (const [file, text] of sourceFiles()) {
    const patterns = [/\bphrase\('((?:[^'\\]|\\.)*)'/g];
    if (file.endsWith('english.ts')) patterns.push(/'[\w.]+': '((?:[^'\\]|\\.)*)'/g, /\b(?:one|other): '((?:[^'\\]|\\.)*)'/g);
    for (const pattern of patterns) {
      for (const [, english] of text.matchAll(pattern)) if (!Object.hasOwn(korean, english.replaceAll("\\'", "'"))) missing.push(`${file}: ${english}`);
    }
  }
  assert.deepEqual(missing, []);
});

test('No text of an element or a label is written past the catalogue', () => {
  const found = [];
  for (const [file, text] of sourceFiles()) {
    if (!file.endsWith('.tsx')) continue;
    for (const [, words] of text.matchAll(/<\w[^<>]*>([A-Z][a-z]+[^<>{}]*)<\//g)) found.push(`${file}: ${words}`);
    for (const [, name, words] of text.matchAll(/\b(caption|aria-label|placeholder|hint|note)="([^"]*[A-Za-z][^"]*)"/g)) if (words !== 'train.yaml') found.push(`${file}: ${name}=${words}`);
  }
  assert.deepEqual(found.filter((one) => !/>?Ctrl|Enter/.test(one)), []);
});

test('A translation with other fields than its original fails the build', () => {
  const entry = (english, own) => `msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgctxt "page"\nmsgid "${english}"\nmsgstr "${own}"\n`;
  assert.deepEqual(sentencesOf(entry('{n} jobs', '작업 {n}개'), 'x.po'), { '{n} jobs': '작업 {n}개' });
  assert.throws(() => sentencesOf(entry('{n} jobs', '작업 {m}개'), 'x.po'), /x\.po: "작업 {m}개" does not have the fields/);
  assert.throws(() => sentencesOf(entry('{n} jobs', ''), 'x.po'), /has no translation/);
});

// What of the interface is still in English: its sentences without fields, of two words or more.
const leftIn = (page) =>
  page.evaluate((known) => {
    const shown = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const left = [];
    while (shown.nextNode()) if (known.includes(shown.currentNode.data.trim()) && !shown.currentNode.parentElement.closest('bdi, code, textarea')) left.push(shown.currentNode.data.trim());
    for (const element of document.querySelectorAll('[aria-label], [placeholder]')) {
      for (const name of ['aria-label', 'placeholder']) if (known.includes(element.getAttribute(name))) left.push(element.getAttribute(name));
    }
    return left;
  }, Object.entries(korean).filter(([english, own]) => english !== own && /\w \w/.test(english)).map(([english]) => english));

for (const view of kViews) {
  test(`${view} is in Korean and fits a phone and a desk`, () =>
    withPage(world, async (page) => {
      await page.goto(inKorean(view));
      await visit(page, world.fake.url, view); // without ?lang: it is remembered
      if (view === 'ask') await ask(page);
      assert.equal(await page.evaluate(() => document.documentElement.lang), 'ko');
      assert.match(await page.title(), new RegExp(`^${korean[`${view[0].toUpperCase()}${view.slice(1)}`]} · `));
      assert.deepEqual(await leftIn(page), []);
      for (const width of [360, 800, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        const { wide, inside } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, inside: document.documentElement.clientWidth }));
        assert.ok(wide <= inside, `${view} at ${width}: ${wide} > ${inside}`);
      }
    }));
}

test('The browser’s language is taken, an unknown one is English, and the choice is kept', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'ko');
    await page.selectOption('select.language', 'en');
    await until(page, () => page.locator('nav.views a').first().textContent(), (words) => words === 'Now');
    await page.goto(`${world.fake.url}?lang=xx#/now`);
    await until(page, () => page.locator('nav.views a').first().textContent(), (words) => words === 'Now');
    await page.goto(inKorean('now'));
    await until(page, () => page.locator('nav.views a').first().textContent(), (words) => words === korean.Now);
    await page.selectOption('select.language', 'en');
    await until(page, () => page.locator('nav.views a').first().textContent(), (words) => words === 'Now');
    assert.doesNotMatch(page.url(), /lang=/);
  }, { locale: 'ko-KR' }));

test('Where the sentences do not come the page is in English', () =>
  withPage(world, async (page) => {
    await page.route(/assets\/ko-.*\.js/, (route) => route.abort());
    await page.goto(inKorean('now'));
    await until(page, () => page.locator('nav.views a').first().textContent(), (words) => words === 'Now');
  }, { allow: [/Failed to load resource/, /net::ERR/] }));

const wordsAsked = () => world.fake.log.filter((entry) => entry.path === '/v1/words').map((entry) => JSON.parse(entry.body));

test('The daemon’s own sentences are in Korean, each asked for once, and no name is sent', () =>
  withPage(world, async (page) => {
    world.fake.log.length = 0;
    await page.goto(inKorean('ask'));
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    const reasons = await page.locator('[data-panel="ranking"] td.reasons li bdi').allTextContents();
    assert.ok(reasons.length > 3);
    for (const reason of reasons) if (reason.includes(' ')) assert.match(reason, /^한 /);
    await visit(page, world.fake.url, 'queue');
    const why = await page.locator('tr[data-job] .why bdi').allTextContents();
    assert.ok(why.some((one) => /^한 /.test(one)));
    const asked = wordsAsked();
    assert.ok(asked.every((one) => one.language === 'ko'));
    const texts = asked.flatMap((one) => one.texts);
    assert.equal(new Set(texts).size, texts.length);
    const names = await page.locator('td bdi.name').allTextContents();
    assert.deepEqual(texts.filter((text) => names.includes(text)), []);
  }));

test('A refusal and the cause of an old picture are in Korean too', () =>
  withPage(world, async (page) => {
    await page.goto(inKorean('ask'));
    await visit(page, world.fake.url, 'ask');
    await ask(page, 'wrong: 1\n');
    await until(page, () => page.locator('[role="alert"] bdi').first().textContent(), (words) => words.startsWith('한 train.yaml:1: '));
    world.fake.set({ stale: 'slurmctld does not answer' });
    await until(page, () => page.locator('body').textContent(), (words) => words.includes('한 slurmctld does not answer'));
    world.fake.set({ stale: null });
  }, { allow: [/400/] }));

test('Where nothing is translated the sentences stay English', () =>
  withPage(world, async (page) => {
    world.fake.set({ noWords: true });
    await page.goto(inKorean('ask'));
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    const reasons = await page.locator('[data-panel="ranking"] td.reasons li bdi').allTextContents();
    assert.ok(reasons.length > 3);
    for (const reason of reasons) assert.doesNotMatch(reason, /[가-힣]/);
    world.fake.set({ noWords: false });
  }, { allow: [/400/] }));

test('A page in English asks for no words', () =>
  withPage(world, async (page) => {
    world.fake.log.length = 0;
    await page.goto(`${world.fake.url}?lang=en#/ask`);
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    assert.deepEqual(wordsAsked(), []);
  }));

test('What is not said in Korean is somebody’s data, and stays', () =>
  withPage(world, async (page) => {
    await page.goto(inKorean('queue'));
    await visit(page, world.fake.url, 'queue');
    const names = await page.locator('td bdi.name').allTextContents();
    assert.ok(names.length > 0);
    for (const name of names) assert.doesNotMatch(name, /[가-힣]/);
  }));
