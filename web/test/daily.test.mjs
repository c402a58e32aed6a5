// What a head of a lab and a user look at each day: totals, who waits and why, one job, usage, CSV,
// the zoom of a chart, the form of Ask, who one is, and what is said where nothing is known.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ask, axeFaults, visit } from './browser.mjs';
import * as answers from './fake/answers.mjs';
import { kNow } from './fake/cluster.mjs';
import { usage } from './fake/records.mjs';
import { focused, kNetworkNoise, makeWorld, until, withOwnFake, withPage } from './world.mjs';

const world = makeWorld();
const texts = (page, selector) => page.locator(selector).evaluateAll((all) => all.map((one) => one.textContent));

// With a user's names: every third job is of another account.
function named(fake) {
  const accounts = ['vision', 'robotics', 'nlp'];
  fake.cluster.jobs.forEach((job, at) => Object.assign(job, { name: `train-${at}`, user: `user${at % 5}`, account: accounts[at % 3] }));
  fake.set({ user: 'ann' });
}

async function downloaded(page, click) {
  const waiting = page.waitForEvent('download');
  await click();
  const download = await waiting;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

test('Now shows totals, trends and the best time in a sentence', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    const { gpus, all } = answers.waiting(world.fake.cluster);
    await page.waitForSelector('[data-total="week"]');
    const shown = Object.fromEntries(await page.locator('[data-total]').evaluateAll((all) => all.map((one) => [one.dataset.total, one.dataset.words])));
    assert.equal(shown.used, String(gpus.used));
    assert.equal(shown.free, String(gpus.free));
    assert.equal(shown.wanted, String(all.pending_gpus));
    assert.equal(shown.work, Math.round(all.pending_gpu_hours).toLocaleString('en-US'));
    assert.match(shown.day, /^\d+ %$/);
    assert.match(shown.week, /^\d+ %$/);
    assert.equal(await page.locator('[data-panel="cluster"] canvas').count(), 1);
    assert.equal(await page.locator('[data-best-time]').textContent(), 'Best time to submit: Monday to Friday, 04:00–08:00. The 90th percentile of the wait is 25 min then, and 3 h 10 over the whole week (210 jobs).');
  }));

test('Who waits and why: accounts for users, one row for strangers', () =>
  withOwnFake(world, {}, async (own) => {
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      assert.deepEqual(await texts(page, '.who tbody th'), ['all accounts']);
      assert.match(await page.locator('[data-panel="who"] .note').textContent(), /names are hidden/);
      assert.match(await page.locator('.who-am-i').textContent(), /Public view/);
    });
    named(own.fake);
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await page.waitForSelector('[data-user="ann"]');
      const expected = answers.waiting(own.fake.cluster);
      assert.deepEqual(await texts(page, '.who tbody th'), [...expected.accounts.map((row) => row.account), 'all accounts']);
      const reasons = await texts(page, '.who tbody tr:last-child .reason-list li');
      const [first] = expected.all.reasons;
      assert.ok(reasons.includes(`${first.jobs} ${first.jobs === 1 ? 'job' : 'jobs'}: ${first.reason_words}`), reasons.join('; '));
      await page.click('.who th button:has-text("Account")');
      await page.click('.who th button:has-text("Account")');
      assert.deepEqual((await texts(page, '.who tbody th')).slice(0, 3), ['nlp', 'robotics', 'vision']);
      assert.equal(await page.locator('.who th[aria-sort="ascending"]').count(), 1);
      const file = await downloaded(page, () => page.click('[data-panel="who"] .csv'));
      assert.equal(file.name, 'Who-waits-and-why.csv');
      assert.match(file.text, /^\uFEFF"Account","Waiting jobs","GPUs requested"/);
      assert.equal(file.text.trim().split('\r\n').length, 4);
    });
  }));

test('Names that mean formulas are text in a file', () =>
  withOwnFake(world, {}, async (own) => {
    const evil = ['=HYPERLINK("http://evil.example","x")', '+1+1', '-2+3', '@SUM(A1)', '\t=1', '\r\n=1', ' =1', '\u200b', '\uFF1D1+1', '"quoted",=1', '|calc', '%0A=1'];
    own.fake.cluster.jobs.forEach((job, at) => Object.assign(job, { name: evil[at % evil.length], user: evil[(at + 1) % evil.length], account: evil[(at + 2) % evil.length] }));
    own.fake.set({ user: 'ann' });
    await withPage(own, async (page) => {
      for (const [view, button] of [['now', '[data-panel="who"] .csv'], ['queue', '.time-line .csv']]) {
        await visit(page, own.fake.url, view);
        const { text } = await downloaded(page, () => page.click(button));
        const cells = text.slice(1).match(/"(?:[^"]|"")*"|[^,\r\n]+/g);
        assert.ok(cells.length > 20);
        for (const cell of cells) {
          const value = cell.startsWith('"') ? cell.slice(1, -1) : cell;
          assert.doesNotMatch(value, /^[\s]*[=+\-@\uFF1D|%]/, cell);
          assert.doesNotMatch(value, /[\r\n\t]/, cell);
        }
        assert.ok(text.includes(`"'+1+1"`), text.slice(0, 600));
      }
      assert.equal(await page.evaluate(() => window.harmed), undefined);
    });
  }));

