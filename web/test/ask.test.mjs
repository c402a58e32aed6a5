// Ask: what a ranking is of and when, what it is worth after a change, what is kept.
import assert from 'node:assert/strict';
import { ask, axeFaults, openText, visit } from './browser.mjs';
import { readView } from './read_page.mjs';
import { test } from './twice.mjs';
import { focused, kNetworkNoise, makeWorld, until, withPage } from './world.mjs';

const world = makeWorld();
const asked = (path) => world.fake.log.filter((entry) => entry.path === path).map((entry) => JSON.parse(entry.body));
const words = (page, selector) => page.locator(selector).first().textContent();

test('A ranking says of what and when it is, and offers another when it is old', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    assert.match(await words(page, '.dated'), /^gr00t-finetune, finish first, as of \d\d:\d\d$/);
    assert.match(await words(page, '#ranking > div > .note'), /90th percentile of wait \+ run/);
    for (let at = 0; at < 3; ++at) world.fake.push();
    await until(
      page,
      () => words(page, '.dated'),
      (text) => /\(2 min ago\)/.test(text),
    );
    assert.equal(await page.locator('.again').count(), 0);
    for (let at = 0; at < 2; ++at) world.fake.push();
    await page.click('.again');
    await until(
      page,
      () => words(page, '.dated'),
      (text) => !/ago/.test(text),
    );
  }));

test('The range of a start covers no run', () =>
  withPage(world, async (page) => {
    for (const view of ['ask', 'queue']) {
      await visit(page, world.fake.url, view);
      if (view === 'ask') await ask(page);
      const gaps = await page.locator('tbody .line:has(.span-start):has(.span-run)').evaluateAll((lines) =>
        lines.map((line) => {
          const [start, ...others] = ['start', 'run', 'late'].map((kind) => line.querySelector(`.span-${kind}`)?.getBoundingClientRect());
          return Math.min(...others.filter(Boolean).map((one) => start.top - one.bottom));
        }),
      );
      assert.ok(gaps.length > 0 && gaps.every((gap) => gap >= 0), `${view}: ${gaps}`);
    }
  }));

test('A deadline adds who makes it, whatever the objective', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    assert.doesNotMatch(await words(page, '#ranking thead'), /In time/);
    await ask(page, 'name: x\ndeadline: fri 18:00\n');
    assert.match(await words(page, '#ranking thead'), /In time/);
    assert.equal(await words(page, '#rank-2 td:nth-of-type(5)'), 'yes91 %');
    assert.equal(await words(page, '#rank-3 td:nth-of-type(5)'), 'no20 %');
  }));

test('A change of text, objective or section withholds the commands until it is asked again', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    await page.click('button[aria-label="Command for RTX 4090 × 4"]');
    assert.equal(await page.locator('.command').count(), 2);
    const text = await page.inputValue('textarea');
    await openText(page);
    await page.fill('textarea', `${text}# more`);
    assert.match(await words(page, '.dated'), /For the text before your changes/);
    assert.equal(await page.locator('.command, tbody[id^="rank-"] button').count(), 0);
    await openText(page);
    await page.fill('textarea', text);
    assert.equal(await page.locator('.command').count(), 2);
    await page.selectOption('select[name="objective"]', 'cost');
    assert.match(await words(page, '.dated'), /For the objective before/);
    await ask(page);
    assert.match(await words(page, '.dated'), /cost least/);
    assert.equal(await words(page, '#rank-1 td:nth-of-type(6)'), '41.5');
    assert.equal(await page.locator('.dated .few').count(), 0);
  }));

test('Memory and scale are of what is ranked first, and a new file chooses anew', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await ask(page);
    assert.equal(asked('/v1/fit').at(-1).gpus_in_all, 4);
    assert.equal((await readView(page, 'ask')).scale.gpu, 'l40s');
    assert.match(await words(page, '#scale .note'), /without the queue and without time limits/);
    await page.selectOption('select[name="scale-gpu"]', 'rtx4090');
    assert.equal((await readView(page, 'ask')).scale.gpu, 'rtx4090');
    assert.equal(await page.locator('#scale .few').count(), 0);
    await ask(page, 'name: other\n');
    await until(
      page,
      async () => (await readView(page, 'ask')).scale.gpu,
      (gpu) => gpu === 'l40s',
    );
    await ask(page, 'nowhere: 1\n');
    await page.waitForSelector('#scale .few');
    assert.equal('gpus_in_all' in asked('/v1/fit').at(-1), false);
  }));

