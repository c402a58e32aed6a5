// One range for all charts over time: chosen once, in the address, and the same in every view.
import assert from 'node:assert/strict';
import { axeFaults, visit } from './browser.mjs';
import { accuracy, history } from './fake/records.mjs';
import { test } from './twice.mjs';
import { makeWorld, until, withPage } from './world.mjs';

const world = makeWorld();
const kDay = 86400;
const known = (query) => history(world.fake.cluster, new URLSearchParams(query));
const asked = (path) => world.fake.log.filter((entry) => entry.path.startsWith(path)).map((entry) => entry.path);
const go = (page, view) => page.click(`nav.views a:has-text("${view}")`);
const figure = (page, name) => page.locator('figure', { has: page.getByRole('img', { name }) });
const says = (page, place, wanted) => until(page, () => place.first().innerText(), wanted);

/** What the chart says of the moment at its left edge. */
async function atTheLeft(page, name) {
  const chart = figure(page, name);
  await chart.locator('canvas').waitFor();
  await chart.scrollIntoViewIfNeeded();
  return until(
    page,
    async () => {
      const box = await chart.locator('.u-over').boundingBox();
      await page.mouse.move(box.x + 20, box.y + 20);
      await page.mouse.move(box.x + 1, box.y + 20);
      return chart.locator('.plot-at').innerText();
    },
    (words) => words !== '',
  );
}

const clusterTime = (unix) => {
  const part = (options) => new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(new Date(unix * 1000));
  const time = part({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return `${part({ weekday: 'short' })} ${part({ day: 'numeric', month: 'short' })} ${time}`;
};

test('A range is chosen once for both charts of History, for Now, and for jobs in time', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'history?clock=cluster');
    const all = known('weeks=8');
    const first = (from) => all.series.find((row) => row.time >= from).time + all.utc_offset_seconds;
    assert.equal(await atTheLeft(page, /^Jobs waiting over time/), clusterTime(first(0)));
    await page.locator('.zoom select').selectOption({ label: 'last 48 hours' });
    await until(
      page,
      () => page.url(),
      (url) => /[?&]range=48h/.test(url),
    );
    for (const name of [/^Jobs waiting over time/, /^GPUs over time/]) {
      assert.equal(await atTheLeft(page, name), clusterTime(first(all.until - 2 * kDay)), String(name));
    }
    await go(page, 'Now');
    const cluster = page.locator('#cluster');
    await cluster.locator('canvas').waitFor();
    assert.match(page.url(), /#\/now\?clock=cluster&range=48h$/);
    const span = `${clusterTime(first(all.until - 2 * kDay))} – ${clusterTime(first(all.until - 7200))}`;
    await says(page, cluster.locator('.trend .note'), (words) => words.includes(`Below: ${span}.`));
    await cluster.locator('summary').click();
    assert.equal(await cluster.locator('tbody tr').count(), all.series.filter((row) => row.time >= all.until - 2 * kDay).length);
    await go(page, 'Nodes');
    await page.selectOption('select[name="map"]', 'time');
    await page.waitForSelector('.gantt-row');
    assert.ok(asked('/v1/timeline').at(-1).includes('hours=48'));
    await page.selectOption('select[name="range"]', '6h');
    await until(
      page,
      () => asked('/v1/timeline').at(-1),
      (path) => path.includes('hours=6'),
    );
    await go(page, 'History');
    assert.equal(await page.locator('.zoom select').inputValue(), '6h');
    await page.goBack();
    await page.goBack();
    await until(
      page,
      () => page.locator('select[name="range"]').inputValue(),
      (value) => value === '48h',
    );
  }));

test('A part drawn across one chart is in the address, the same after a reload, and Back undoes it', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'history');
    const chart = figure(page, /^GPUs over time/);
    await chart.locator('canvas').waitFor();
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.locator('.u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 50, { steps: 5 });
    await page.mouse.up();
    await until(
      page,
      () => page.url(),
      (url) => /range=\d{10}-\d{10}$/.test(url),
    );
    const words = await says(page, page.locator('.zoom'), (text) => /\d\d:\d\d – /.test(text));
    const left = await atTheLeft(page, /^Jobs waiting over time/);
    const [, from] = /range=(\d+)-/.exec(page.url());
    const { series, until: end, utc_offset_seconds: ahead } = known('weeks=8');
    assert.ok(Math.abs(Number(from) - (series[0].time + 0.4 * (end - series[0].time))) < 2 * kDay, from);
    const steps = series.map((row) => clusterTime(row.time + ahead));
    assert.ok(Math.abs(steps.indexOf(left) - series.findIndex((row) => row.time >= Number(from))) <= 1, left);
    await page.reload();
    await says(page, page.locator('.zoom'), (text) => text === words);
    await figure(page, /^GPUs over time/)
      .locator('.u-over')
      .dblclick();
    await until(
      page,
      () => page.url(),
      (url) => !url.includes('range='),
    );
    await page.goBack();
    await says(page, page.locator('.zoom'), (text) => text === words);
    await page.getByRole('button', { name: 'Show all' }).click();
    assert.equal(await atTheLeft(page, /^Jobs waiting over time/), steps[0]);
  }));