test('A click on a job says why it waits and what would start it sooner; Escape goes back', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue?state=pending');
    const job = world.fake.cluster.jobs.find((one) => one.state === 'PENDING' && one.wait_p50_seconds > 600);
    await page.click(`tr[data-job="${job.job_id}"] a`);
    await page.waitForSelector(`[data-job-details="${job.job_id}"] [data-why]`);
    await focused(page, `[data-job-details="${job.job_id}"]`);
    assert.match(page.url(), new RegExp(`state=pending.*job=${job.job_id}`));
    const why = await page.locator('[data-why]').textContent();
    assert.ok(why.includes(job.reason_words) && why.includes('3 jobs ahead of it'), why);
    const sooner = await page.locator('[data-sooner]').textContent();
    assert.match(sooner, /with -t 04:00:00 it would start in 25 min/);
    assert.match(sooner, /scontrol update jobid=\d+ timelimit=03:30:00/);
    assert.deepEqual(await axeFaults(page), []);
    await page.keyboard.press('Escape');
    await page.waitForSelector('[data-job-details]', { state: 'detached' });
    await focused(page, `tr[data-job="${job.job_id}"] a`);
    await page.keyboard.press('Enter');
    await page.waitForSelector(`[data-job-details="${job.job_id}"]`);
  }));

test('A job that is gone says so, and one that runs has no remedies', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue?job=999999');
    await page.waitForSelector('[data-gone]');
    const running = world.fake.cluster.jobs.find((one) => one.state === 'RUNNING');
    await visit(page, world.fake.url, `queue?job=${running.job_id}`);
    await until(page, () => page.locator('[data-job-details]').textContent(), (words) => /It is running/.test(words));
    assert.equal(await page.locator('[data-sooner]').count(), 0);
  }, { allow: kNetworkNoise }));

test('The rows of the queue sort by a column, and back', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue');
    const ids = () => page.locator('tr[data-job]').evaluateAll((rows) => rows.map((row) => Number(row.dataset.job)));
    const before = await ids();
    await page.click('.jobs th button:has-text("Job")');
    assert.deepEqual(await ids(), [...before].sort((a, b) => b - a));
    await page.click('.jobs th button:has-text("Job")');
    assert.deepEqual(await ids(), [...before].sort((a, b) => a - b));
    await page.click('.jobs th button:has-text("Job")');
    assert.deepEqual(await ids(), before);
  }));

test('History has GPU-hours and cost by account and week', () =>
  withOwnFake(world, {}, async (own) => {
    named(own.fake);
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'history?weeks=4');
      await page.waitForSelector('.usage tbody tr');
      const expected = usage(new URLSearchParams('weeks=4'));
      assert.deepEqual(await texts(page, '.usage tbody th'), [...expected.accounts.map((row) => row.account), 'all accounts']);
      const cells = await texts(page, '.usage tbody tr:first-child td');
      assert.equal(cells.length, 3 + 4);
      assert.equal(cells[1], expected.accounts[0].gpu_hours.toLocaleString('en-US', { maximumFractionDigits: 1 }));
      assert.equal(cells[2], expected.accounts[0].cost.toLocaleString('en-US', { maximumFractionDigits: 2 }));
    });
    own.fake.set({ user: null });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'history?weeks=4');
      await page.waitForSelector('[data-public]');
      assert.deepEqual(await texts(page, '.usage tbody th'), ['all accounts']);
    });
  }));

test('A chart is zoomed by dragging and by its range, and a new snapshot does not undo it', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'now');
    const panel = page.locator('[data-panel="cluster"]');
    const zoom = panel.locator('.zoom');
    await panel.locator('canvas').waitFor();
    await panel.locator('.plot').scrollIntoViewIfNeeded();
    const box = await panel.locator('.u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await until(page, () => zoom.getAttribute('data-zoomed'), (value) => value === 'yes');
    const from = await zoom.getAttribute('data-from');
    await panel.locator('button:has-text("Later")').click();
    assert.ok(Number(await zoom.getAttribute('data-from')) > Number(from));
    await panel.locator('button:has-text("Show all")').click();
    await until(page, () => zoom.getAttribute('data-zoomed'), (value) => value === 'no');
    await zoom.locator('select').focus();
    await zoom.locator('select').selectOption('86400');
    await until(page, () => zoom.getAttribute('data-zoomed'), (value) => value === 'yes');
    const day = Number(await zoom.getAttribute('data-to')) - Number(await zoom.getAttribute('data-from'));
    assert.equal(day, 86400);
    world.fake.push();
    await page.waitForTimeout(2500);
    assert.equal(await zoom.getAttribute('data-zoomed'), 'yes');
  }));