test('Another view and back loses nothing, and a failed question keeps the last ranking', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'ask');
      await page.selectOption('select[name="objective"]', 'start');
      await page.fill('input[name="section"]', 'b');
      await ask(page);
      assert.deepEqual([asked('/v1/advise').at(-1).objective, asked('/v1/advise').at(-1).section], ['start', 'b']);
      await page.click('nav.views a[href="#/nodes"]');
      await page.waitForSelector('.map > li');
      await page.click('nav.views a[href="#/ask"]');
      await page.waitForSelector('tbody[id^="rank-"]');
      assert.equal((await readView(page, 'ask')).ranks[0].gpu, 'l40s');
      assert.deepEqual([await page.inputValue('select[name="objective"]'), await page.inputValue('input[name="section"]')], ['start', 'b']);
      await ask(page, 'wrong: 1\n');
      await page.waitForSelector('.ask-answers > .few');
      assert.equal((await readView(page, 'ask')).ranks[0].gpu, 'l40s');
      assert.equal(await page.locator('.command').count(), 0);
    },
    { allow: kNetworkNoise },
  ));

test('The same line is gone to again, and its mark goes when the text is edited', () =>
  withPage(
    world,
    async (page) => {
      const chosen = () =>
        page.evaluate(() => {
          const area = document.querySelector('textarea');
          return area.value.slice(area.selectionStart, area.selectionEnd);
        });
      await visit(page, world.fake.url, 'ask');
      await ask(page, 'name: x\nwrong: 1\n');
      await until(page, chosen, (text) => text === 'wrong: 1');
      await openText(page);
      await page.fill('textarea', 'name: xy\nwrong: 2\n');
      assert.equal(await page.locator('.gutter-error').count(), 0);
      await ask(page);
      await until(page, chosen, (text) => text === 'wrong: 2');
      assert.equal(await page.locator('.gutter-error').count(), 1);
    },
    { allow: kNetworkNoise },
  ));

test('Errors come with what to do on this page', () =>
  withPage(
    world,
    async (page) => {
      await visit(page, world.fake.url, 'ask');
      await ask(page, 'sections: 1\n');
      assert.match(await words(page, '#ask-error'), /Enter one in the Section/);
      await page.selectOption('select[name="objective"]', 'deadline');
      assert.match(await words(page, '.ask-remedy'), /such as fri 18:00/);
      await openText(page);
      await page.fill('textarea', 'deadline: fri 18:00\n');
      assert.equal(await page.locator('.ask-remedy').count(), 0);
      const before = asked('/v1/advise').length;
      await ask(page, 'x'.repeat(60_001));
      await until(
        page,
        () => words(page, '[role="alert"]'),
        (text) => /60,001 bytes; at most 60,000/.test(text),
      );
      await page.setInputFiles('input[type="file"]', { name: 'train.yaml', mimeType: 'text/yaml', buffer: Buffer.alloc(70_000, 'y') });
      await until(
        page,
        () => words(page, '[role="alert"]'),
        (text) => /70,000 bytes/.test(text),
      );
      assert.equal(asked('/v1/advise').length, before);
      assert.match(await page.inputValue('textarea'), /^x/);
    },
    { allow: kNetworkNoise },
  ));

test('While it asks the button keeps the focus, which then goes to the answer, and that is told', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    world.fake.set({ slow: 400 });
    await page.focus('button.primary');
    await page.keyboard.press('Enter');
    await page.waitForSelector('button.primary[aria-disabled="true"]');
    const from = asked('/v1/advise').length;
    await page.keyboard.press('Enter');
    await page.waitForSelector('button.primary[aria-disabled="false"]');
    world.fake.set({ slow: 0 });
    assert.ok(asked('/v1/advise').length <= from + 1);
    await focused(page, '.ask-answers');
    assert.match(await words(page, '#file [role="status"]'), /^\d+ ways, first: L40S × 4$/);
  }));

test('A sweep is one row above the ranking, and is submitted as a whole', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    await ask(page, 'name: x\nslurm:\n  array: 1-80\n');
    const row = page.locator('#rank-sweep');
    const said = await row.innerText();
    assert.match(said, /All 80 runs/);
    assert.match(said, /1-40: .* × \d+, [\s\S]*41-80: /);
    assert.match(said, /12 at a time/);
    assert.match(said, /split over 2 strategies; all runs on strategy 1 alone take 41 h 40/);
    assert.match(said, /jobs of others start 2 h later in all, 3 of them by more than a minute/);
    assert.equal(await row.locator('data').getAttribute('value'), '90000');
    assert.equal((await words(page, '.best-command code')).trim(), 'gpuadvise submit train.yaml');
    assert.deepEqual(await axeFaults(page), []);
    await ask(page, 'name: x\n');
    assert.equal(await row.count(), 0);
  }));
