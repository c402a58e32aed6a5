// For everyone: axe in both themes, the keyboard alone, a phone, names that mean harm.
import assert from 'node:assert/strict';
import { ask, axeFaults, openText, kViews, visit } from './browser.mjs';
import { keepOne } from './fake/cluster.mjs';
import { kHtml } from './fake/hostile.mjs';
import { readView } from './read_page.mjs';
import { test } from './twice.mjs';
import { focused, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();

const kOpen = {
  now: 'now',
  nodes: 'nodes?node=classt26',
  queue: 'queue',
  history: 'history?measure=use',
  group: 'group',
  accuracy: 'accuracy',
  ask: 'ask',
};

for (const [colorScheme, width] of [
  ['light', 1440],
  ['dark', 1440],
  ['light', 360],
]) {
  test(`axe finds no fault in any view, ${colorScheme}, ${width} px`, () =>
    withPage(
      world,
      async (page) => {
        for (const view of kViews) {
          await visit(page, world.fake.url, kOpen[view]);
          if (view === 'ask') await ask(page);
          await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
          await page.waitForTimeout(100); // tables in them notice that they scroll
          assert.deepEqual(await axeFaults(page), [], view);
        }
      },
      { colorScheme, viewport: { width, height: 800 } },
    ));
}

test('axe finds no fault while the data is old', () =>
  withPage(world, async (page) => {
    world.fake.set({ stale: 'slurmctld does not answer' });
    await visit(page, world.fake.url, 'now');
    await page.waitForSelector('.banner-stale');
    assert.deepEqual(await axeFaults(page), []);
    world.fake.set({ stale: null });
  }));

test('The theme can be switched and is remembered', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await back();
    await page.click('button[aria-label="Show the page dark"]');
    const dark = await back();
    assert.notEqual(dark, light);
    await page.reload();
    await page.waitForSelector('.gpus-now');
    assert.equal(await back(), dark);
    await page.click('button[aria-label="Show the page light"]');
    assert.equal(await back(), light);
  }));

// Presses Tab until what has the focus matches.
async function tabTo(page, selector, most = 60) {
  for (let at = 0; at < most; ++at) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
  }
  assert.fail(`Tab does not reach ${selector}`);
}

test('The keyboard alone goes to a view, filters, opens and closes a node, and copies a command', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    await tabTo(page, '.skip', 2);
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    await page.evaluate(() => document.activeElement.blur());
    await tabTo(page, 'a[href="#/nodes"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('main:has(h1:text-is("Nodes")) .map > li');
    await focused(page, 'h1');
    await tabTo(page, 'input[name="search"]');
    await page.keyboard.type('classt26');
    await until(
      page,
      () => page.locator('.map > li').count(),
      (count) => count === 1,
    );
    await tabTo(page, '#node-classt26 button');
    await page.keyboard.press('Enter');
    await focused(page, 'aside[aria-label="Node classt26"]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('aside[aria-label^="Node"]', { state: 'detached' });
    await focused(page, '#node-classt26 button');
    await page.goto(`${world.fake.url}#/ask`);
    await openText(page);
    await page.locator('textarea').focus();
    await page.keyboard.press('Control+Enter');
    await page.waitForSelector('.best-command');
    await tabTo(page, '.best-command button');
    await page.keyboard.press('Enter');
    await until(
      page,
      () => page.locator('.best-command button').textContent(),
      (words) => words !== 'Copy',
    );
  }));

for (const width of [320, 360]) {
  test(`A phone of ${width} pixels never scrolls sideways, signed in or not`, () =>
    withOwnFake(world, {}, async (own) => {
      for (const user of [null, 'a.rather.long.login.name']) {
        own.fake.set({ user });
        await withPage(
          own,
          async (page) => {
            for (const view of kViews) {
              await visit(page, own.fake.url, kOpen[view]);
              if (view === 'ask') await ask(page);
              const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
              assert.equal(excess, 0, view);
            }
          },
          { viewport: { width, height: 740 } },
        );
      }
    }));
}

test('The head of a page cuts no view and breaks no word, signed in', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.set({ user: 'a.rather.long.login.name' });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await page.waitForSelector('.who-am-i');
      for (const width of [721, 800, 900, 999, 1000, 1024, 1100, 1150, 1280]) {
        await page.setViewportSize({ width, height: 768 });
        const seen = await page.evaluate(() => {
          const box = (selector) => document.querySelector(selector).getBoundingClientRect();
          const views = document.querySelector('.views');
          return {
            cut: views.scrollWidth - views.clientWidth,
            beyond: [...views.children].filter((one) => one.getBoundingClientRect().right > innerWidth).length,
            covered:
              box('.views').top < box('.top-end').bottom &&
              box('.views').bottom > box('.top-end').top &&
              box('.views').right > box('.top-end').left,
            brand: box('.brand').height < 30,
            who: box('.who-am-i').bottom <= box('.top-end').bottom + 2 && box('.who-am-i').left >= box('.top-end').left,
            excess: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          };
        });
        assert.deepEqual(seen, { cut: 0, beyond: 0, covered: false, brand: true, who: true, excess: 0 }, `${width} px`);
      }
    });
  }));

test('Names that are HTML, right-to-left or a thousand characters do nothing and fit', () =>
  withOwnFake(world, { hostile: true }, async (own) => {
    keepOne(own.fake.cluster, 'rtx4090');
    for (const width of [1440, 1280, 360]) {
      await withPage(
        own,
        async (page) => {
          for (const view of ['now', 'nodes', 'nodes?condition=broken', 'nodes?map=cluster', 'queue', 'history']) {
            await visit(page, own.fake.url, view);
            if (view === 'nodes') {
              await page.locator('.map > li button').nth(2).click();
              await page.waitForSelector('.details');
            }
            const state = await page.evaluate(() => ({
              harmed: window.harmed,
              scripts: document.querySelectorAll('main script, main img, header img').length,
              excess: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            }));
            assert.deepEqual(state, { harmed: undefined, scripts: 0, excess: 0 }, `${view} at ${width}`);
            assert.deepEqual(await axeFaults(page), [], view);
          }
          await visit(page, own.fake.url, 'queue');
          assert.equal((await readView(page, 'queue')).head.cluster, kHtml);
          assert.ok((await page.locator('tr[id^="job-"] bdi.name', { hasText: '<script>' }).count()) > 0);
          assert.ok((await page.locator('tr[id^="job-"]').first().boundingBox()).height < (width > 640 ? 80 : 200));
        },
        { viewport: { width, height: 800 } },
      );
    }
  }));
