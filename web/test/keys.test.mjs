// The keyboard: keys for the whole page, a focus that is never lost, no stop of Tab that is not seen; and what links and Back do.
import assert from 'node:assert/strict';
import { ask, titleOf, visit } from './browser.mjs';
import { nameJobs } from './fake/cluster.mjs';
import { test } from './twice.mjs';
import { focused, kNetworkNoise, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const heading = (page, view) => page.waitForSelector(`main:has(h1:text-is("${titleOf(view)}"))`);

test('g and a letter go to a view, / to the search, ? lists the keys', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    for (const [key, view] of [
      ['q', 'queue'],
      ['o', 'nodes'],
      ['h', 'history'],
      ['a', 'accuracy'],
      ['k', 'ask'],
      ['n', 'now'],
    ]) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await heading(page, view);
    }
    await page.keyboard.press('?');
    assert.match(await page.locator('dialog').textContent(), /g qQueue/);
    await page.keyboard.press('Escape');
    await visit(page, world.fake.url, 'nodes');
    await page.keyboard.press('/');
    await focused(page, 'input[name="search"]');
    await page.keyboard.type('gq');
    await until(
      page,
      () => page.url(),
      (url) => /search=gq/.test(url),
    );
    await heading(page, 'nodes');
  }));

test('Ctrl+K jumps to a job, a node, a user', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      own.fake.cluster.jobs.forEach((job, at) => Object.assign(job, { user: `user${at % 3}`, name: `train-${at}` }));
      await visit(page, own.fake.url, 'history');
      const hits = () => page.locator('.hits a').allTextContents();
      const jump = async (text, wanted) => {
        await page.keyboard.press('Control+k');
        await page.keyboard.type(text);
        await until(page, hits, (found) => found.some((one) => wanted.test(one)));
      };
      await jump('2030', /^Job 2030$/);
      await page.keyboard.press('Enter');
      await page.waitForSelector('aside[aria-label="Job 2030"]');
      await jump('classt2', /^Node classt26$/);
      await page.click('.hits a:has-text("classt26")');
      await page.waitForSelector('aside[aria-label="Node classt26"]');
      await jump('user1', /^User user1$/);
      await page.click('.hits a:has-text("User")');
      await until(
        page,
        () => page.url(),
        (url) => /#\/queue\?user=user1$/.test(url),
      );
      await jump('acc', /^View Accuracy$/);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('dialog[open]').count(), 0);
    }),
  ));

test('The focus stays on a job that starts', () =>
  withOwnFake(world, {}, (own) =>
    withPage(own, async (page) => {
      await visit(page, own.fake.url, 'queue');
      const { job_id } = own.fake.cluster.jobs[1];
      await page.locator(`#job-${job_id} a`).focus();
      own.fake.push((cluster) => {
        const [job] = cluster.jobs.splice(1, 1);
        cluster.jobs.push({ ...job, state: 'RUNNING', start_time: job.submit_time, end_time: null, end_p50: null, end_p90: null });
      });
      await page.waitForSelector(`#job-${job_id} .span-open`);
      await focused(page, `#job-${job_id} a`);
    }),
  ));

test('Back undoes a filter, and a text that was typed as a whole', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    await page.click('nav.views a:has-text("Nodes")');
    await page.waitForSelector('.map > li');
    await page.selectOption('select[name="gpu"]', 'l40s');
    await until(
      page,
      () => page.locator('.map > li').count(),
      (count) => count === 4,
    );
    await page.locator('input[name="search"]').pressSequentially('classt2', { delay: 300 });
    await until(
      page,
      () => page.url(),
      (url) => /search=classt2$/.test(url),
    );
    await page.goBack();
    await until(
      page,
      () => page.url(),
      (url) => /#\/nodes\?gpu=l40s$/.test(url),
    );
    assert.equal(await page.inputValue('input[name="search"]'), '');
    await page.goBack();
    await until(
      page,
      () => page.url(),
      (url) => /#\/nodes$/.test(url),
    );
    await page.goBack();
    await heading(page, 'now');
  }));

test('No stop of Tab is out of sight, and nothing to press is smaller than 24 pixels', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.cluster.jobs.forEach((job, at) => Object.assign(job, { account: `lab${at % 3}`, user: 'ann', name: 'x' }));
    own.fake.set({ user: 'ann' });
    for (const width of [360, 1280]) {
      await withPage(
        own,
        async (page) => {
          for (const view of ['now', 'nodes?node=classt26', 'queue?job=2030', 'history', 'accuracy', 'ask']) {
            await visit(page, own.fake.url, view);
            if (view === 'ask') await ask(page);
            await page.waitForTimeout(200);
            const faults = await page.evaluate(() => {
              const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(
                (one) => one.checkVisibility() && one.tabIndex >= 0 && !one.matches('.skip'),
              );
              const small = stops.filter(
                (one) => !one.matches('li > a, input[type="file"], code') && one.getBoundingClientRect().height < 23.5,
              );
              const unseen = stops.filter(
                (one) =>
                  one.getBoundingClientRect().width < 4 || getComputedStyle(one.closest('thead') ?? one).clipPath.startsWith('inset'),
              );
              return [small, unseen].map((all) => all.map((one) => `${one.outerHTML.slice(0, 90)} ${one.getBoundingClientRect().height}`));
            });
            assert.deepEqual(faults, [[], []], `${view} at ${width}`);
          }
        },
        { viewport: { width, height: 800 } },
      );
    }
  }));

