// Group: a row a person, for those who are signed in.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { axeFaults, shown, visit } from './browser.mjs';
import { nameJobs } from './fake/cluster.mjs';
import { users } from './fake/records.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const rows = (page) => page.locator('.users tbody tr:not(.sum)');

function signedIn(body, options) {
  return withOwnFake(world, {}, (own) => {
    nameJobs(own.fake.cluster);
    own.fake.set({ user: 'ann' });
    return withPage(own, (page) => body(page, own), options);
  });
}

test('Each person has a row with what runs, waits and has waited, beside the cluster', () =>
  signedIn(async (page, own) => {
    await visit(page, own.fake.url, 'group');
    const answer = users(own.fake.cluster, new URLSearchParams());
    assert.equal(await rows(page).count(), answer.users.length);
    const first = (one) => one.oldest_submit ?? Infinity;
    const longestFirst = [...answer.users].sort((a, b) => first(a) - first(b) || 0);
    const those = longestFirst.filter((one) => one.oldest_submit !== null);
    const line = await page.locator('#group .lead').innerText();
    assert.match(line, new RegExp(`^${those.length} wait: ${those[0].user} \\((\\d+ h|\\d+ min)`));
    for (const [at, one] of longestFirst.entries()) {
      const cells = await rows(page).nth(at).locator('th, td').allInnerTexts();
      assert.equal(cells[0], one.user);
      assert.deepEqual(cells.slice(2, 5).map(Number), [one.running_gpus, one.pending, one.pending_gpus]);
      assert.equal(cells[9], '25 min');
    }
    assert.match(await page.locator('#group .figures-row').innerText(), /25 min\s+of all jobs on the cluster: 15 min/);
    assert.deepEqual(await axeFaults(page), []);
    const waiting = page.waitForEvent('download');
    await page.click('button[aria-label="Download CSV: Users"]');
    const file = await readFile(await (await waiting).path(), 'utf8');
    assert.equal(file.trim().split('\r\n').length, answer.users.length + 1);
  }));

test('An account leaves its people, in an address, and a name leads to the queue', () =>
  signedIn(async (page, own) => {
    await visit(page, own.fake.url, 'group');
    const [account] = users(own.fake.cluster, new URLSearchParams()).accounts;
    await page.selectOption('select[name="account"]', account);
    const answer = users(own.fake.cluster, new URLSearchParams({ account }));
    await until(
      page,
      () => rows(page).count(),
      (count) => count === answer.users.length,
    );
    assert.ok(page.url().includes(`account=${account}`));
    await rows(page).first().locator('a').click();
    await shown(page, 'queue');
    assert.match(page.url(), /user=user\d/);
  }));

test('The period is chosen, and in the address', () =>
  signedIn(async (page, own) => {
    await visit(page, own.fake.url, 'group');
    assert.match(await page.locator('#group > .note').innerText(), /in the last 4 weeks/);
    await page.selectOption('select[name="weeks"]', '1');
    await page.waitForSelector('#group > .note:has-text("in the last week.")');
    assert.match(page.url(), /weeks=1/);
    assert.ok(own.fake.log.some((entry) => entry.path === '/v1/users?weeks=1'));
  }));

test('Who is not signed in has no such view, and is told why', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    await page.waitForSelector('.who-am-i');
    assert.equal(await page.locator('nav.views a:text-is("Group")').count(), 0);
    await page.goto(`${world.fake.url}#/group`);
    await page.waitForSelector('#group .note');
    assert.match(await page.locator('#group').innerText(), /signed in/);
    assert.ok(!world.fake.log.some((entry) => entry.path.startsWith('/v1/users')));
  }));

test('The head fits a phone with one more view', () =>
  signedIn(
    async (page, own) => {
      await visit(page, own.fake.url, 'group');
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    },
    { viewport: { width: 360, height: 740 } },
  ));
