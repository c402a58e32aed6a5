// Expected free GPUs on Now: the drawing says what the answer has, and marks the job of the question.
import assert from 'node:assert/strict';
import { axeFaults, visit } from './browser.mjs';
import { free } from './fake/answers.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const drawn = (page) => page.locator('#free svg');

async function shown(page, types) {
  await until(
    page,
    () => drawn(page).count(),
    (count) => count === types,
  );
}

test('A drawing for each type, with its words for screen readers', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    const { gpus } = free(world.fake.cluster, new URLSearchParams());
    await shown(page, gpus.length);
    const words = await drawn(page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    for (const [at, { gpu_name, p10, p50, p90 }] of gpus.entries()) {
      assert.ok(words[at].startsWith(`${gpu_name}: ${p50[0]} free now`), words[at]);
      assert.ok(words[at].includes(`${p50[48]} (${p10[48]} – ${p90[48]}) in 12 h`), words[at]);
    }
    assert.deepEqual(await axeFaults(page), []);
  }));

test('The start of the asked job is marked where its type is among the first', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now?gpus=2&memory=20');
    await until(
      page,
      () => page.locator('.free-start').count(),
      (count) => count > 0,
    );
    const starts = await page.locator('.starts > li b:first-child').allInnerTexts();
    const marked = await page.locator('#free li:has(.free-start) > b').allInnerTexts();
    for (const name of starts.filter((one) => /^[A-Z]/.test(one) && !/now/.test(one)).slice(0, 1)) assert.ok(marked.includes(name.trim()));
    assert.match((await drawn(page).first().getAttribute('aria-label')) ?? '', /free now/);
    assert.match(await page.locator('#free li:has(.free-start)').first().innerText(), /your job starts (now|\S*\s?\d\d:\d\d)/);
  }));

test('The figures are in a table, every three hours', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    await page.click('#free summary');
    assert.equal(await page.locator('#free tbody tr').count(), 17);
    const { gpus } = free(world.fake.cluster, new URLSearchParams());
    const first = await page.locator('#free tbody tr').first().locator('td').allInnerTexts();
    assert.deepEqual(
      first,
      gpus.map(({ p50 }) => String(p50[0])),
    );
  }));

test('Every type has the mark of the usual job, also those that are not among the first', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    const { gpus } = free(world.fake.cluster, new URLSearchParams());
    await shown(page, gpus.length);
    const words = await drawn(page).evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    for (const one of words) assert.match(one, /your job starts/);
  }));

test('A forecast that ends sooner says so in the title, in the words and on the axis', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.cluster.freeHours = 7.5;
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await shown(page, 5);
      assert.equal(await page.locator('#free h2').innerText(), 'Expected free GPUs, next 7 h 30');
      const words = await page.locator('#free .free-words').allInnerTexts();
      assert.ok(words.some((one) => /no more expected by (\S+ )?\d\d:\d\d$/.test(one)));
      const ticks = await page.locator('#free li').first().locator('.free-tick').allInnerTexts();
      assert.ok(ticks.length >= 3 && ticks.some((one) => /^\d\d:00$/.test(one)), ticks.join(' '));
      await page.click('#free summary');
      assert.equal(await page.locator('#free tbody tr').count(), 8);
    });
  }));

test('An answer that does not come leaves the rest of Now', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.set({ late: { '/v1/free': 60_000 } });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      assert.equal(await page.locator('#free li').count(), 5);
      assert.ok(await page.locator('#who').isVisible());
    });
  }));