test('The title and the icon show the state', () =>
  withOwnFake(world, {}, async (own) => {
    await withPage(
      own,
      async (page) => {
        const icon = () => page.evaluate(() => document.querySelector('link[rel="icon"]').href);
        await visit(page, own.fake.url, 'now');
        await until(
          page,
          () => page.title(),
          (title) => title === 'Now · seed',
        );
        const well = await icon();
        own.fake.set({ stale: 'slurmctld does not answer' });
        await until(
          page,
          () => page.title(),
          (title) => title === '(old data) Now · seed',
        );
        assert.notEqual(await icon(), well);
        await own.fake.stop();
        await until(
          page,
          () => page.title(),
          (title) => title === '(no connection) Now · seed',
        );
      },
      { allow: kNetworkNoise },
    );
  }));

test('One clock tells all times of a view, and is in the address', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'now');
      const foot = page.locator('footer select');
      assert.match(await foot.locator('option').first().textContent(), /Asia\/Seoul/);
      const shown = () => page.locator('.gpus-now, .starts, .who').allTextContents();
      const starts = () => page.locator('select[name="begin"] option').nth(1).textContent();
      const own = await starts();
      await foot.selectOption('cluster');
      await until(page, starts, (words) => words !== own);
      assert.match(page.url(), /clock=cluster/);
      assert.ok((await shown()).length > 0);
      await page.click('nav.views a:has-text("Queue")');
      await page.waitForSelector('tr[id^="job-"]');
      assert.match(page.url(), /#\/queue\?clock=cluster$/);
      await page.click('nav.views a:has-text("History")');
      await until(
        page,
        () => page.locator('footer').textContent(),
        (words) => /Times are the cluster’s \(CET\)/.test(words),
      );
    },
    { timezoneId: 'Asia/Seoul' },
  ));

test('A wall has no controls, and turns from view to view until a key is pressed', () =>
  withPage(world, async (page) => {
    await page.clock.install();
    await visit(page, world.fake.url, 'now?wall=1&rotate=20');
    await page.waitForSelector('html.wall');
    assert.equal(await page.locator('nav.views, footer, .csv, button, input, select').filter({ visible: true }).count(), 0);
    assert.equal(await page.locator('.on-wall').innerText(), '1 GPU × 1 node for 8 h');
    assert.equal(await page.locator('.who thead th').first().innerText(), 'Account');
    await page.clock.runFor(20_500);
    await heading(page, 'now');
    assert.ok((await page.evaluate(() => window.scrollY)) > 0, 'the second screen of Now');
    await page.clock.runFor(40_500);
    await heading(page, 'nodes');
    assert.equal(await page.evaluate(() => window.scrollY), 0);
    assert.match(page.url(), /#\/nodes\?wall=1&rotate=20$/);
    await page.keyboard.press('Escape');
    await until(
      page,
      () => page.url(),
      (url) => /#\/nodes\?wall=1$/.test(url),
    );
  }));

test('A sheet of paper has tables with their heads, not the blocks of a phone', () =>
  withOwnFake(world, {}, async (own) => {
    nameJobs(own.fake.cluster);
    own.fake.set({ user: 'ann' });
    await withPage(
      own,
      async (page) => {
        await visit(page, own.fake.url, 'group?account=nlp');
        await page.emulateMedia({ media: 'print' });
        const paper = await page.locator('#group .filters').innerText();
        assert.match(paper, /Account\s+nlp/, 'what was chosen');
        await page.emulateMedia({ media: 'screen' });
        for (const [view, table] of [
          ['group', '.users'],
          ['now', '.who'],
          ['queue', '.jobs'],
        ]) {
          await visit(page, own.fake.url, view);
          await page.emulateMedia({ media: 'print' });
          const [display, head, width] = await page.locator(table).evaluate((one) => {
            const head = one.querySelector('thead th:nth-child(3)');
            return [getComputedStyle(one.querySelector('tbody tr')).display, head.innerText.trim(), one.getBoundingClientRect().width];
          });
          assert.equal(display, 'table-row', view);
          assert.match(head, /^(GPUs|Waiting)/);
          assert.ok(width <= 718, `${view} is ${width} px wide`);
          await page.emulateMedia({ media: 'screen' });
        }
      },
      { viewport: { width: 718, height: 1046 } },
    );
  }));

test('On paper there are no controls, and charts are light', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'now');
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      assert.equal(await page.locator('button:not(th button), nav.views, footer select').filter({ visible: true }).count(), 0);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
      await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), undefined);
    },
    { colorScheme: 'dark' },
  ));