test('The form and the text of Ask change each other', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'ask');
    const text = () => page.inputValue('textarea');
    assert.equal(await page.inputValue('[name="steps"]'), '10000');
    await page.fill('[name="steps"]', '2500');
    await page.press('[name="steps"]', 'Tab');
    assert.match(await text(), /\n {2}max_steps: 2500\n/);
    await page.selectOption('[name="form-gpu"]', 'l40s');
    assert.match(await text(), /resources: \{cpus_per_gpu: 8, mem_per_gpu: 20G, max_nodes: 1, gpus: l40s\}/);
    await page.selectOption('[name="form-gpu"]', '');
    assert.match(await text(), /resources: \{cpus_per_gpu: 8, mem_per_gpu: 20G, max_nodes: 1\}/);
    await page.fill('[name="preset"]', 'gpt2');
    await page.press('[name="preset"]', 'Tab');
    assert.match(await text(), /model:\n {2}preset: gpt2\n {2}# memory of one process/);
    await page.fill('[name="steps"]', '12; rm');
    await page.press('[name="steps"]', 'Tab');
    assert.equal(await page.inputValue('[name="steps"]'), '2500');
    await page.fill('textarea', 'model: {preset: qwen2.5-7b}\ntraining: {max_steps: 77} # short\n');
    assert.equal(await page.inputValue('[name="steps"]'), '77');
    assert.equal(await page.inputValue('[name="preset"]'), 'qwen2.5-7b');
    await page.fill('textarea', 'model:\n  preset: &x gpt2\n');
    assert.ok(await page.locator('[name="preset"]').isDisabled());
    await ask(page, 'model: {preset: gpt2}\n');
    assert.equal(await page.locator('[data-panel="ranking"]').count(), 1);
  }));

test('What is wrong is said with the time since when', () =>
  withOwnFake(world, {}, async (own) => {
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      own.fake.set({ stale: 'Unable to contact slurm controller (connect failure)' });
      await page.waitForSelector('.banner-stale');
      assert.match(await page.locator('.banner').textContent(), /^Slurm has not answered since .*\d\d:\d\d: Unable to contact slurm controller/);
      own.fake.set({ stale: null, down: true });
      for (const end of [() => own.fake.stop()]) await end();
      await page.waitForSelector('.banner-lost');
      assert.match(await page.locator('.banner').textContent(), /^No connection to gpuadvised since .*\d\d:\d\d\. Trying again; the last known data is shown\.$/);
      assert.ok((await page.locator('article[data-gpu]').count()) === 5, 'what was known stays');
    }, { allow: kNetworkNoise });
  }));

test('Nothing is invented where there is no history', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.set({ young: true, accounts: [] });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await page.waitForSelector('[data-no-trend]');
      assert.match(await page.locator('[data-total="week"]').textContent(), /–not known yet/);
      assert.match(await page.locator('[data-best-time]').textContent(), /not known yet: there is too little history/);
    });
  }));

test('A login proxy that names somebody unknown is said', () =>
  withOwnFake(world, {}, async (own) => {
    own.fake.set({ note: "the login proxy names 'zoe', and this machine knows no such user" });
    await withPage(own, async (page) => {
      await visit(page, own.fake.url, 'now');
      await until(page, () => page.locator('.who-am-i').textContent(), (words) => /zoe/.test(words));
    });
  }));

for (const width of [360, 768, 1280, 1920]) {
  test(`Nothing is cut or runs over at ${width} px`, () =>
    withOwnFake(world, {}, async (own) => {
      named(own.fake);
      await withPage(own, async (page) => {
        for (const view of ['now', 'queue', 'queue?job=2001', 'history', 'ask', 'nodes', 'accuracy']) {
          await visit(page, own.fake.url, view);
          if (view === 'ask') await ask(page);
          await page.waitForTimeout(200);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          assert.ok(over <= 0, `${view} is ${over} px too wide`);
        }
        await visit(page, own.fake.url, 'now');
        const cut = await page.locator('.card h3 .name, .card .wait, .who tbody th, .best-table .place').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline').map((one) => one.textContent));
        assert.deepEqual(cut, []);
        const rows = await page.locator('.card').evaluateAll((cards) => Object.values(Object.groupBy ? Object.groupBy(cards, (card) => Math.round(card.getBoundingClientRect().top)) : {}).map((row) => row.length));
        if (rows.length > 1) assert.ok(Math.max(...rows) - Math.min(...rows) <= 1, `cards in rows of ${rows}`);
        if (width === 360) {
          const hidden = await page.locator('.who .reason-list, .best-table td').evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).length);
          assert.equal(hidden, 0, 'columns beyond the edge');
        }
        await visit(page, own.fake.url, 'ask');
        const editor = await page.locator('textarea').boundingBox();
        assert.ok(editor.width >= Math.min(440, width - 100), `the editor is ${editor.width} px wide`);
      }, { viewport: { width, height: 900 } });
    }));
}

test('The keyboard alone sorts, downloads and opens a job', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'queue');
    await page.locator('.jobs th button').first().focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.jobs th[aria-sort="descending"]').count(), 1);
    await page.locator('.time-line .csv').focus();
    const file = await downloaded(page, () => page.keyboard.press('Enter'));
    assert.match(file.text, /"JobID","Name","User"/);
    assert.ok(kNow > 0);
  }));
