// Other clusters on the page: what is free there, one ranking over all, one that is silent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, axeFaults, visit } from './browser.mjs';
import { kNetworkNoise, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();

const shape = (gpus, nodes, limit, p50, p90) => ({ gpus_per_node: gpus, nodes, time_limit_seconds: limit, partition: 'huge', wait_p50_seconds: p50, wait_p90_seconds: p90 });
const waits = [shape(1, 1, 3600, 0, 0), shape(1, 1, 28_800, 600, 3_000), shape(8, 1, 28_800, 7_200, 90_000), shape(8, 2, 28_800, null, null)];
const kClusters = [
  { cluster: 'big', gpus: [{ gpu: 'h100', gpu_name: 'H100', total: 640, free: 12, waits }, { gpu: 'a100', gpu_name: 'A100', total: 8, free: 0, waits: [] }], age_seconds: 3, problem: null },
  { cluster: 'old', gpus: null, age_seconds: null, problem: 'the daemon at https://old.example.org:6829: no answer within 1 s' },
];

const cells = (page, row) => page.locator(`[data-panel="clusters"] tr[data-row="${row}"] > *`).evaluateAll((all) => all.map((one) => one.textContent));
const ranking = (page) => page.locator('tbody[data-rank]').evaluateAll((all) => all.map((one) => [one.querySelector('td[data-cluster]')?.textContent ?? null, Number(one.dataset.totalP50)]));

test('A daemon that knows no other cluster shows nothing of them', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    assert.equal(await page.locator('[data-panel="clusters"]').count(), 0);
    await visit(page, world.fake.url, 'ask');
    assert.equal(await page.locator('input[name="everywhere"]').count(), 0);
    await ask(page);
    assert.equal(await page.locator('td[data-cluster]').count(), 0);
  }));

test('Now shows what is free on other clusters, and who is silent', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      own.fake.set({ clusters: kClusters });
      await visit(page, own.fake.url, 'now');
      await page.waitForSelector('[data-panel="clusters"]');
      assert.deepEqual(await cells(page, 'big h100'), ['big', 'H100', '12', '640', '10 min – 50 min', '2 h – 25 h']);
      assert.deepEqual(await cells(page, 'big a100'), ['big', 'A100', '0', '8', '–', '–']);
      assert.match(await page.locator('[data-silent="old"]').textContent(), /^old has not answered yet\. .*no answer within 1 s/);
      assert.deepEqual(await axeFaults(page), []);
      await page.setViewportSize({ width: 360, height: 800 });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
    }),
  ));

test('Ask ranks over all clusters, and says who did not answer', () =>
  withOwnFake(world, {}, (own) =>
    withPage(
      own,
      async (page) => {
        own.fake.set({ clusters: kClusters });
        await visit(page, own.fake.url, 'ask');
        await page.waitForSelector('input[name="everywhere"]');
        await ask(page);
        const rows = await ranking(page);
        assert.deepEqual(rows.map(([, total]) => total), rows.map(([, total]) => total).toSorted((a, b) => a - b));
        assert.equal(rows[0][0], 'big', 'nobody waits there');
        assert.ok(rows.some(([cluster]) => cluster === own.fake.cluster.name));
        assert.match(await page.locator('tbody[data-rank="1"] .reasons').textContent(), /^done .* before the best of cluster/);
        assert.match(await page.locator('.best-command').textContent(), /submit train\.yaml -M big -p huge /);
        assert.match(await page.locator('[data-silent="old"]').textContent(), /^No answer from old: .*no answer within 1 s/);
        assert.deepEqual(await axeFaults(page), []);
        await page.uncheck('input[name="everywhere"]');
        assert.match(await page.locator('.dated').textContent(), /before your changes/);
        await ask(page);
        await until(page, () => page.locator('td[data-cluster]').count(), (count) => count === 0);
        assert.doesNotMatch(await page.locator('.best-command').textContent(), /-M /);
      },
      { allow: kNetworkNoise },
    ),
  ));
