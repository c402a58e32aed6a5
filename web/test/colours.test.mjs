// Colours are told apart by colour-blind readers and in grey, computed: OKLab distances of what Machado, Oliveira and Fernandes (2009)
// say that these readers see. 0.02 is about the least that is seen.
import assert from 'node:assert/strict';
import { visit } from './browser.mjs';
import { test } from './twice.mjs';
import { makeWorld, withPage } from './world.mjs';

const world = makeWorld();

const kSight = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const seen = (matrix) => (rgb) =>
  matrix.map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        row.reduce((sum, part, at) => sum + part * rgb[at], 0),
      ),
    ),
  );
const grey = (rgb) => [luminance(rgb), luminance(rgb), luminance(rgb)];
const kReaders = { usual: (rgb) => rgb, ...Object.fromEntries(Object.entries(kSight).map(([name, matrix]) => [name, seen(matrix)])), grey };

function oklab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const distance = (a, b) => Math.hypot(...oklab(a).map((part, at) => part - oklab(b)[at]));

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Tokens as linear RGB, drawn by the browser. */
async function coloursOf(page, names) {
  const drawn = await page.evaluate((tokens) => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const probe = document.body.appendChild(document.createElement('i'));
    return tokens.map((token) => {
      probe.style.color = `var(--${token})`;
      canvas.fillStyle = getComputedStyle(probe).color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    });
  }, names);
  return drawn.map((rgb) => rgb.map((part) => linear(part / 255)));
}

const steps = (name, count, from = 0) => Array.from({ length: count }, (_, at) => `${name}-${at + from}`);

function leastDistance(colours, pairs) {
  let least = { distance: Infinity };
  for (const [reader, sees] of Object.entries(kReaders)) {
    for (const [a, b] of pairs) {
      const one = distance(sees(colours[a]), sees(colours[b]));
      if (one < least.distance) least = { distance: one, reader, pair: `${a} and ${b}` };
    }
  }
  return least;
}

const kAll = (count) => Array.from({ length: count }, (_, a) => Array.from({ length: a }, (_, b) => [a, b])).flat();
const kNeighbours = (count) => Array.from({ length: count - 1 }, (_, at) => [at, at + 1]);

for (const colorScheme of ['light', 'dark']) {
  test(`Colours are told apart by all readers, ${colorScheme}`, () =>
    withPage(
      world,
      async (page) => {
        await visit(page, world.fake.url, 'now');
        const [panel, text] = await coloursOf(page, ['panel', 'text']);
        for (const name of ['wait', 'heat']) {
          const scale = await coloursOf(page, steps(name, 6));
          const light = scale.map((one) => oklab(one)[0]);
          const down = colorScheme === 'light' ? 1 : -1;
          for (const [a, b] of kNeighbours(6)) assert.ok(down * (light[a] - light[b]) > 0.04, `${name}: lightness ${light}`);
          const least = leastDistance(scale, kAll(6));
          assert.ok(least.distance > 0.04, `${name}: ${JSON.stringify(least)}`);
          for (const one of scale) assert.ok(contrast(one, text) >= 4.5, `${name}: ${contrast(one, text)}`);
          console.log(`# ${name}, ${colorScheme}: at least ${least.distance.toFixed(3)} (${least.reader})`);
        }
        const lines = await coloursOf(page, steps('series', 4, 1));
        const least = leastDistance(lines, kAll(4));
        console.log(`# lines, ${colorScheme}: at least ${least.distance.toFixed(3)} (${least.reader})`);
        assert.ok(least.distance > 0.1, JSON.stringify(least));
        const [free, used, promised, gone, run] = await coloursOf(page, ['free', 'used', 'promised', 'gone', 'run']);
        for (const one of [...lines, free, used, promised, gone, run])
          assert.ok(contrast(one, panel) >= 3, `${contrast(one, panel)} beside the panel`);
        assert.ok(contrast(free, used) >= 3, `free beside used: ${contrast(free, used)}`);
      },
      { colorScheme },
    ));
}
