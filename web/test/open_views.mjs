// What an open view costs: opens each view of a running daemon in a page of its own, all at once, and prints as JSON the bytes on
// the wire of the first load and, over the minutes after it, of an hour (answers with their headers, and events).
//
//   node test/open_views.mjs URL MINUTES [VIEW ...]
import { openBrowser, openPage, visit } from './browser.mjs';

const [url, minutes, ...views] = process.argv.slice(2);
const kLoadMilliseconds = 60_000;

/** Counts what `page` receives; by path, for who looks closer. */
async function counted(page) {
  const sum = { bytes: 0, of: {} };
  const paths = new Map();
  const add = (id, bytes) => {
    const path = paths.get(id) ?? '?';
    sum.bytes += bytes;
    sum.of[path] = (sum.of[path] ?? 0) + bytes;
  };
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({ requestId, request }) => paths.set(requestId, request.url.replace(url, '')));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => add(requestId, encodedDataLength)); // with its header
  session.on('Network.dataReceived', ({ requestId, dataLength }) => {
    if (paths.get(requestId) === 'v1/events') add(requestId, dataLength); // it never finishes
  });
  return sum;
}

const browser = await openBrowser();
try {
  const open = await Promise.all(
    views.map(async (view) => {
      const { page } = await openPage(browser, url);
      page.setDefaultTimeout(kLoadMilliseconds);
      const sum = await counted(page);
      await visit(page, url, view);
      return { view, page, sum };
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, kLoadMilliseconds));
  const first = open.map(({ sum }) => sum.bytes);
  for (const { sum } of open) sum.of = {};
  await new Promise((resolve) => setTimeout(resolve, Number(minutes) * 60_000));
  const hour = (bytes) => Math.round((bytes * 60) / Number(minutes));
  const result = open.map(({ view, sum }, at) => ({
    view,
    first: first[at],
    hour: hour(sum.bytes - first[at]),
    of: Object.fromEntries(Object.entries(sum.of).map(([path, bytes]) => [path, hour(bytes)])),
  }));
  console.log(JSON.stringify(result));
} finally {
  await browser.close();
}