test('Charts by week show the weeks of the range; what has less than two of them shows all', () =>
  withPage(world, async (page) => {
    const { weeks } = accuracy();
    const at = async (range) => {
      await page.goto('about:blank');
      await visit(page, world.fake.url, `accuracy?clock=cluster${range}`);
      return atTheLeft(page, /^Coverage over/);
    };
    const all = await at('');
    const third = weeks[2].week_start;
    assert.notEqual(await at(`&range=${third}-${weeks.at(-1).week_start}`), all);
    assert.equal(await at('&range=24h'), all);
    assert.equal(await at('&range=nonsense'), all);
  }));

test('History is asked for as many weeks as the range needs', () =>
  withPage(world, async (page) => {
    const { until: end } = known('weeks=8');
    await visit(page, world.fake.url, `history?range=${end - 80 * kDay}-${end - 70 * kDay}`);
    await until(
      page,
      () => asked('/v1/history').at(-1),
      (path) => path === '/v1/history?weeks=12',
    );
    await says(page, page.locator('.zoom'), (text) => /\d\d:\d\d – /.test(text));
    await go(page, 'Now');
    await says(page, page.locator('#cluster .trend .note'), (text) => /Below: /.test(text));
    await page.getByRole('button', { name: 'Show the last 7 days' }).click();
    await until(
      page,
      () => page.url(),
      (url) => !url.includes('range='),
    );
  }));

test('The week before is behind what shows at most two weeks, as far as it is known', () =>
  withPage(world, async (page) => {
    const names = async (hash, name) => {
      await page.goto('about:blank');
      await visit(page, world.fake.url, hash);
      const chart = figure(page, name);
      await chart.locator('canvas').waitFor();
      return chart.locator('.plot-legend li').allInnerTexts();
    };
    assert.deepEqual(await names('history', /^Jobs waiting over/), ['jobs waiting']);
    assert.deepEqual(await names('history?range=7d', /^Jobs waiting over/), ['a week before', 'jobs waiting']);
    assert.deepEqual(await names('history?range=7d&weeks=1', /^Jobs waiting over/), ['jobs waiting']);
    assert.deepEqual(await names('now', /^GPUs allocated/), ['a week before', 'allocated', 'waited for']);
    const { series, until: end } = known('weeks=8');
    const from = series.findIndex((row) => row.time >= end - 7 * kDay);
    const then = series.find((row) => row.time + row.seconds > series[from].time - 7 * kDay);
    await visit(page, world.fake.url, 'history?range=7d&clock=cluster');
    await atTheLeft(page, /^GPUs over time/);
    const told = await figure(page, /^GPUs over time/)
      .locator('.plot-legend b')
      .first()
      .innerText();
    assert.ok(Math.abs(Number(told) - then.busy_gpus) < 0.6, `${told} ${then.busy_gpus}`);
  }));

test('At most four lines are strong, chosen by their names, in the address', () =>
  withPage(world, async (page) => {
    await visit(page, world.fake.url, 'history?weeks=4');
    const names = figure(page, /by week for 5 GPU types/).locator('.plot-legend button');
    const strong = () => names.evaluateAll((all) => all.map((one) => one.getAttribute('aria-pressed')));
    const becomes = (wanted) =>
      until(
        page,
        strong,
        (list) => list.filter((value) => value === 'true').length === wanted.length && wanted.every((at) => list[at] === 'true'),
      );
    const jobs = new Map();
    for (const row of known('weeks=4').by_week) jobs.set(row.gpu, (jobs.get(row.gpu) ?? 0) + row.jobs);
    const least = [...jobs.values()].indexOf(Math.min(...jobs.values()));
    const first = [0, 1, 2, 3, 4].filter((at) => at !== least);
    await becomes(first);
    await names.nth(least).press('Enter');
    const second = [...first.slice(1), least];
    await becomes(second);
    assert.ok(await names.nth(least).evaluate((one) => one === document.activeElement));
    await names.nth(first[1]).press('Enter');
    await becomes(second.slice(1));
    assert.deepEqual(await axeFaults(page), []);
    await page.reload();
    await becomes(second.slice(1));
    await page.goBack();
    await becomes(second);
    await visit(page, world.fake.url, 'history?weeks=4&lines=nonsense,<b>,constructor');
    await becomes([]);
  }));
