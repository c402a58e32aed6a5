// 10,000 nodes and 50,000 jobs: pages, deep links, and refreshes that do not hold up the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visit } from './browser.mjs';
import { readView } from './read_page.mjs';
import { makeWorld, until, withPage } from './world.mjs';

const world = makeWorld({ large: true });

test('Nodes are paged by 200, and a page has an address', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'nodes?offset=400');
    const third = await readView(page, 'nodes');
    assert.deepEqual([third.total, third.nodes.length, third.nodes[0].name], [10000, 200, 'h401']);
    await page.click('.pager button:has-text("Next")');
    await until(page, async () => (await readView(page, 'nodes')).nodes[0].name, (name) => name === 'h601');
    assert.match(page.url(), /offset=600/);
    await page.click('.pager button:has-text("Last")');
    await until(page, async () => (await readView(page, 'nodes')).nodes[0].name, (name) => name === 'c801');
    await page.selectOption('select[name="partition"]', 'ada');
    const first = await until(page, () => readView(page, 'nodes'), (seen) => seen.nodes[0].name === 'l01');
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
    await visit(page, world.fake.url, 'nodes');
    const drawn = await page.evaluate(() => {
      window.changes = 0;
      new MutationObserver((records) => (window.changes += records.length)).observe(document.querySelector('.map'), { childList: true, subtree: true, attributes: true });
      return document.querySelectorAll('.map .cell').length;
    });
    assert.equal(drawn, 1600);
    const asked = () => world.fake.log.filter((entry) => entry.path.startsWith('/v1/nodes')).length;
    const before = asked();
    const longest = await longestTask(page, async () => {
      world.fake.push((cluster) => {
        const node = cluster.nodes.find((one) => one.condition === 'free');
        node.gpus[0].used = 1;
        node.gpus[0].free -= 1;
        node.condition = 'partly';
      });
      await until(page, asked, (count) => count > before);
      await page.waitForTimeout(500);
    });
    const changes = await page.evaluate(() => window.changes);
    assert.ok(changes > 0 && changes < 40, `${changes} changed elements`);
    console.log(`# longest task of a refresh of 200 nodes: ${Math.round(longest)} ms`);
  }));
