// 10,000 nodes and 50,000 jobs: pages, deep links, and refreshes that do not hold up the page.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { visit } from './browser.mjs';
import { readView } from './read_page.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withPage } from './world.mjs';

const world = makeWorld({ large: true });

test('Nodes are paged by 200, and a page has an address', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?offset=400');
    const third = await readView(page, 'nodes');
    assert.deepEqual([third.total, third.nodes.length, third.nodes[0].name], [10000, 200, 'h401']);
    await page.click('.pager button:has-text("Next")');
    await until(
      page,
      async () => (await readView(page, 'nodes')).nodes[0].name,
      (name) => name === 'h601',
    );
    assert.match(page.url(), /offset=600/);
    await page.click('.pager button:has-text("Last")');
    await until(
      page,
      async () => (await readView(page, 'nodes')).nodes[0].name,
      (name) => name === 'c801',
    );
    await page.selectOption('select[name="partition"]', 'ada');
    const first = await until(
      page,
      () => readView(page, 'nodes'),
      (seen) => seen.nodes[0].name === 'l01',
    );
    assert.equal(first.total, 2000);
    assert.doesNotMatch(page.url(), /offset/);
  }));

test('The queue is paged by 100', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue');
    const seen = await readView(page, 'queue');
    assert.deepEqual([seen.total, seen.jobs.length], [50000, 100]);
    assert.equal(seen.head.pending + seen.head.running, 50000);
  }));

test('Sorting has all jobs, and so has a file, filtered and sorted as shown', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue?sort=-Job');
    const first = await until(page, () => page.locator('tr[id^="job-"] th a').first().textContent(), Boolean, 60_000);
    assert.equal(Number(first), Math.max(...world.fake.cluster.jobs.map((job) => job.job_id)));
    assert.equal((await readView(page, 'queue')).total, 50000);
    await page.click('.pager button:has-text("Last")');
    await until(
      page,
      async () => (await readView(page, 'queue')).jobs.length,
      (count) => count === 100,
    );
    const waiting = page.waitForEvent('download', { timeout: 60_000 });
    await page.click('.time-line .csv');
    const lines = (await readFile(await (await waiting).path(), 'utf8')).trim().split('\r\n');
    assert.equal(lines.length, 50_001);
    assert.equal(lines[1].split(',')[0], first);
    await visit(page, world.fake.url, 'queue?gpu=l40s&state=running&sort=Job');
    const all = world.fake.cluster.jobs.filter((job) => job.gpu === 'l40s' && job.state === 'RUNNING').length;
    await until(
      page,
      async () => (await readView(page, 'queue')).total,
      (total) => total === Math.min(5000, all),
      60_000,
    );
  }));

test('A link to a node of another page shows it', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?node=l1990');
    await until(
      page,
      () => page.locator('aside[aria-label="Node l1990"]').textContent(),
      (words) => /CPUs.*of 64 in use/.test(words),
    );
  }));

// The longest time that the page could not answer while `work` was done, in milliseconds.
async function longestTask(page, work) {
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
    }).observe({ type: 'longtask' });
  });
  await work();
  await page.waitForTimeout(300);
  return page.evaluate(() => window.longest);
}

test('A refresh of 200 nodes × 8 GPUs draws only what changed', () =>
  withPage(world, async (page) => {
    await page.clock.install();
    await visit(page, world.fake.url, 'nodes');
    const drawn = await page.evaluate(() => {
      window.changes = 0;
      new MutationObserver((records) => (window.changes += records.length)).observe(document.querySelector('.map'), {
        childList: true,
        subtree: true,
        attributes: true,
      });
      return document.querySelectorAll('.map .cell').length;
    });
    assert.equal(drawn, 1600);
    const asked = () => world.fake.log.filter((entry) => entry.path.startsWith('/v1/nodes')).length;
    const before = asked();
    const longest = await longestTask(page, async () => {
      const change = (cluster) => {
        const node = cluster.nodes.find((one) => one.condition === 'free');
        node.gpus[0].used = 1;
        node.gpus[0].free -= 1;
        node.condition = 'partly';
      };
      // So large an answer is asked for after some snapshots, not after each.
      for (let at = 0; at < 10 && asked() === before; ++at) {
        world.fake.push(at === 0 ? change : undefined);
        await page.waitForTimeout(50);
        await page.clock.runFor(30_000);
      }
      await until(page, asked, (count) => count > before);
      await page.waitForTimeout(500);
    });
    const changes = await page.evaluate(() => window.changes);
    assert.ok(changes > 0 && changes < 40, `${changes} changed elements`);
    console.log(`# longest task of a refresh of 200 nodes: ${Math.round(longest)} ms`);
  }));
